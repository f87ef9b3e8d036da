"""FACE's outputs come back from the store as they were written."""

import asyncio
from pathlib import Path

from recjury.judges.face.stored_results import (
    particles_result,
    read_decomposition,
    read_results,
    scores_output,
)
from recjury.records import (
    Aspect,
    Decomposition,
    DialogueAct,
    InstructionScore,
    Particle,
    ParticleScore,
    StageResult,
    Status,
    TurnParticles,
)
from recjury.store import Store
from tests.store import values
from tests.store.values import NASTY

FACE = values.evaluator("face")
EVALUATION = values.evaluation(FACE)


def decomposition(calls: tuple[str, ...] = ()) -> Decomposition:
    """The log's system turn as two particles."""
    particles = (
        Particle(act=DialogueAct.RECOMMENDATION, mention="Try Heat", feedback="I like it ü"),
        Particle(act=DialogueAct.OTHERS, mention=NASTY),
    )
    turn = TurnParticles(turn=0, particles=particles, calls=calls, repaired="a trailing comma")
    lost = TurnParticles(turn=2, particles=(), status=Status.UNREADABLE, reason="no JSON")
    return Decomposition(decomposer="llm", turns=(turn, lost))


def particle_scores(call: str | None = None) -> tuple[ParticleScore, ...]:
    """The scores of two particles: sampled, with one sample missing, and expected."""
    sampled = InstructionScore("itr1", (2, 1, None, 2), None, call)
    nothing = InstructionScore("itr2", (None, None))
    expected = InstructionScore("itr2", (), 1.4375, call)
    none = InstructionScore("itr1", ())
    return (ParticleScore(0, 0, (sampled, nothing)), ParticleScore(0, 1, (none, expected)))


def test_particles_and_scores_are_read_as_written(tmp_path: Path) -> None:
    scores, particles = particle_scores("ab" * 16), decomposition(("ab" * 16,))

    async def save(store: Store) -> None:
        await store.save_stage(EVALUATION, "particles", particles_result(particles))
        # Whatever order they are given in.
        for aspect in (Aspect.UNDERSTANDING, Aspect.RELEVANCE):
            result = StageResult(values.aspect_ratings(), scores_output(scores[::-1]))
            await store.save_stage(EVALUATION, aspect.value, result)

    with Store.open(f"sqlite:///{tmp_path}/runs.db") as store:
        values.begun(store)
        store.join(values.CAMPAIGN, [FACE])
        asyncio.run(save(store))
        results = store.stage_results(EVALUATION.identity)
        found = read_results(results)
        assert found.decomposition == particles
        assert found.scores == dict.fromkeys((Aspect.RELEVANCE, Aspect.UNDERSTANDING), scores)
        assert results["particles"].lost == (Status.UNREADABLE,)
        (problem,) = store.integrity(EVALUATION.identity)[-1:]
        assert f"call {'ab' * 16} is not in the store" in problem


def test_a_log_without_a_system_turn_is_taken_apart_once() -> None:
    nothing = Decomposition(decomposer="rules", turns=())
    assert read_decomposition({"particles": particles_result(nothing)}) == nothing
    assert read_decomposition({}) is None
