"""Particles and their samples come back as they were written; several replies to a call do, too."""

import asyncio
from pathlib import Path

import pytest

from recjury.records import Aspect, AspectScores, Decomposition, ParticleScore, StageResult
from recjury.store import Store
from tests.store import values

FACE = values.evaluator("face")
EVALUATION = values.evaluation(FACE)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with one conversation that FACE is to evaluate."""
    store = Store.open(f"sqlite:///{tmp_path}/runs.db")
    values.begun(store)
    store.join(values.CAMPAIGN, [FACE])
    return store


def _scored(aspect: Aspect, scores: tuple[ParticleScore, ...]) -> StageResult:
    return StageResult(values.aspect_ratings(), AspectScores(aspect, scores))


def test_particles_and_scores_are_read_as_written(store: Store) -> None:
    scores = values.particle_scores("ab" * 16)
    particles = values.decomposition(("ab" * 16,))

    async def save() -> None:
        await store.save_stage(EVALUATION, "particles", StageResult(kept=particles))
        # Whatever order they are given in.
        for aspect in (Aspect.UNDERSTANDING, Aspect.RELEVANCE):
            await store.save_stage(EVALUATION, aspect.value, _scored(aspect, scores[::-1]))

    with store:
        asyncio.run(save())
        kept = store.face(EVALUATION.identity)
        assert kept.decomposition == particles
        assert kept.scores == dict.fromkeys((Aspect.RELEVANCE, Aspect.UNDERSTANDING), scores)
        assert kept.calls() == ("ab" * 16,)
        assert store.stage_results(EVALUATION.identity) == {
            "particles": StageResult(kept=particles),
            "relevance": _scored(Aspect.RELEVANCE, scores),
            "understanding": _scored(Aspect.UNDERSTANDING, scores),
        }


def test_what_is_finished_is_not_overwritten(store: Store) -> None:
    first = _scored(Aspect.RELEVANCE, values.particle_scores()[:1])
    second = _scored(Aspect.RELEVANCE, values.particle_scores())

    async def save() -> None:
        await store.save_stage(EVALUATION, "relevance", first)
        await store.save_stage(EVALUATION, "relevance", second)

    with store:
        asyncio.run(save())
        assert store.stage_results(EVALUATION.identity) == {"relevance": first}


def test_an_evaluation_without_any_is_empty(store: Store) -> None:
    with store:
        asyncio.run(store.enter(EVALUATION))
        kept = store.face(EVALUATION.identity)
        assert (kept.decomposition, kept.scores, kept.calls()) == (None, {}, ())


def test_a_log_without_a_system_turn_is_taken_apart_once(store: Store) -> None:
    nothing = Decomposition(decomposer="rules", turns=())
    with store:
        asyncio.run(store.save_stage(EVALUATION, "particles", StageResult(kept=nothing)))
        (found,) = store.stage_results(EVALUATION.identity).values()
        assert isinstance(found.kept, Decomposition)
        assert found.kept.turns == ()


def test_a_call_with_several_replies_is_read_as_written(store: Store) -> None:
    async def keep() -> None:
        async with store.recorder() as recorder:
            await recorder.record(values.call_of_several())
            recalled = await recorder.recall(values.identity(2))
            assert recalled is not None
            assert [reply.text for reply in recalled.each()] == ["3", "4", "so", "3"]
            assert recalled.each()[2].finish_reason == "length"

    with store:
        asyncio.run(keep())
        assert store.call(values.identity(2)) == values.call_of_several()
