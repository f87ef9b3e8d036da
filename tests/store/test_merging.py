"""Stores that are merged or copied, at first, again, and in another order."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from recjury.errors import StoreError
from recjury.records import CallRecord, Debate, StageResult
from recjury.safe_text import hide_secret
from recjury.store import Store
from recjury.store import merging as merging_module
from recjury.store.mergeable import opened_target
from recjury.store.merging import Merged, copy_store, merge_stores
from recjury.store.sealed import SealedTable
from recjury.store.stage_results import ForkedEvaluation
from tests.store import values

KEY = "my-sensible-dataset"


@pytest.fixture
def at(tmp_path: Path) -> str:
    """Where stores are."""
    return f"sqlite:///{tmp_path}"


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


def test_forks_of_forks_are_copied(at: str, small_pages: list[int]) -> None:
    with Store.open(f"{at}/a.db") as store:
        values.begun(store)
        _held(store)
        _judged(store)
        _forked(store, *FORKS)
    rows = _verified(f"{at}/a.db")
    assert copy_store(f"{at}/a.db", f"{at}/c.db").rows == rows
    assert small_pages
    with Store.open(f"{at}/c.db", read_only=True) as store:
        assert store.evaluation(FORKS[2]).fork_of == FORKS[1]
    assert merge_stores([f"{at}/a.db"], f"{at}/c.db") == Merged()


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
