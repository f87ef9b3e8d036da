"""Ratings of turns and dialogues, from particles; and what has none."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from recjury.campaign.retry import Retry
from recjury.errors import CallFailed, ConfigError, UnitFailed
from recjury.judges import EvaluatorContext
from recjury.judges.face import FaceEvaluator, GivenDecomposer
from recjury.judges.face.instructions import Instruction
from recjury.judges.face.stored_results import particles_result, read_results
from recjury.llm.scripted import Line
from recjury.records import (
    Aspect,
    ChatRequest,
    ConversationRecord,
    Decomposition,
    Level,
    Rating,
    StageResult,
    Status,
    TurnParticles,
)
from tests.judges.face.logs import HEAT, decomposition, log, scripted

ASPECTS = (Aspect.RELEVANCE, Aspect.DIALOGUE_OVERALL)
INSTRUCTIONS = {
    aspect: (
        Instruction(text="ALPHA", iteration=1, rank=1),
        Instruction(text="BETA", iteration=2, rank=2),
    )
    for aspect in ASPECTS
}


def _face(
    script: Callable[[ChatRequest], Line], particles: Decomposition | None = None
) -> FaceEvaluator:
    """With two instructions, of two aspects, and these particles, by default the model's."""
    gateway, _ = scripted(script)
    face = FaceEvaluator(aspects=ASPECTS, samples=1)
    ready = face.prepared(EvaluatorContext(None, gateway, gateway.models))
    ready.__dict__["_instructions"] = INSTRUCTIONS  # as if read from a file
    if particles is not None:
        ready.__dict__["_decomposer"] = GivenDecomposer({"kbrd_redial_1": particles})
    return ready


def _rated(
    script: Callable[[ChatRequest], Line], particles: Decomposition | None = None
) -> tuple[Rating, ...]:
    """All ratings, with the stages run as the pipeline does."""
    face = _face(script, particles or decomposition())
    record = ConversationRecord(log())

    async def ratings() -> tuple[Rating, ...]:
        done: dict[str, StageResult] = {}
        for stage in face.stages:
            assert set(stage.after) <= done.keys()
            done[stage.name] = await face.evaluate(stage.name, record, done)
        return tuple(rating for result in done.values() for rating in result.ratings)

    return asyncio.run(ratings())


def _by_words(request: ChatRequest) -> str:
    """The first particle is good under both instructions, the second one under neither."""
    asked = request.messages[1].text
    if 'number="0"' in asked:
        return "<rating>2</rating>" if "ALPHA" in asked else "<rating>1</rating>"
    return "<rating>0</rating>"


def test_scores_pool_over_particles_and_instructions() -> None:
    first, second, whole = _rated(_by_words)
    assert {rating.evaluator for rating in (first, second, whole)} == {"face/main"}
    assert (first.factor, first.level, first.turn) == ("relevance", Level.TURN, 1)
    assert (first.score, first.low, first.high) == (0.75, 0, 2)
    assert first.rationale == "the mean of 4 scores: 2 particles, of 4 asked for"
    assert (second.turn, second.score, second.status) == (3, None, Status.NOT_APPLICABLE)
    assert second.reason == "there is no particle"
    assert (whole.factor, whole.level, whole.turn) == ("dialogue_overall", Level.DIALOGUE, None)
    assert (whole.score, whole.high) == (0.75, 4)


def test_what_has_no_scored_particle_is_unscored_and_not_minimal() -> None:
    ratings = _rated(lambda request: "I would rather not.")
    assert [rating.score for rating in ratings] == [None] * 3
    assert [rating.status for rating in ratings] == [
        Status.UNREADABLE,
        Status.NOT_APPLICABLE,
        Status.UNREADABLE,
    ]


def test_what_has_no_score_says_what_happened_to_most_of_its_calls() -> None:
    def script(request: ChatRequest) -> Line:
        if "BETA" in request.messages[1].text and 'number="1"' in request.messages[1].text:
            return "I would rather not."
        return CallFailed("400: Content Exists Risk", permanent=True)

    first, _, whole = _rated(script)
    assert {rating.status for rating in (first, whole)} == {Status.REFUSED}
    assert {rating.reason for rating in (first, whole)} == {"400: Content Exists Risk"}
    assert first.status in Retry.FAILED.statuses


def test_what_could_not_be_read_says_why() -> None:
    first, *_ = _rated(lambda request: "I would rather not.")
    assert first.reason.startswith("no sample of any particle could be read: no <rating>")
    assert first.status not in Retry.FAILED.statuses


def test_a_turn_that_was_not_decomposed_says_so() -> None:
    lost = TurnParticles(turn=3, particles=(), status=Status.UNREADABLE, reason="no JSON")
    turns = (TurnParticles(turn=1, particles=(HEAT,)), lost)
    _, second, whole = _rated(_by_words, Decomposition(decomposer="x", turns=turns))
    assert (second.status, second.reason) == (
        Status.UNREADABLE,
        "turn 3 was not decomposed: no JSON",
    )
    assert whole.score == 1.5


def test_a_call_that_failed_fails_its_aspect_and_no_other() -> None:
    def script(request: ChatRequest) -> Line:
        return CallFailed("gone") if "relevance" in request.purpose else "<rating>4</rating>"

    face, record = _face(script, decomposition()), ConversationRecord(log())
    done = {"particles": particles_result(decomposition())}
    with pytest.raises(UnitFailed, match="gone"):
        asyncio.run(face.evaluate("relevance", record, done))
    result = asyncio.run(face.evaluate("dialogue_overall", record, done))
    assert [rating.score for rating in result.ratings] == [4]
    scores = read_results({"dialogue_overall": result}).scores
    assert len(scores[Aspect.DIALOGUE_OVERALL]) == 2


def test_a_decomposition_with_a_failed_call_fails_its_stage() -> None:
    def script(request: ChatRequest) -> Line:
        return CallFailed("gone") if "Bye!" in request.messages[0].text else '{"particles": []}'

    face = _face(script)
    with pytest.raises(UnitFailed, match=r"turn [13]: gone"):
        asyncio.run(face.evaluate("particles", ConversationRecord(log()), {}))


def test_stages_and_metrics_are_the_chosen_aspects() -> None:
    face = _face(lambda _: "", decomposition())
    assert [(stage.name, stage.after) for stage in face.stages] == [
        ("particles", ()),
        ("relevance", ("particles",)),
        ("dialogue_overall", ("particles",)),
    ]
    assert [(metric.id, metric.level, metric.high) for metric in face.metrics] == [
        ("relevance", Level.TURN, 2),
        ("dialogue_overall", Level.DIALOGUE, 4),
    ]


def test_an_aspect_needs_instructions(tmp_path: Path) -> None:
    gateway, _ = scripted([])
    given = [each.model_dump() for each in INSTRUCTIONS[Aspect.RELEVANCE]]
    (tmp_path / "relevance.json").write_text(json.dumps(given), "utf-8")
    face = FaceEvaluator(aspects=(Aspect.EFFICIENCY,), instructions=str(tmp_path))
    with pytest.raises(ConfigError, match=r"efficiency has no instructions: add efficiency.json"):
        face.prepared(EvaluatorContext(None, gateway, gateway.models))
    assert FaceEvaluator().aspects == tuple(Aspect)
