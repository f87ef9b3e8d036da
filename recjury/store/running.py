"""A campaign while processes run it: what each says and leases, and how its limits are changed."""

import asyncio
import contextlib
import secrets
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import orjson
from sqlalchemy import Connection

from recjury.errors import StoreError
from recjury.records import JSON, Elsewhere
from recjury.store.spending import Own, write_spending
from recjury.store.workers import (
    Lease,
    add_wishes,
    answer_wish,
    beat,
    end_lease,
    find_wish,
    known_workers,
    lease,
    leave,
    living_workers,
    remove_wishes,
    take_wish,
    whose,
    wishes_of,
    withdraw_wish,
)
from recjury.store.writer import Transaction

T = TypeVar("T")

BEAT_SECONDS = 1.0
"""How often a process says that it lives, and looks at what is asked of it."""

_BUSY_SECONDS = 10.0
"""How often a thread says it as well: nothing else does while a plan is written."""

_LOOK_AGAIN = 0.1  # seconds between two looks for an answer
_ANSWER_SECONDS = 5.0  # for an answer to a wish that was taken


class Access(Protocol):
    """How a store is read and written."""

    def read(self, read: Callable[[Connection], T]) -> T:
        """What `read` returns."""

    def write(self, write: Callable[[Transaction], T]) -> T:
        """What `write` returns, once it is committed."""

    def queue(self, write: Callable[[Transaction], object], *results_of: object) -> Awaitable[None]:
        """Share a transaction with others that write; done when it is committed.

        `results_of` are the units of which it writes results (`store.kept_counts.counting`).
        """


class RunningCampaign:
    """A campaign of a store, which processes may be running."""

    def __init__(self, store: Access, campaign: str):
        """It reads and writes in `store`."""
        self.campaign = campaign
        self._store = store

    @property
    def is_running(self) -> bool:
        """Whether a process runs it."""
        return bool(self._living())

    @property
    def state(self) -> dict[str, JSON] | None:
        """What the running processes said last, numbers added up; None if there is none."""
        states = [orjson.loads(each.state) for each in self._living()]
        found: dict[str, JSON] | None = _together([each for each in states if each])
        return found

    def _living(self) -> list[Any]:
        return self._store.read(lambda connection: living_workers(connection, self.campaign))

    def ask(self, settings: Mapping[str, JSON], patience: float) -> None:
        """Have each running process change its settings, within `patience` seconds.

        Raises StoreError if nobody runs the campaign, or if a process does not change them; then it
        does not change them later either.
        """
        # Who may not ask is told so, whoever runs.
        self._store.write(lambda transaction: remove_wishes(transaction, ()))
        asked = {secrets.token_hex(8): each.id for each in self._living()}
        if not asked:
            raise StoreError(
                f"campaign {self.campaign} is not running: set it in the campaign file, or with "
                "the options of `recjury run`"
            )
        self._store.write(lambda transaction: add_wishes(transaction, asked, settings))
        try:
            problems = [self._problem(each, patience) for each in asked]
        finally:
            self._store.write(lambda transaction: remove_wishes(transaction, asked))
        if problem := next(filter(None, problems), None):
            raise StoreError(f"campaign {self.campaign}: {problem}")

    def _problem(self, wish: str, patience: float) -> str | None:
        """Why nothing was changed; None if the process answers that it has changed the settings."""
        until = time.monotonic() + patience
        while True:
            row = self._store.read(lambda connection: find_wish(connection, wish))
            if row is None:
                return "not changed: its run has ended"
            if row.answer is not None:
                refused = orjson.loads(row.answer)
                return None if refused is None else f"not changed: {refused}"
            if time.monotonic() > until + _ANSWER_SECONDS * row.taken:
                if row.taken:
                    return "asked for, but its process does not say whether it has changed it"
                if self._store.write(lambda transaction: withdraw_wish(transaction, wish)):
                    return (
                        f"not changed: its process did not look within {patience:g} seconds; it "
                        "begins, ends, or is very busy: try again"
                    )
            time.sleep(_LOOK_AGAIN)


def _together(states: Sequence[Any]) -> Any:
    """What several processes say, as if one had said it; None if there is none."""
    if not states:
        return None
    first = states[0]
    if isinstance(first, dict):
        keys = dict.fromkeys(key for each in states for key in each)
        return {key: _together([each[key] for each in states if key in each]) for key in keys}
    if isinstance(first, list):
        return list(dict.fromkeys(one for each in states for one in each))
    return sum(states) if isinstance(first, int | float) else first


