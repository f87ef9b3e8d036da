"""Stores that are merged or copied, at first, again, and in another order."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from recjury.errors import StoreError
from recjury.records import CallRecord, Debate, Metric, StageResult, digest
from recjury.safe_text import hide_secret
from recjury.store import Measurement, PlannedConversation, Store
from recjury.store import merging as merging_module
from recjury.store.campaigns import CAMPAIGNS, RUNS
from recjury.store.evaluators import CAMPAIGN_EVALUATORS
from recjury.store.mergeable import opened_target
from recjury.store.merging import Merged, copy_store, merge_stores
from recjury.store.places import PLACES
from recjury.store.sealed import SealedTable
from recjury.store.stage_results import ForkedEvaluation
from tests.postgres_server import PostgresServer
from tests.store import values

NUMBERS = count()
KEY = "my-sensible-dataset"


@pytest.fixture
def at(tmp_path: Path) -> str:
    """Where stores are."""
    return f"sqlite:///{tmp_path}"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def into(request: pytest.FixtureRequest, at: str) -> Callable[[str], str]:
    """The URL of a store to merge into, in SQLite or PostgreSQL, by name."""
    if request.param == "sqlite":
        return lambda name: f"{at}/{name}.db"
    server: PostgresServer = request.getfixturevalue("postgres")
    return lambda name: server.create(f"{name}_{next(NUMBERS)}")


def _held(store: Store, number: int = 0, **options: Any) -> None:
    """A conversation of the campaign, held."""
    asyncio.run(store.save_log(values.conversation(number).id, values.log(number, **options)))


def _called(store: Store, call: CallRecord) -> None:
    """A call, recorded."""

    async def record() -> None:
        async with store.recorder() as recorder:
            await recorder.record(call)

    asyncio.run(record())


def _judged(
    store: Store,
    judging: int = 0,
    rated: str = "because",
    stages: Sequence[str] = ("rate", "debate"),
) -> None:
    """An evaluation of the first conversation."""
    results = {
        "rate": StageResult(values.ratings(rationale=rated)),
        "debate": StageResult(debate=_debate()),
    }

    async def save() -> None:
        for each in stages:
            await store.save_stage(values.evaluation(judging=judging), each, results[each])

    asyncio.run(save())


def _debate() -> Debate:
    return values.debate(values.log().id)


def _forked(store: Store, *identities: str) -> None:
    """Forks, each of the one before it, and the first of the evaluation."""
    originals = (values.evaluation().identity, *identities)

    async def save() -> None:
        for identity, original in zip(identities, originals, strict=False):
            fork = ForkedEvaluation(identity, original, {})
            await store.save_fork(fork, StageResult(debate=_debate()))

    asyncio.run(save())


def _verified(url: str) -> int:
    with Store.open(url, read_only=True) as store:
        found = store.verify()
    assert found.problems == ()
    return found.rows


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Pages have two rows; the list has how many rows were copied at once."""
    sizes: list[int] = []
    copies = SealedTable.copies

    def counted(self: Any, connection: Connection, rows: Any, transaction: Any) -> Any:
        sizes.append(len(rows))
        return copies(self, connection, rows, transaction)

    monkeypatch.setattr(merging_module, "_PAGE", 2)
    monkeypatch.setattr(SealedTable, "copies", counted)
    return sizes


def test_a_plan_is_merged_a_page_at_a_time(at: str, small_pages: list[int]) -> None:
    with Store.open(f"{at}/a.db") as store:
        planned = values.begun(store, 7)
    merge_stores([f"{at}/a.db"], f"{at}/c.db")
    assert max(small_pages) == 2
    with Store.open(f"{at}/c.db", read_only=True) as store:
        assert [each.id for each in store.conversations(values.CAMPAIGN)] == planned
    _verified(f"{at}/c.db")


@pytest.mark.parametrize("where", ["settings", "log", "call"])
@pytest.mark.parametrize("into", [merge_stores, copy_store])
def test_what_has_a_key_of_this_machine_is_refused(at: str, where: str, into: Any) -> None:
    source, target = f"{at}/a.db", f"{at}/c.db"
    settings = {"system": {"name": KEY if where == "settings" else "x"}, "user": "rule"}
    with Store.open(source) as store:
        values.begun(store)
        store.plan(
            values.CAMPAIGN, [values.conversation(1).model_copy(update={"settings": settings})]
        )
        _held(store, text=f"see {KEY}" if where == "log" else "see")

        _called(store, values.call(reply=KEY if where == "call" else "3"))
    before = _verified(source)
    named = [source] if into is merge_stores else source
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recjury.safe_text._known", {})
        hide_secret(KEY)
        with pytest.raises(StoreError, match=r"^.* has a text that is a key on this machine.*$"):
            into(named, target)
        assert _verified(source) == before
        with pytest.raises(StoreError, match="the store is incomplete"):
            _verified(target)
    with opened_target(target) as (store, _):
        shown = str(store.conversations()) + str(list(store.calls())) + str(list(store.results()))
    assert KEY not in shown
    assert merge_stores([source], target).conflicts == ()  # where it is no key
    assert _verified(target) == before


