"""Processes that share a campaign: who lives, whose units are whose, and what each has spent."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import select, update

from recjury.llm.budget import Budget, BudgetSpec
from recjury.store import Lease, Store, Worker, running
from recjury.store.tables import table_of
from recjury.store.workers import WorkerRow, beat, lease, whose
from recjury.store.writer import Transaction
from tests.store.values import CAMPAIGN, call, campaign

_WORKERS = table_of(WorkerRow)
MINUTE = 61


@pytest.fixture(name="store")
def _store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path}/store.db") as store:
        store.begin(campaign())
        yield store


def _silence(store: Store, *workers: str) -> None:
    """Have processes, or all, be silent for more than a minute."""

    def age(transaction: Transaction) -> None:
        which = [_WORKERS.c.id.in_(workers)] if workers else []
        aged = update(_WORKERS).where(*which).values(seen=_WORKERS.c.seen - MINUTE)
        transaction.connection.execute(aged)

    store.write(age)


def _beat(store: Store, worker: str) -> None:
    store.write(partial(beat, campaign=CAMPAIGN, worker=worker, state={}))


def _leased(store: Store, worker: str, unit: str = "unit") -> Lease:
    store.write(partial(lease, campaign=CAMPAIGN, worker=worker, unit=unit))
    return _whose(store, worker, unit)


def _whose(store: Store, worker: str, unit: str) -> Lease:
    return store.read(partial(whose, campaign=CAMPAIGN, worker=worker, unit=unit))


def _dead_process() -> int:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    return dead.pid


def test_a_process_that_was_suspended_keeps_its_leases_while_others_are_dead(store: Store) -> None:
    _beat(store, "first")
    _beat(store, "second")
    assert _leased(store, "first") is Lease.OURS
    _silence(store)
    for living in (["first", "second"], ["first"]):  # the second one has a second to say so, too
        _beat(store, "first")
        assert store.read(lambda own: own.execute(select(_WORKERS.c.id)).scalars().all()) == living
        assert _whose(store, "first", "unit") is Lease.OURS


def test_what_was_leased_before_a_forgotten_process_was_known_again_is_free(store: Store) -> None:
    _beat(store, "first")
    assert _leased(store, "unknown") is Lease.OURS
    assert _leased(store, "first") is Lease.OURS


def test_a_process_with_other_numbers_is_not_dead(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = _dead_process()
    with monkeypatch.context() as container:  # with the machine's name, but its own numbers
        container.setattr(os, "readlink", lambda _: "pid:[1]")
        container.setattr(os, "getpid", lambda: dead)
        _beat(store, "contained")
    assert store.running(CAMPAIGN).is_running
    with monkeypatch.context() as here:
        here.setattr(os, "getpid", lambda: dead)
        _beat(store, "contained")
    assert not store.running(CAMPAIGN).is_running


def test_a_process_says_that_it_lives_while_it_is_busy(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_BUSY_SECONDS", 0.05)
    with store.working(CAMPAIGN):
        _silence(store)
        while not store.running(CAMPAIGN).is_running:
            time.sleep(0.01)
    assert not store.running(CAMPAIGN).is_running


def test_what_is_said_too_late_is_not_written(store: Store) -> None:
    with store.working(CAMPAIGN) as worker:
        pass
    asyncio.run(worker.beat({}))
    assert not store.running(CAMPAIGN).is_running


class _Process:
    """A process with a budget of $10 that it shares, whose calls take $0.25."""

    def __init__(self, store: Store, worker: Worker):
        self.id, self.worker, self._store = worker._id, worker, store
        self.budget = Budget(BudgetSpec(dollars=10))
        self.budget.share(worker.ledger("USD"))

    async def call(self, number: int) -> None:
        await self.budget.reserve(1)
        self.budget.settle(1, 0.25)
        async with self._store.recorder() as recorder:
            await recorder.record(call(number)._replace(unit=CAMPAIGN))
        await self.budget.publish()

    async def known(self) -> float:
        """What it knows to be spent, after it has said that it lives."""
        await self.worker.beat({})
        await self.budget.publish()
        return self.budget.spent


def test_what_a_process_spent_that_was_taken_for_dead_counts_once(store: Store) -> None:
    async def run(first: _Process, second: _Process) -> None:
        await first.call(1)
        await second.call(2)
        _silence(store, first.id)
        assert await second.known() == 0.5
        for _ in range(2):
            assert [await first.known(), await second.known()] == [0.5, 0.5]
        await first.call(3)
        assert [await first.known(), await second.known()] == [0.75, 0.75]

    with store.working(CAMPAIGN) as first, store.working(CAMPAIGN) as second:
        asyncio.run(run(_Process(store, first), _Process(store, second)))


def test_what_a_process_spent_before_another_one_began_alone_counts_once(store: Store) -> None:
    async def run(first: _Process) -> None:
        await first.call(1)
        _silence(store, first.id)
        with store.working(CAMPAIGN) as worker:  # it finds nobody, and counts the calls
            second = _Process(store, worker)
            await second.call(2)
            for _ in range(2):
                assert [await first.known(), await second.known()] == [0.5, 0.5]
            await first.call(3)
            assert [await second.known(), await first.known()] == [0.75, 0.75]

    with store.working(CAMPAIGN) as first:
        asyncio.run(run(_Process(store, first)))
