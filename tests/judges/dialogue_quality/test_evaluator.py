"""Dialogue quality in campaigns: its entry, its metrics, and the ratings of logs."""

import asyncio
from pathlib import Path

import pytest
from pydantic import ValidationError

from recjury.errors import ConfigError, DataError
from recjury.judges import EvaluatorContext
from recjury.judges.dialogue_quality.evaluator import QualityEvaluator
from recjury.judges.dialogue_quality.prompts import QualityPrompts
from recjury.judges.dialogue_quality.subjects import (
    labelled_subjects,
    split_uss,
    subject_of_log,
)
from recjury.llm import Completion
from recjury.records import ChatRequest, ConversationRecord, Level, Rating, Status
from tests.judges.cases import SPEC, a_log, gateway_of, planned
from tests.judges.golden import assert_golden

GOLDEN = Path(__file__).parents[1] / "golden"
USS = """USER\tHello, I want a film.\t\t3,3,4
SYSTEM\tTry Heat.\t\t
USER\tSeen it.\t\t2,2,3
USER\tOVERALL\t\t2,3,3

USER\tA drama?\t\t4,4,4
SYSTEM\tTokyo Story.\t\t
USER\tThanks!\t\t5,5,4
USER\tOVERALL\t\t5,4,5
"""
FOUR = Completion("4", logprobs=(("4", -0.1, (("4", -0.1), ("2", -9999.0))),))


@pytest.fixture
def uss(tmp_path: Path) -> Path:
    (tmp_path / "ReDial.txt").write_text(USS)
    return tmp_path


def _ratings(given: dict[str, object], answer: Completion | str) -> tuple[list[Rating], list[str]]:
    gateway, model = gateway_of(lambda _: answer, "main")
    config = QualityEvaluator.model_validate(given)
    rater = config.prepared(EvaluatorContext(None, gateway, {"main": SPEC}))

    async def rated() -> list[Rating]:
        log = ConversationRecord(a_log("Try Ronin (1998).", "Or Fargo (1996)."))
        results = [await rater.evaluate(stage.name, log, {}) for stage in rater.stages]
        return [rating for result in results for rating in result.ratings]

    return asyncio.run(rated()), [request.messages[1].text for request in model.requests]


def test_turns_and_dialogues_are_rated() -> None:
    ratings, prompts = _ratings({}, FOUR)
    assert [(r.factor, r.turn, r.level, r.score) for r in ratings] == [
        ("satisfaction", None, Level.DIALOGUE, 4.0),
        ("turn_satisfaction", 0, Level.TURN, 4.0),
        ("turn_satisfaction", 2, Level.TURN, 4.0),
    ]
    assert {(r.low, r.high, r.evaluator) for r in ratings} == {(1, 5, "dialogue-quality/main")}
    assert all(len(r.calls) == 1 for r in ratings)
    of_first_turn = next(text for text in prompts if "at the end" in text and "Fargo" not in text)
    assert "Tell me more." in of_first_turn


def test_a_turn_shows_the_answer_to_it_and_nothing_later() -> None:
    log = a_log("One.", "Two.")
    assert [turn.text for turn in subject_of_log(log, 0).turns[1:]] == ["One.", "Tell me more."]
    assert len(subject_of_log(log, None).turns) == 5
    cut = log.model_copy(update={"interaction": log.interaction[:3]})
    assert [turn.text for turn in subject_of_log(cut, 2).turns][-1] == "Two."


def test_turns_that_failed_are_not_rated() -> None:
    log = a_log("One.")
    failed = log.interaction[0].model_copy(update={"text": "", "failure": "timed out"})
    log = log.model_copy(update={"interaction": (failed, *log.interaction[1:])})
    gateway, model = gateway_of(lambda _: FOUR, "main")
    config = QualityEvaluator(level="turn")
    rater = config.prepared(EvaluatorContext(None, gateway, {"main": SPEC}))
    (rating,) = asyncio.run(
        rater.evaluate("turn_satisfaction", ConversationRecord(log), {})
    ).ratings
    assert rating.status is Status.NOT_APPLICABLE
    assert not model.requests


def test_random_examples_give_the_mean_of_their_draws(uss: Path) -> None:
    examples = {"k": 1, "select": "random", "folder": str(uss)}
    ratings, prompts = _ratings({"level": "dialogue", "examples": examples}, FOUR)
    assert ratings[0].score == 4
    assert ratings[0].rationale == "the mean of 3 draws of examples: 4.00, 4.00, 4.00"
    assert all(text.count("<example>") == 1 for text in prompts)


def test_what_was_cut_and_how_little_the_ratings_weigh_is_said() -> None:
    odd = Completion("The", logprobs=(("The", -0.1, (("The", -0.1), ("4", -3.0))),))
    ratings, _ = _ratings({"level": "dialogue"}, odd)
    assert "all answers together had 0.050 of the probability" in ratings[0].rationale


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"order": "rating-first"}, "leave out `order`"),
        ({"method": "generation", "top_k": 3}, "leave it out"),
        ({"method": "generation", "labels": "binary"}, "is for `method: logits`"),
        ({"examples": {"k": 1, "folder": "x", "subset": "JDDC"}}, "SGD"),
    ],
)
def test_keys_that_do_not_fit_are_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        QualityEvaluator.model_validate(given)


