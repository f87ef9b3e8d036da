"""Ratings of turns and dialogues, from particles; and what has none."""

import asyncio
from collections.abc import Callable

import pytest

from recjury.errors import CallFailed, ConfigError
from recjury.judges.face import CotIclRater, DirectRater, FaceEvaluator, GivenDecomposer
from recjury.judges.face.instructions import Instruction
from recjury.judges.face.scorer import ParticleScorer
from recjury.llm.scripted import Line
from recjury.records import (
    Aspect,
    ChatRequest,
    Decomposition,
    Level,
    Rating,
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


def _rated(
    script: Callable[[ChatRequest], Line], particles: Decomposition | None = None
) -> tuple[Rating, ...]:
    gateway, _ = scripted(script)
    given = GivenDecomposer({"kbrd_redial_1": particles or decomposition()})
    face = FaceEvaluator(given, ParticleScorer(gateway, "main", samples=1), INSTRUCTIONS)
    assert face.name == "face/main"
    return asyncio.run(face.rate(log()))


def _by_words(request: ChatRequest) -> str:
    """The first particle is good under both instructions, the second one under neither."""
    asked = request.messages[1].text
    if 'number="0"' in asked:
        return "<rating>2</rating>" if "ALPHA" in asked else "<rating>1</rating>"
    return "<rating>0</rating>"


def test_scores_pool_over_particles_and_instructions() -> None:
    first, second, whole = _rated(_by_words)
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


def test_a_turn_that_was_not_decomposed_says_so() -> None:
    lost = TurnParticles(turn=3, particles=(), status=Status.UNREADABLE, reason="no JSON")
    turns = (TurnParticles(turn=1, particles=(HEAT,)), lost)
    _, second, whole = _rated(_by_words, Decomposition(decomposer="x", turns=turns))
    assert (second.status, second.reason) == (
        Status.UNREADABLE,
        "turn 3 was not decomposed: no JSON",
    )
    assert whole.score == 1.5


def test_a_call_that_failed_leaves_its_aspect_unscored() -> None:
    def script(request: ChatRequest) -> Line:
        return CallFailed("gone") if "relevance" in request.purpose else "<rating>4</rating>"

    *turns, whole = _rated(script)
    assert {(rating.status, rating.reason) for rating in turns} == {(Status.CALL_FAILED, "gone")}
    assert whole.score == 4


def test_an_aspect_needs_instructions() -> None:
    gateway, _ = scripted([])
    scorer = ParticleScorer(gateway, "main")
    with pytest.raises(ConfigError, match=r"efficiency has no instructions: add efficiency.json"):
        FaceEvaluator(GivenDecomposer({}), scorer, INSTRUCTIONS, [Aspect.EFFICIENCY])
    assert FaceEvaluator(GivenDecomposer({}), scorer).aspects == tuple(Aspect)


@pytest.mark.parametrize(
    ("rater", "name", "words"),
    [
        (DirectRater, "llm-direct/main", "Do not explain."),
        (CotIclRater, "llm-cot-icl/main", "Think step by step"),
    ],
)
def test_the_evaluators_beside_it_rate_turns_and_dialogues_whole(
    rater: type[DirectRater] | type[CotIclRater], name: str, words: str
) -> None:
    gateway, model = scripted(
        lambda request: "no" if "efficiency" in request.purpose else "Well. <rating>1</rating>"
    )
    ratings = asyncio.run(rater(gateway, "main").rate(log()))
    assert [(r.factor, r.turn) for r in ratings[:4]] == [
        ("relevance", 1),
        ("relevance", 3),
        ("interestingness", 1),
        ("interestingness", 3),
    ]
    assert len(ratings) == 9
    assert {rating.evaluator for rating in ratings} == {name}
    unread = [rating for rating in ratings if rating.score is None]
    assert [(rating.factor, rating.status) for rating in unread] == [
        ("efficiency", Status.UNREADABLE)
    ]
    assert all(words in request.messages[1].text for request in model.requests)
    examples = "<example>" in model.requests[0].messages[1].text
    assert examples is (rater is CotIclRater)
