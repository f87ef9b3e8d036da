"""LLM-Direct and LLM-CoT+ICL: whole turns and dialogues, an aspect at a time."""

import asyncio

import pytest

from recjury.errors import CallFailed
from recjury.judges import EvaluatorContext
from recjury.judges.direct import CotIclEvaluator, DirectEvaluator
from recjury.records import ConversationRecord, Rating, Status
from tests.judges.cases import SPEC, planned
from tests.judges.face.logs import log, scripted


@pytest.mark.parametrize(
    ("config", "words"),
    [(DirectEvaluator(), "Do not explain."), (CotIclEvaluator(), "Think step by step")],
)
def test_turns_and_dialogues_are_rated_whole(
    config: DirectEvaluator | CotIclEvaluator, words: str
) -> None:
    gateway, model = scripted(
        lambda request: "no" if "efficiency" in request.purpose else "Well. <rating>1</rating>"
    )
    rater = config.prepared(EvaluatorContext(None, gateway, {"main": SPEC}))

    async def rated() -> list[Rating]:
        results = [
            await rater.evaluate(stage.name, ConversationRecord(log()), {})
            for stage in rater.stages
        ]
        return [rating for result in results for rating in result.ratings]

    ratings = asyncio.run(rated())
    assert [(r.factor, r.turn) for r in ratings[:4]] == [
        ("relevance", 1),
        ("relevance", 3),
        ("interestingness", 1),
        ("interestingness", 3),
    ]
    assert len(ratings) == 9
    assert {rating.evaluator for rating in ratings} == {f"{config.kind}/main"}
    unread = [rating for rating in ratings if rating.score is None]
    assert [(rating.factor, rating.status) for rating in unread] == [
        ("efficiency", Status.UNREADABLE)
    ]
    assert all(words in request.messages[1].text for request in model.requests)
    examples = "<example>" in model.requests[0].messages[1].text
    assert examples is (config.kind == "llm-cot-icl")


def test_a_stage_asks_for_its_own_aspect_only() -> None:
    gateway, model = scripted(lambda _: CallFailed("gone"))
    config = DirectEvaluator.model_validate({"aspects": ["relevance", "efficiency", "relevance"]})
    rater = config.prepared(EvaluatorContext(None, gateway, {"main": SPEC}))
    assert [stage.name for stage in rater.stages] == ["relevance", "efficiency"]
    result = asyncio.run(rater.evaluate("efficiency", ConversationRecord(log()), {}))
    assert [rating.status for rating in result.ratings] == [Status.CALL_FAILED]
    assert [request.purpose for request in model.requests] == ["llm-direct/efficiency"]


def test_settings_leave_out_which_aspects_are_rated() -> None:
    gateway, _ = scripted([])
    around = EvaluatorContext(None, gateway, {"main": SPEC})
    one, all_seven = (
        DirectEvaluator.model_validate({"aspects": [name]}).prepared(around).settings
        for name in ("relevance", "efficiency")
    )
    assert one == all_seven
    assert one["models"] == {"main": SPEC.reply_settings()}


def test_calls_are_expected_by_turn_and_by_dialogue() -> None:
    config = DirectEvaluator.model_validate({"aspects": ["relevance", "efficiency"]})
    gateway, _ = scripted([])
    rater = config.prepared(EvaluatorContext(None, gateway, {"main": SPEC}))
    assert planned(rater, log()) == {("main", "llm-direct"): 2 + 1}