def test_fewer_examples_than_wanted_are_an_error(uss: Path) -> None:
    examples = {"k": 4, "select": "random", "folder": str(uss)}
    with pytest.raises(ConfigError, match="4 examples are wanted, and ReDial has 2 rated dial"):
        _ratings({"level": "dialogue", "examples": examples}, FOUR)


def test_examples_need_a_folder() -> None:
    with pytest.raises(ConfigError, match=r"Give `folder`, the folder with ReDial\.txt"):
        _ratings({"examples": {"k": 1}}, FOUR)


def test_an_empty_file_of_uss_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "ReDial.txt").write_text("")
    examples = {"k": 1, "folder": str(tmp_path), "select": "random"}
    with pytest.raises(DataError, match="has no session"):
        _ratings({"examples": examples}, FOUR)


def test_ratings_off_the_scale_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "ReDial.txt").write_text(USS.replace("5,5,4", "5,6,4"))
    examples = {"k": 1, "folder": str(tmp_path), "select": "random"}
    with pytest.raises(DataError, match=r"ReDial.txt:8: expected ratings from 1 to 5"):
        _ratings({"examples": examples}, FOUR)


def test_settings_identify_what_changes_ratings(uss: Path) -> None:
    gateway, _ = gateway_of([], "main")
    around = EvaluatorContext(None, gateway, {"main": SPEC})

    def of(**given: object) -> tuple[object, object]:
        built = QualityEvaluator.model_validate(given).prepared(around)
        return built.settings, built.data

    plain = of()
    assert of(level="turn") == plain
    assert of(top_k=3)[0] != plain[0]
    assert of(method="generation", order="rating-first") != of(method="generation")
    one = of(examples={"k": 1, "select": "random", "folder": str(uss), "seed": 0})
    two = of(examples={"k": 1, "select": "random", "folder": str(uss), "seed": 1})
    assert plain[1] == {}
    assert one != two
    assert of(level="turn", examples={"k": 1, "select": "random", "folder": str(uss)}) == one


def test_calls_are_expected_for_each_draw_and_sample(uss: Path) -> None:
    config = QualityEvaluator.model_validate(
        {
            "method": "generation",
            "samples": 2,
            "examples": {"k": 1, "select": "random", "folder": str(uss)},
        }
    )
    gateway, _ = gateway_of([], "main")
    evaluator = config.prepared(EvaluatorContext(None, gateway, gateway.models))
    assert planned(evaluator, a_log("One.", "Two.")) == {
        ("main", "dialogue-quality/dialogue"): 3 * 2,
        ("main", "dialogue-quality/turn"): 2 * 3 * 2,
    }
    assert config.call_uses == []
    assert QualityEvaluator().call_uses == [("main", "logprobs")]


def test_uss_gives_dialogues_and_rated_turns(uss: Path) -> None:
    from recjury.corpora.uss import read_uss

    sessions = read_uss(uss, "ReDial")
    dialogues = labelled_subjects(sessions, Level.DIALOGUE)
    turns = labelled_subjects(sessions, Level.TURN)
    assert [round(each.label, 2) for each in dialogues] == [2.67, 4.67]
    assert [len(each.subject.turns) for each in turns] == [1, 3, 1, 3]
    assert turns[1].subject.turns[-1].text == "Seen it."
    split = split_uss(sessions, seed=0)
    assert {each.id for each in (*split.train, *split.test)} == {"ReDial-0", "ReDial-1"}


def test_the_prompts_are_those_of_the_golden_file(uss: Path) -> None:
    from recjury.corpora.uss import read_uss

    sessions = read_uss(uss, "ReDial")
    example = labelled_subjects(sessions, Level.DIALOGUE)[1]
    log = a_log("I would watch <b>Ronin</b> (1998).")
    dialogue, turn = subject_of_log(log, None), subject_of_log(log, 0)
    texts = {
        "quality-logits.txt": QualityPrompts("logits").of(dialogue, [example]),
        "quality-binary.txt": QualityPrompts("logits", "binary").of(turn),
        "quality-analysis-first.txt": QualityPrompts("analysis-first").of(dialogue),
        "quality-rating-first.txt": QualityPrompts("rating-first").of(turn, [example]),
    }
    for name, prompt in texts.items():
        assert_golden(prompt.messages, GOLDEN / name)


def test_the_request_says_what_it_is_for() -> None:
    gateway, model = gateway_of(lambda _: FOUR, "main")
    rater = QualityEvaluator(level="dialogue").prepared(
        EvaluatorContext(None, gateway, {"main": SPEC})
    )
    asyncio.run(rater.evaluate("satisfaction", ConversationRecord(a_log()), {}))
    request: ChatRequest = model.requests[0]
    assert request.purpose == "dialogue-quality/dialogue"
