"""What is written comes back equal, and what is finished stays."""

import asyncio
from pathlib import Path

import pytest

from recjury.errors import StoreError
from recjury.records import PERSUASIVENESS, Rating, Status
from recjury.store import Store
from tests.store import values


def _store(folder: Path) -> Store:
    return Store.open(f"sqlite:///{folder}/runs.db")


def test_a_whole_trial_comes_back_equal(tmp_path: Path) -> None:
    log, (transcript, verdict) = values.log(), values.debate(values.log().id)
    persuasive = Rating(evaluator="rule", factor=PERSUASIVENESS, score=2, low=0, high=2)

    async def save(store: Store, trial: str) -> None:
        await store.save_log(trial, log, [persuasive])
        await store.save_ratings(trial, values.ratings())
        await store.save_debate(trial, transcript, verdict)

    with _store(tmp_path) as store:
        (trial,) = values.begun(store)
        asyncio.run(save(store, trial))
    with _store(tmp_path) as store:
        assert store.log(trial) == log
        assert store.ratings(trial) == (persuasive, *values.ratings())
        assert store.debate(trial) == (transcript, verdict)
        assert store.stages_done(values.campaign().id) == {trial: {"converse", "rate", "debate"}}
        assert store.integrity(trial) == ()
        (outcome,) = store.outcomes(values.campaign().id)
    assert outcome.log == log.id
    assert outcome.recall == {1: 0.0, 5: 1.0, 10: 1.0}
    assert outcome.persuasiveness == 2
    assert outcome.overall == 70
    assert outcome.score("Coherence") == 3
    assert outcome.score("Groundness") is None
    assert outcome.status("Groundness") is Status.UNREADABLE


def test_what_is_finished_is_not_overwritten(tmp_path: Path) -> None:
    async def twice(store: Store, trial: str) -> None:
        await asyncio.gather(
            store.save_log(trial, values.log(text="first")),
            store.save_log(trial, values.log(text="second")),
        )

    with _store(tmp_path) as store:
        (trial,) = values.begun(store)
        asyncio.run(twice(store, trial))
        kept = store.log(trial)
        assert kept == values.log(text="first")
        assert store.integrity(trial) == ()


def test_a_failed_stage_stays_to_do_and_is_reported_until_it_is_done(tmp_path: Path) -> None:
    async def save(store: Store, trial: str) -> None:
        await store.save_failure(trial, "converse", "the system gave no answer")
        await store.save_failure(trial, "rate", "the judge fell over")

    with _store(tmp_path) as store:
        (trial,) = values.begun(store)
        asyncio.run(save(store, trial))
        assert store.stages_done(values.campaign().id) == {}
        asyncio.run(store.save_ratings(trial, values.ratings()))
        (outcome,) = store.outcomes()
        assert outcome.failures == {"converse": "the system gave no answer"}
        assert [failure.stage for failure in store.failures(trial)] == ["converse", "rate"]


def test_what_was_said_until_a_conversation_failed_is_kept_until_one_is_held(
    tmp_path: Path,
) -> None:
    async def save(store: Store, trial: str) -> None:
        await store.save_failure(trial, "converse", "turn 1: first", values.log(text="first"))
        await store.save_failure(trial, "converse", "turn 1: again", values.log(text="again"))
        await store.save_failure(trial, "rate", "the judge fell over")

    with _store(tmp_path) as store:
        trial, other = values.begun(store, trials=2)
        asyncio.run(save(store, trial))
        unfinished = store.unfinished(trial)
        assert unfinished is not None
        assert (unfinished.trial, unfinished.reason) == (trial, "turn 1: again")
        assert unfinished.log == values.log(text="again")
        assert store.unfinished(other) is None
        assert store.unfinished_trials() == store.unfinished_trials(values.campaign().id)
        assert store.unfinished_trials() == (trial,)
        assert store.log(trial) is None
        asyncio.run(store.save_log(trial, values.log()))
        assert store.unfinished(trial) is None
        assert store.unfinished_trials() == ()


