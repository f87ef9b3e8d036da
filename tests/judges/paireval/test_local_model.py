"""A model in this process: label words, prompts that are too long, and LoRA that learns."""

import asyncio
from pathlib import Path

import pytest

from recjury.corpora.leakage import RatedHistories, rated_histories
from recjury.corpora.response_sets import read_response_set
from recjury.errors import ConfigError, DataError
from recjury.judges.paireval.comparison import Comparer, LlmPairJudge, PairOdds
from recjury.judges.paireval.prompts import Contender, PairPrompts
from recjury.judges.paireval.training_pairs import (
    PairPlan,
    TrainingDialogues,
    TrainingPair,
    read_training_dialogues,
    training_pairs,
)
from recjury.llm import Gateway, NullRecorder, read_model
from recjury.papers.paireval.correlations import (
    AnalysisRow,
    PositionBias,
    RatedSet,
    example_pool,
    position_rows,
)
from recjury.papers.paireval.training import PairTraining, train_paireval, tuning_examples
from tests.judges.paireval.comparing import response
from tests.judges.paireval.sets import write_folder
from tests.tiny_llama import make_tiny_llama

pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_llama(tmp_path_factory.mktemp("llama"), positions=700)


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("sets"), rows=4, dialogues=12)


def _compare(
    llama: Path,
    *pairs: tuple[object, object],
    labels: tuple[str, str] = ("A", "B"),
    adapter: str = "",
) -> tuple[list[PairOdds | None], LlmPairJudge]:
    given = {"provider": "transformers", "model": str(llama), "device": "cpu"}
    spec = read_model({**given, "adapter": adapter} if adapter else given)

    async def run() -> tuple[list[PairOdds | None], LlmPairJudge]:
        async with Gateway({"main": spec}, NullRecorder()) as gateway:
            judge = LlmPairJudge(Comparer(gateway, "main", PairPrompts(pair=labels)))
            return await judge.compare(pairs), judge  # type: ignore[arg-type]

    return asyncio.run(run())


def test_orders_are_swapped_exactly(llama: Path) -> None:
    one, other = response("Ronin.", "A film?"), response("Heat, which is long.", "Another film?")
    (there, back), judge = _compare(llama, (one, other), (other, one))
    assert there is not None
    assert back is not None
    # What is shown first in one comparison is shown second in the other: the same two prompts.
    assert there.first == pytest.approx(1 - (back.second or 0), abs=1e-6)
    assert there.second == pytest.approx(1 - (back.first or 0), abs=1e-6)
    assert there.score + back.score == pytest.approx(1, abs=1e-6)
    assert judge.cut == 0


def test_label_words_may_have_several_tokens(llama: Path) -> None:
    pair = (response("Ronin.", "A film?"), response("Heat.", "Another film?"))
    (found,), _ = _compare(llama, pair, labels=("response number one", "response number two"))
    assert found is not None
    assert 0 < found.score < 1
    with pytest.raises(ConfigError, match="begin alike"):
        _compare(llama, pair, labels=("one", "one more"))


def test_what_is_longer_than_the_context_is_cut_from_the_left(llama: Path) -> None:
    history = [f"Turn {n} of a conversation about films and more films" for n in range(60)]
    long = response("Ronin.", *history)
    (found,), judge = _compare(llama, (long, response("Heat.", "A film?")))
    assert found is not None
    assert judge.cut == 1
    assert 0 < judge.left_out < 60
    (none,), judge = _compare(llama, (response("Ronin " * 700), response("Heat.")))
    assert none is None
    assert "nothing is left that can be cut" in next(iter(judge.unscored))


def test_an_adapter_is_trained_loads_again_and_prefers_what_it_learned(
    llama: Path, sets: Path, tmp_path: Path
) -> None:
    pytest.importorskip("peft")
    out = tmp_path / "adapter"
    options = PairTraining.model_validate(
        {
            "plan": {"pairs": 64, "hard": 0.5},
            "lora": {"learning_rate": 3e-3, "epochs": 2, "device": "cpu"},
            "sets": ["dailydialog-grade"],
            "draws": 2,
        }
    )
    found = train_paireval(llama, sets, out, seed=1, options=options)
    learned = found["training"]
    assert isinstance(learned, dict)
    assert learned["last_loss"] < learned["first_loss"]
    assert (learned["pairs"], learned["hard"], learned["examples"]) == (64, 32, 64)
    assert 20 < learned["better_is_first"] < 44
    test = found["test"]
    assert isinstance(test, dict)
    assert sorted(test["dailydialog-grade"]) == ["n", "pearson", "spearman"]
    assert test["dailydialog-grade"]["n"] == 4
    pair = (response("Ronin.", "A film?"), response("Heat.", "Another film?"))
    (plain,), _ = _compare(llama, pair)
    (tuned,), _ = _compare(llama, pair, adapter=str(out))
    assert plain is not None
    assert tuned is not None
    assert tuned != pytest.approx(plain, abs=1e-3)
    _check_bias(llama, out, sets)