class Worker:
    """This process, as one that runs a campaign."""

    def __init__(self, store: Access, campaign: str):
        """Use `Store.working`."""
        self.campaign = campaign
        self._store = store
        self._id = secrets.token_hex(8)
        self._state: Mapping[str, JSON] = {}
        self._has_ended = threading.Event()

    @contextlib.contextmanager
    def registered(self) -> Iterator["Worker"]:
        """Known to other processes until the end of the block. Raises StoreError."""
        self._store.write(self._beat)
        thread = threading.Thread(target=self._go_on, name="recjury-beat", daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._has_ended.set()
            thread.join()
            # What cannot be written now ends by itself, once this process has been silent.
            with contextlib.suppress(StoreError):
                self._store.write(lambda transaction: leave(transaction, self.campaign, self._id))

    async def beat(self, state: Mapping[str, JSON]) -> None:
        """Say that this process lives, and what is open. Raises StoreError."""
        self._state = state
        await self._store.queue(self._beat)

    def _beat(self, transaction: Transaction) -> None:
        if not self._has_ended.is_set():  # it may have waited for the writer
            beat(transaction, self.campaign, self._id, self._state)

    def _go_on(self) -> None:
        """Say that this process lives while it is busy with something else."""
        while not self._has_ended.wait(_BUSY_SECONDS):
            with contextlib.suppress(StoreError):
                self._store.write(self._beat)

    @contextlib.asynccontextmanager
    async def leased(self, unit: str, *, waits: bool = True) -> AsyncIterator[bool | None]:
        """Wait until no other process works on a unit, and keep others from it in the block.

        The block gets whether another process has done the unit in this run; without `waits`, it
        gets None if one works on it. Raises StoreError.
        """
        about = (self.campaign, self._id, unit)
        while (found := await self._lease(*about)) is Lease.ELSEWHERE:
            if not waits:
                yield None
                return
            await asyncio.sleep(BEAT_SECONDS)
        yield found is Lease.ENDED
        await self._store.queue(lambda transaction: end_lease(transaction, *about))

    async def _lease(self, campaign: str, worker: str, unit: str) -> Lease:
        about = (campaign, worker, unit)
        await self._store.queue(lambda transaction: lease(transaction, *about))
        return self._store.read(lambda connection: whose(connection, *about))

    def start(self, count: int) -> int:
        """At which of `count` units to start: the first, or one of its own if others run the
        campaign, too. Then they seldom come to the same one at the same time."""
        living = self._store.read(lambda connection: living_workers(connection, self.campaign))
        return int(self._id, 16) % count if count and len(living) > 1 else 0

    def ledger(self, unit: str) -> "WorkerLedger":
        """Where it shares a budget in this unit (dollars or tokens) with the other processes."""
        return WorkerLedger(self._store, (self.campaign, unit, self._id))

    def take_wishes(self) -> Iterator[tuple[str, dict[str, JSON]]]:
        """The settings that are asked for, each once, with a name for `answer`."""
        for row in self._store.read(lambda connection: wishes_of(connection, self._id)):
            if self._took(row.id):
                yield row.id, orjson.loads(row.settings)

    def _took(self, wish: str) -> bool:
        return self._store.write(lambda transaction: take_wish(transaction, wish))

    def answer(self, wish: str, refused: str | None = None) -> None:
        """Answer a wish: it was done, or why not."""
        self._store.write(lambda transaction: answer_wish(transaction, wish, refused))


class WorkerLedger:
    """The store's implementation of the protocol `Ledger`."""

    def __init__(self, store: Access, about: tuple[str, str, str]):
        """`about` are the campaign, the budget's unit and the process."""
        self._store, self._about = store, about
        self._written = self._before = 0.0

    async def write(
        self, spent: float, limit: float, reserve: Callable[[Elsewhere], float]
    ) -> Elsewhere:
        """As `Ledger.write`. Raises StoreError."""
        campaign, _, worker = self._about
        found = Elsewhere(0.0)

        def write(transaction: Transaction) -> None:
            nonlocal found
            known = known_workers(transaction.connection, campaign)
            others = sum(each.id != worker for each in known)
            own = Own(spent, limit, self._written, self._before)
            found, self._before = write_spending(transaction, self._about, others, own, reserve)

        await self._store.queue(write)
        self._written = max(self._written, spent)
        return found
