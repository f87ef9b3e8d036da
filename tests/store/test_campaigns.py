"""What a campaign consists of: conversations as they are planned, and evaluators as they join."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from recjury.errors import StoreError
from recjury.records import Metric, StageResult
from recjury.store import Measurement, PlannedConversation, PlannedEvaluation, Store
from tests.store import values


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return Store.open(f"sqlite:///{tmp_path}/runs.db")


def _rate(store: Store, *planned: PlannedEvaluation) -> None:
    async def rate() -> None:
        for each in planned:
            await store.save_stage(each, "rate", StageResult(values.ratings()))

    asyncio.run(rate())


def test_a_campaign_begun_again_is_one_campaign_with_two_runs(store: Store) -> None:
    with store:
        values.begun(store, 3)
        values.begun(store, 4)
        (campaign,) = store.campaigns()
        assert (campaign.runs, campaign.conversations) == (2, 4)
        assert campaign.id == values.CAMPAIGN
        assert campaign.setup == values.campaign().setup
        found = store.conversations(campaign.id)
        assert [each.id for each in found] == [values.conversation(n).id for n in range(4)]


def test_what_a_run_learned_of_its_endpoints_is_the_latest_runs(store: Store) -> None:
    with store:
        values.begun(store)
        assert store.campaign(values.CAMPAIGN).learned == {}
        store.save_learned(values.CAMPAIGN, {"main": {"temperature": False}})
        store.save_learned(values.CAMPAIGN, {"main": {"n": False}})
        assert store.campaign(values.CAMPAIGN).learned == {"main": {"n": False}}
        values.begun(store)
        assert store.campaign(values.CAMPAIGN).learned == {}


def test_a_conversation_of_two_campaigns_is_held_once(store: Store) -> None:
    with store:
        (conversation,) = values.begun(store)
        asyncio.run(store.save_log(conversation, values.log()))
        store.begin(values.campaign("second"))
        other = values.campaign("second").id
        assert store.plan(other, [values.conversation()]) == 0
        assert [each.id for each in store.conversations(other)] == [conversation]
        assert store.log_ids_of([conversation]) == {conversation: values.log().id}


def test_what_takes_a_place_sets_aside_what_had_it(store: Store) -> None:
    """It stays in the store and in the costs, and may come back."""
    first = values.conversation()
    second = first.model_copy(update={"id": "cd" * 16})
    with store:
        values.begun(store)
        assert store.plan(values.CAMPAIGN, [second]) == 1
        assert [each.id for each in store.conversations(values.CAMPAIGN)] == [second.id]
        assert [each.id for each in store.conversations()] == [second.id]
        assert store.campaigns()[0].conversations == 1
        async_record = store.recorder().record(values.call(1))
        asyncio.run(async_record)
        assert store.spent(values.CAMPAIGN).calls == 1
        assert store.plan(values.CAMPAIGN, [first]) == 1
        assert [each.id for each in store.conversations(values.CAMPAIGN)] == [first.id]


def test_a_plan_that_fails_changes_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a page sets aside and what it puts there are one transaction."""

    def fall_over(*_: object) -> None:
        raise RuntimeError("killed")

    changed = values.conversation().model_copy(update={"id": "ab" * 16})
    with store:
        (conversation,) = values.begun(store)
        with monkeypatch.context() as patched:
            patched.setattr("recjury.store.conversations._replaced", fall_over)
            with pytest.raises(RuntimeError, match="killed"):
                store.plan(values.CAMPAIGN, [changed])
        assert [each.id for each in store.conversations()] == [conversation]
        assert store.plan(values.CAMPAIGN, [changed]) == 1
        assert [each.id for each in store.conversations(values.CAMPAIGN)] == ["ab" * 16]


def test_others_write_while_a_plan_is_written_and_one_that_is_cut_short_is_completed(
    store: Store,
) -> None:
    other = Store.open(str(values.file_of(store)))
    measured = Measurement(kind="noise", subject="x", measured_at=1.0, body={})
    several = [values.conversation(number) for number in range(600)]

    def cut_short() -> Iterator[PlannedConversation]:
        yield from several[:550]
        other.save_measurement(measured)
        raise RuntimeError("killed")

    with store, other:
        store.begin(values.campaign())
        with pytest.raises(RuntimeError, match="killed"):
            store.plan(values.CAMPAIGN, cut_short())
        assert store.conversations() == ()
        assert other.plan(values.CAMPAIGN, several) == 0
        assert store.plan(values.CAMPAIGN, several) == 0
        found = store.conversations(values.CAMPAIGN)
        assert [each.id for each in found] == [each.id for each in several]
        assert len(store.measurements("noise")) == 1