@pytest.mark.parametrize(
    ("altered", "noticed"),
    [
        ("UPDATE text SET body = x'7b7d' WHERE id = (SELECT log FROM failure)", "does not match"),
        ("UPDATE failure SET log = (SELECT settings FROM trial)", "is not in the store as it was"),
    ],
)
def test_an_altered_unfinished_conversation_is_noticed(
    tmp_path: Path, altered: str, noticed: str
) -> None:
    with _store(tmp_path) as store:
        (trial,) = values.begun(store)
        asyncio.run(store.save_failure(trial, "converse", "turn 1: no", values.log()))
        assert store.integrity(trial) == ()
        assert values.alter(store.path, altered) == 1
        with pytest.raises(StoreError, match=noticed):
            store.unfinished(trial)
        (found,) = store.integrity(trial)
        assert noticed in found


def test_a_campaign_begun_again_is_one_campaign_with_two_runs(tmp_path: Path) -> None:
    with _store(tmp_path) as store:
        values.begun(store, trials=3)
        values.begun(store, trials=4)
        (campaign,) = store.campaigns()
        assert (campaign.runs, campaign.trials) == (2, 4)
        assert campaign.setup == values.campaign().setup
        planned = [values.trial(number) for number in range(4)]
        assert list(store.trials(campaign.id)) == planned


def test_a_trial_of_two_campaigns_is_done_once(tmp_path: Path) -> None:
    with _store(tmp_path) as store:
        (trial,) = values.begun(store)
        asyncio.run(store.save_log(trial, values.log()))
        other = values.campaign("second")
        store.begin(other)
        store.add_trials(other.id, [values.trial()])
        assert store.stages_done(other.id) == {trial: {"converse"}}


def test_trials_are_found_by_the_beginning_of_their_id(tmp_path: Path) -> None:
    with _store(tmp_path) as store:
        trials = values.begun(store, trials=30)
        assert store.trial(trials[7][:12]) == values.trial(7)
        with pytest.raises(StoreError, match="no trial begins with zz"):
            store.trial("zz")
        with pytest.raises(StoreError, match="several trials begin"):
            store.trial("")


def test_outcomes_are_filtered_and_in_the_plans_order(tmp_path: Path) -> None:
    with _store(tmp_path) as store:
        planned = [
            values.trial(number, system) for number in (2, 1, 3) for system in ("kbrd", "chatcrs")
        ]
        store.begin(values.campaign())
        store.add_trials(values.campaign().id, planned)
        kbrd = [outcome.scenario for outcome in store.outcomes(values.campaign().id, "kbrd")]
        assert kbrd == ["sample/test#2", "sample/test#1", "sample/test#3"]


def test_several_judges_of_a_factor_are_averaged_over_those_that_scored(tmp_path: Path) -> None:
    given = [
        Rating(evaluator="a", factor="Novelty", score=4),
        Rating(evaluator="b", factor="Novelty", score=1),
        Rating(evaluator="c", factor="Novelty", score=None, status=Status.UNREADABLE),
    ]
    with _store(tmp_path) as store:
        (trial,) = values.begun(store)
        asyncio.run(store.save_ratings(trial, given))
        (outcome,) = store.outcomes()
        assert outcome.score("Novelty") == 2.5
        assert len(outcome.rated("Novelty")) == 3


def test_a_bad_item_fails_alone_and_its_neighbours_are_kept(tmp_path: Path) -> None:
    async def save(store: Store, trial: str) -> list[BaseException | None]:
        return list(
            await asyncio.gather(
                store.save_log(trial, values.log()),
                store.save_log("f" * 32, values.log()),
                store.save_ratings(trial, values.ratings()),
                return_exceptions=True,
            )
        )

    with _store(tmp_path) as store:
        (trial,) = values.begun(store)
        first, second, third = asyncio.run(save(store, trial))
        assert (first, third) == (None, None)
        assert "FOREIGN KEY" in str(second)
        assert store.stages_done(values.campaign().id) == {trial: {"converse", "rate"}}