def test_a_merge_of_what_was_merged_adds_nothing(at: str) -> None:
    with Store.open(f"{at}/a.db") as store:
        values.begun(store)
        _held(store)
        _judged(store)
    merge_stores([f"{at}/a.db"], f"{at}/c.db")
    rows = _verified(f"{at}/c.db")
    assert merge_stores([f"{at}/a.db"], f"{at}/c.db") == Merged()
    assert _verified(f"{at}/c.db") == rows


FORKS = ("f" * 32, "7" * 32, "0" * 32)
"""Forks of forks, the last before the first in the order of ids."""


def test_forks_of_forks_are_copied(
    at: str, into: Callable[[str], str], small_pages: list[int]
) -> None:
    target = into("c")
    with Store.open(f"{at}/a.db") as store:
        values.begun(store)
        _held(store)
        _judged(store)
        _forked(store, *FORKS)
    rows = _verified(f"{at}/a.db")
    assert copy_store(f"{at}/a.db", target).rows == rows
    assert small_pages
    with Store.open(target, read_only=True) as store:
        assert store.evaluation(FORKS[2]).fork_of == FORKS[1]
    assert merge_stores([f"{at}/a.db"], target) == Merged()


def test_what_builds_on_other_results_is_not_added_to_the_first(at: str) -> None:
    for name, rated in (("a", "because"), ("b", "since")):
        with Store.open(f"{at}/{name}.db") as store:
            values.begun(store)
            _held(store)
            _judged(store, rated=rated, stages=("rate", "debate") if name == "b" else ("rate",))
            if name == "b":
                _forked(store, *FORKS)
    found = merge_stores([f"{at}/a.db", f"{at}/b.db"], f"{at}/c.db")
    (conflict,) = found.conflicts
    assert conflict.startswith("stage rate of evaluation")
    assert _verified(f"{at}/c.db") == _verified(f"{at}/a.db") + 1  # b's run
    with Store.open(f"{at}/c.db", read_only=True) as store:
        (result,) = store.results(values.CAMPAIGN)
        assert list(result.evaluations[0].ratings) == list(values.ratings())
        assert store.debate(values.evaluation().identity) is None


def test_other_further_replies_are_a_conflict(at: str) -> None:
    for name in "ab":
        with Store.open(f"{at}/{name}.db") as store:
            values.begun(store)
            call = values.call_of_several()
            if name == "b":
                call = call._replace(reply=call.reply._replace(further=call.reply.further[::-1]))
            _called(store, call)
    found = merge_stores([f"{at}/a.db", f"{at}/b.db"], f"{at}/c.db")
    assert [each.partition(" ")[0] for each in found.conflicts] == ["the"]


NEW = Metric(id="new", title="New")


def test_a_store_that_was_judged_again_is_merged_again(at: str, into: Callable[[str], str]) -> None:
    source, target, other = f"{at}/a.db", into("c"), into("d")
    with Store.open(source) as store:
        values.begun(store)
        _held(store)
        _judged(store)
    merge_stores([source], target)
    with Store.open(source) as store:
        asked = values.evaluator(judgings=2, metrics=(NEW,), stages=("rate",))
        store.join(values.CAMPAIGN, [asked])
        _judged(store, 1)
        evaluators = store.evaluators(values.CAMPAIGN)
        shown = list(store.results(values.CAMPAIGN))
    assert [each.id for each in evaluators[0].metrics] == ["novelty", "new"]
    assert merge_stores([source], target) == Merged(evaluations=1)
    merge_stores([source], other)
    for url in (target, other):
        with Store.open(url, read_only=True) as store:
            assert store.evaluators(values.CAMPAIGN) == evaluators
            assert list(store.results(values.CAMPAIGN)) == shown
        assert _verified(url) == _verified(source)
    assert merge_stores([target], source) == Merged()


def _replacing(version: int, number: int = 0) -> PlannedConversation:
    """Another version of a planned conversation."""
    settings = {"system": {"name": "retrieval", "version": version}, "user": "rule"}
    changes = {"id": digest(["replacing", number, version]), "settings": settings}
    return values.conversation(number).model_copy(update=changes)


def _planned(url: str) -> list[tuple[object, ...]]:
    """The rows that change, and what is planned."""
    with Store.open(url, read_only=True) as store:
        plan: list[tuple[object, ...]] = [
            (each.id,) for each in store.conversations(values.CAMPAIGN)
        ]
        with store.reading() as connection:
            for table in (CAMPAIGNS, RUNS, CAMPAIGN_EVALUATORS, PLACES):
                rows = connection.execute(table.select().order_by(table.c.seal))
                plan += [tuple(row)[table is RUNS :] for row in rows]  # without a run's number
    return plan