def _check_bias(llama: Path, adapter: Path, sets: Path) -> None:
    """Position bias is measured for the model before and after training, in both orders."""
    rated = [RatedSet("fed-turn", read_response_set(sets, "fed-turn"))]
    for more in ({}, {"adapter": str(adapter)}):
        given = {"provider": "transformers", "model": str(llama), "device": "cpu", **more}

        async def run(given: object = given) -> tuple[list[AnalysisRow], list[PositionBias]]:
            async with Gateway({"main": read_model(given)}, NullRecorder()) as gateway:
                judge = LlmPairJudge(Comparer(gateway, "main"))
                return await position_rows(judge, rated, example_pool(sets), draws=1)

        rows, (bias,) = asyncio.run(run())
        assert [row.position for row in rows] == ["first", "second", "both"]
        assert 0 < bias.first < 1
        assert bias.comparisons == 4


def test_directeval_learns_yes_for_the_better_and_no_for_the_worse() -> None:
    better, worse = Contender((), "fits"), Contender((), "does not")
    pair = TrainingPair(better, worse, is_hard=False, is_first=False)
    prompts = PairPrompts()
    direct = list(tuning_examples([pair], PairPlan(method="direct"), prompts))
    assert [(each.label, each.messages) for each in direct] == [
        ("Yes", prompts.direct(better)),
        ("No", prompts.direct(worse)),
    ]
    (both,) = tuning_examples([pair], PairPlan(), prompts)
    assert (both.label, both.messages) == ("B", prompts.pair(worse, better))
    (first,) = tuning_examples([pair._replace(is_first=True)], PairPlan(), prompts)
    assert (first.label, first.messages) == ("A", prompts.pair(better, worse))


def test_shorter_prompts_are_offered_for_long_examples() -> None:
    turns = response("x", *("long " * 40 for _ in range(8))).history
    pair = TrainingPair(Contender(turns, "a"), Contender((), "b"), is_hard=False, is_first=True)
    (example,) = tuning_examples([pair], PairPlan(), PairPrompts())
    lengths = [len(each[0].text) for each in example.shorter]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] < len(example.messages[0].text)


def test_pairs_are_what_the_plan_says(sets: Path) -> None:
    data = read_training_dialogues(sets, rated_histories(sets))
    plan = PairPlan(pairs=400, hard=0.25, same_history=0.5, seed=3)
    pairs = list(training_pairs(data, plan))
    assert pairs == list(training_pairs(data, plan))
    assert sum(each.is_hard for each in pairs) == 100
    assert 160 < sum(each.is_first for each in pairs) < 240
    assert 150 < sum(each.better.turns == each.worse.turns for each in pairs) < 250
    assert all(each.better.text != each.worse.text for each in pairs)
    assert all("worth 0" in (each.worse.text or "") for each in pairs if each.is_hard)
    balanced = list(training_pairs(data, plan.model_copy(update={"hard": 1, "balanced": True})))
    longer = sum(len(each.better.text or "") > len(each.worse.text or "") for each in balanced)
    assert 160 < longer < 240
    random_only = list(training_pairs(data, plan.model_copy(update={"hard": 0})))
    assert (len(random_only), any(each.is_hard for each in random_only)) == (400, False)


def test_dialogues_with_a_rated_history_are_left_out(sets: Path) -> None:
    said = ["Turn 1 of dialogue 3 worth 1 in dailydialog.train.", "Turn 2 of dialogue 3 worth 2"]
    found = read_training_dialogues(
        sets, RatedHistories([[said[0], f"{said[1]} in dailydialog.train."]])
    )
    assert found.leaking == 1
    assert len(found.dialogues) == 11


@pytest.mark.parametrize(
    ("data", "said_of_it"),
    [
        (TrainingDialogues((), (), 0), "the corpus has no negatives"),
        (
            TrainingDialogues((response("x", "a", "b").history,) * 2, (), 0),
            "there are no adversarial replies",
        ),
    ],
)
def test_a_corpus_without_negatives_is_an_error(data: TrainingDialogues, said_of_it: str) -> None:
    with pytest.raises(DataError, match=said_of_it):
        next(training_pairs(data, PairPlan(pairs=4)))
