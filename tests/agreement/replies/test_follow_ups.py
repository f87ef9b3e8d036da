"""Likelihoods of follow-ups under a tiny causal model with random weights."""

import asyncio
from pathlib import Path

import pytest

from recjury.agreement.replies import ScorerContext, chosen, score_rows
from recjury.agreement.replies.follow_ups import FollowUps, FollowUpScorer, follow_ups
from recjury.agreement.replies.rows import RatedRow
from recjury.agreement.replies.scorer_analyses import Correlations
from recjury.errors import ConfigError
from recjury.tables import AnalysisInput
from tests.agreement.replies.rated import response, row
from tests.tiny_llama import make_tiny_llama

pytest.importorskip("torch")
TURNS = ["Hi!", "Hello. Do you like films?", "Yes, comedies."]
TEXTS = ["Tell me more!", "That makes no sense!", "I don't like you, and I never did."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_llama(tmp_path_factory.mktemp("llama"), positions=128)


def test_a_follow_up_is_scored_as_if_it_were_read_alone(folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from recjury.agreement.replies.likelihood import FollowUpModel

    found = FollowUpModel(folder).log_likelihoods(TURNS, TEXTS)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    end = tokenizer.eos_token_id
    before = [end, *(token for turn in TURNS for token in [*tokenizer.encode(turn), end])]
    for text, value in zip(TEXTS, found, strict=True):
        own = tokenizer.encode(text)
        with torch.inference_mode():
            logits = model(torch.tensor([before + own])).logits[0]
        scores = torch.log_softmax(logits, -1)[len(before) - 1 : -1]
        expected = scores.gather(1, torch.tensor(own)[:, None]).mean()
        assert value == pytest.approx(float(expected), abs=1e-4)


def test_a_dialogue_that_is_too_long_loses_its_oldest_tokens(folder: Path) -> None:
    from recjury.agreement.replies.likelihood import FollowUpModel

    model = FollowUpModel(folder)
    long = model.log_likelihoods(["Nothing. " * 80, *TURNS], TEXTS)
    assert model.cut == 1
    assert all(value < 0 for value in long)
    model.log_likelihoods(TURNS, TEXTS)
    assert model.cut == 1


def test_fed_is_what_pleases_minus_what_displeases() -> None:
    class Model:
        def log_likelihoods(self, turns: list[str], follow_ups: list[str]) -> list[float]:
            assert turns == ["Hi!", "Hello."]
            return [-1.0 if text == "Fine." else -3.0 for text in follow_ups]

    qualities = {"a": FollowUps(("Fine.",), ("No.", "Bad.")), "b": FollowUps((), ("Fine.",))}
    scorer = FollowUpScorer("fed", qualities, Model)  # type: ignore[arg-type]
    found = asyncio.run(scorer.scores([response("Hello.", "Hi!"), response(" ", "Hi!")]))
    assert found == [((-1 + 3) + 1) / 2, None]


def test_dialogues_are_scored_as_a_whole(folder: Path) -> None:
    replies, dialogue = row(0, 3.0), row(1, 2.0)
    whole = response("Bye!", *TURNS)
    rows: list[RatedRow] = [
        replies,
        dialogue._replace(set="fed-dialogue", whole=whole),
    ]
    context = ScorerContext(Path(), folder)
    found = asyncio.run(score_rows(chosen(["fed", "full"], model=True), context, rows)).scores
    assert all(value is not None for each in found.values() for value in each)
    alone = asyncio.run(
        FollowUpScorer("fed", follow_ups("fed, replies"), context.follow_up_model).scores(
            replies.responses
        )
    )
    assert found["fed"][0] == pytest.approx(alone[0], abs=1e-5)
    assert found["full"][1] == pytest.approx(
        asyncio.run(
            FollowUpScorer("full", follow_ups("full"), context.follow_up_model).scores([whole])
        )[0],
        abs=1e-5,
    )


def test_a_folder_without_a_model_is_told_before_anything_is_scored(tmp_path: Path) -> None:
    analysis = Correlations(model=tmp_path)
    with pytest.raises(ConfigError, match=r"there is no config\.json in this folder") as raised:
        asyncio.run(analysis.run(AnalysisInput(store="", data=tmp_path)))
    assert "\n" not in str(raised.value)


def test_what_was_cut_is_counted(folder: Path) -> None:
    context = ScorerContext(Path(), folder)
    assert context.cut == 0
    long = row(0, 3.0)._replace(responses=(response("Yes.", "Nothing. " * 80),))
    asyncio.run(score_rows(chosen(["full"], model=True), context, [long, row(1, 2.0)]))
    assert context.cut == 1