@pytest.mark.parametrize("order", ["abd", "bda", "dab"])
def test_the_latest_plan_counts_in_any_order(
    at: str, into: Callable[[str], str], order: str
) -> None:
    plans = {"a": _replacing(1), "b": _replacing(2), "d": _replacing(3)}
    for name, planned in plans.items():
        with Store.open(f"{at}/{name}.db") as store:
            store.begin(values.campaign())
            store.plan(values.CAMPAIGN, [values.conversation(), values.conversation(1)])
            store.plan(values.CAMPAIGN, [planned])
    with Store.open(f"{at}/b.db") as store:  # the earlier version again, later than all
        store.plan(values.CAMPAIGN, [_replacing(2, 1), plans["b"]])
    target, again = into("c"), f"{at}/again.db"
    merge_stores([f"{at}/{name}.db" for name in order], target)
    once = _planned(target)
    assert {each for (each,) in once[:2]} == {_replacing(2, 1).id, plans["b"].id}
    merge_stores([f"{at}/{name}.db" for name in reversed(order)], target)
    assert _planned(target) == once
    merge_stores([f"{at}/{name}.db" for name in "bda"], again)
    assert _planned(again) == once
    _verified(target)


def test_a_replaced_conversation_is_not_planned_again(at: str, into: Callable[[str], str]) -> None:
    source, target = f"{at}/a.db", into("c")
    with Store.open(source) as store:
        values.begun(store)
    merge_stores([source], target)
    with Store.open(source) as store:
        assert store.plan(values.CAMPAIGN, [_replacing(1)]) == 1
    merge_stores([source], target)
    assert _planned(target) == _planned(source)
    with Store.open(source) as store:
        assert store.plan(values.CAMPAIGN, [values.conversation()]) == 1
    merge_stores([source], target)
    assert _planned(target) == _planned(source)


def test_conversations_of_one_plan_share_a_place(at: str, small_pages: list[int]) -> None:
    together = [_replacing(number) for number in range(5)]  # as when equal records are judged
    for name in "ab":
        with Store.open(f"{at}/{name}.db") as store:
            values.begun(store)
            store.plan(values.CAMPAIGN, together if name == "b" else together[:1])
    for order in ("ab", "ba"):
        merge_stores([f"{at}/{name}.db" for name in order], f"{at}/{order}.db")
        with Store.open(f"{at}/{order}.db", read_only=True) as store:
            assert len(store.conversations(values.CAMPAIGN)) == 5
    assert _planned(f"{at}/ab.db") == _planned(f"{at}/ba.db")


def test_a_run_that_learns_later_is_one_run(at: str, into: Callable[[str], str]) -> None:
    source, target = f"{at}/a.db", into("c")
    with Store.open(source) as store:
        values.begun(store)
    merge_stores([source], target)
    with Store.open(source) as store:
        store.save_learned(values.CAMPAIGN, {"main": {"n": False}})
        (campaign,) = store.campaigns()
    for _ in range(2):
        merge_stores([source], target)
        with Store.open(target, read_only=True) as store:
            assert store.campaigns() == (campaign,)


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_what_came_last_is_the_last_in_any_order(at: str, order: str) -> None:
    began: list[float | None] = []
    for name in "ab":
        with Store.open(f"{at}/{name}.db") as store:
            (conversation,) = values.begun(store)
            said = values.log(text=name)
            asyncio.run(store.save_failure(conversation, "converse", f"fault {name}", said))
            store.save_measurement(
                Measurement(kind="noise", subject=name, measured_at=ord(name), body={})
            )
            began.append(store.campaigns()[0].created_at)
    merge_stores([f"{at}/{name}.db" for name in order], f"{at}/c.db")
    with Store.open(f"{at}/c.db", read_only=True) as store:
        assert [each.reason for each in store.failures(conversation)] == ["fault a", "fault b"]
        unfinished = store.unfinished(conversation)
        assert unfinished is not None
        assert unfinished.reason == "fault b"
        assert [each.subject for each in store.measurements("noise")] == ["a", "b"]
        assert store.campaigns()[0].created_at == began[0]


def test_nothing_is_merged_into_a_running_store(at: str) -> None:
    for name in "ac":
        with Store.open(f"{at}/{name}.db") as store:
            values.begun(store)
    running = pytest.raises(StoreError, match=r"is running in .*c\.db: wait until it ends")
    with Store.open(f"{at}/c.db") as store, store.working(values.CAMPAIGN), running:
        merge_stores([f"{at}/a.db"], f"{at}/c.db")


def test_a_store_without_a_summary_is_not_merged(at: str) -> None:
    with Store.open(f"{at}/a.db") as store:
        values.begun(store)
        _held(store)
        values.alter(store, "DELETE FROM summary")
    with pytest.raises(StoreError, match=r"stage converse of .* has no summary that fits it"):
        merge_stores([f"{at}/a.db"], f"{at}/c.db")
