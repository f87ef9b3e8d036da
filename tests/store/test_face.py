"""Particles and their samples come back as they were written; several replies to a call do, too."""

import asyncio
from pathlib import Path

import pytest

from recjury.records import Aspect
from recjury.store import Store
from tests.store import values


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with one trial that is to be done."""
    store = Store.open(f"sqlite:///{tmp_path}/runs.db")
    values.begun(store)
    return store


def test_particles_and_scores_are_read_as_written(store: Store) -> None:
    trial = values.trial().id

    async def save() -> None:
        scores = values.particle_scores("ab" * 16)
        await store.save_particles(trial, values.decomposition(("ab" * 16,)))
        # Whatever order they are given in.
        for aspect in (Aspect.UNDERSTANDING, Aspect.RELEVANCE):
            await store.save_scores(trial, aspect, scores[::-1], values.aspect_ratings())

    with store:
        asyncio.run(save())
        kept = store.face(trial)
        assert kept.decomposition == values.decomposition(("ab" * 16,))
        assert kept.scores == dict.fromkeys(
            (Aspect.RELEVANCE, Aspect.UNDERSTANDING), values.particle_scores("ab" * 16)
        )
        assert kept.calls() == ("ab" * 16,)
        assert store.ratings(trial) == values.aspect_ratings() * 2
        stages = {"face/particles"} | {
            f"face/{aspect}{part}"
            for aspect in ("relevance", "understanding")
            for part in ("", "/scores")
        }
        assert store.stages_done(values.campaign().id)[trial] == stages


def test_what_is_finished_is_not_overwritten(store: Store) -> None:
    trial = values.trial().id

    async def save() -> None:
        scores = values.particle_scores()
        await store.save_scores(trial, Aspect.RELEVANCE, scores[:1], values.aspect_ratings())
        await store.save_scores(trial, Aspect.RELEVANCE, scores, ())

    with store:
        asyncio.run(save())
        assert store.face(trial).scores == {Aspect.RELEVANCE: values.particle_scores()[:1]}
        assert store.ratings(trial) == values.aspect_ratings()


def test_a_trial_without_any_is_empty(store: Store) -> None:
    with store:
        kept = store.face(values.trial().id)
        assert (kept.decomposition, kept.scores, kept.calls()) == (None, {}, ())


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