def test_of_two_plans_at_once_each_place_has_one_conversation(store: Store) -> None:
    other = Store.open(str(values.file_of(store)))
    several = [values.conversation(number) for number in range(600)]
    changed = [each.model_copy(update={"id": f"{n:032x}"}) for n, each in enumerate(several)]

    def overtaken() -> Iterator[PlannedConversation]:
        yield from several[:500]
        other.plan(values.CAMPAIGN, changed)
        yield from several[500:]

    with store, other:
        store.begin(values.campaign())
        assert store.plan(values.CAMPAIGN, overtaken()) == 600
        found = store.conversations(values.CAMPAIGN)
        assert [each.id for each in found] == [each.id for each in several]


def test_results_are_filtered_and_in_the_plans_order(store: Store) -> None:
    planned = [
        values.conversation(number, system)
        for number in (2, 1, 3)
        for system in ("kbrd", "chatcrs")
    ]
    with store:
        store.begin(values.campaign())
        store.plan(values.CAMPAIGN, planned)
        kbrd = [result.scenario for result in store.results(values.CAMPAIGN, "kbrd")]
        assert kbrd == ["sample/test#2", "sample/test#1", "sample/test#3"]
        assert len(list(store.results())) == 6


def test_the_newest_version_of_a_name_has_the_name_alone(store: Store) -> None:
    old, new = values.evaluator(version=1), values.evaluator(version=2)
    other = values.evaluator("outcome")
    with store:
        (conversation,) = values.begun(store)
        asyncio.run(store.save_log(conversation, values.log()))
        store.join(values.CAMPAIGN, [other, new])
        labels = [each.label for each in store.evaluators(values.CAMPAIGN)]
        assert labels == ["outcome", "core", f"core@{old.id[:4]}"]
        assert [each.id for each in store.evaluators()] == [other.id, new.id, old.id]
        _rate(store, values.evaluation(old), values.evaluation(new), values.evaluation(other))
        (result,) = store.results(values.CAMPAIGN)
        assert [each.label for each in result.evaluations] == labels
        store.join(values.CAMPAIGN, [old])
        assert [each.label for each in store.evaluators(values.CAMPAIGN)] == [
            "core",
            "outcome",
            f"core@{new.id[:4]}",
        ]


def test_what_a_version_has_rated_stays_shown(store: Store) -> None:
    rounds = Metric(id="rounds", title="Rounds")
    renamed = Metric(id="novelty", title="How new")
    more = values.evaluator(metrics=(rounds, renamed), stages=("count",), judgings=2)
    with store:
        values.begun(store)
        store.join(values.CAMPAIGN, [more])
        (evaluator,) = store.evaluators(values.CAMPAIGN)
        assert evaluator.metrics == (renamed, rounds)
        assert evaluator.stages == ("count",), "what it is asked now"
        assert evaluator.judgings == 2
        assert evaluator.settings == more.settings


def test_a_log_is_judged_as_often_as_its_campaign_says(store: Store) -> None:
    twice = values.evaluator(judgings=2)
    with store:
        (conversation,) = values.begun(store)
        asyncio.run(store.save_log(conversation, values.log()))
        _rate(store, *(values.evaluation(judging=number) for number in (1, 0)))
        (result,) = store.results(values.CAMPAIGN)
        assert [each.judging for each in result.evaluations] == [0]
        store.join(values.CAMPAIGN, [twice])
        (result,) = store.results(values.CAMPAIGN)
        assert [each.judging for each in result.evaluations] == [0, 1]


def test_conversations_with_one_log_share_its_evaluations(store: Store) -> None:
    with store:
        first, second = values.begun(store, 2)
        for conversation in (first, second):
            asyncio.run(store.save_log(conversation, values.log()))
        _rate(store, values.evaluation())
        one, two = store.results(values.CAMPAIGN)
        assert one.evaluations == two.evaluations
        assert store.evaluation(values.evaluation().identity).conversations == (first, second)


def test_an_evaluator_that_was_altered_is_named(store: Store) -> None:
    with store:
        values.begun(store)
        values.alter(store, "UPDATE evaluator SET kind = 'cores'")
        with pytest.raises(StoreError, match=f"evaluator {values.evaluator().id} in the store"):
            store.evaluators()
