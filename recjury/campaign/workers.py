"""What runs in Ray's actors: the owner of store and budget, and workers that play trials."""

import asyncio
import hashlib
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import recjury
from recjury import plugins
from recjury.campaign.config import Config
from recjury.campaign.plan import trial_of
from recjury.campaign.prepare import prepared
from recjury.campaign.run import advance, budget_of
from recjury.errors import BatchPending, Stop, UserError
from recjury.llm import Budget, Model, gather
from recjury.llm.budget import Spent
from recjury.records import Completion, ConversationLog, Finding, Request, Unit
from recjury.store import Store, Todo


class Job(NamedTuple):
    """What all workers need: the campaign, its store, and the folder of the command.

    `code` is the digest of recjury where the command runs; each worker has a share of the limits,
    one in `workers`.
    """

    config: Config
    store: str
    limit: int | None
    fresh: Mapping[str, str]
    folder: str
    code: str
    workers: int


class Counted(NamedTuple):
    """What a worker has done so far: calls sent, and calls found in the store."""

    sent: int
    reused: int


def code_of_recjury() -> str:
    """16 hex digits over all of recjury's modules."""
    found = hashlib.sha256()
    folder = Path(recjury.__file__).parent
    for path in sorted(folder.rglob("*.py")):
        found.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return found.hexdigest()[:16]


class Owner:
    """The only one who writes to the store and spends the budget."""

    def __init__(self, config: Config, store: str):
        """Opens the store. Raises UserError."""
        self._store = Store(store)
        self._budget = budget_of(config, self._store)
        self._held: dict[tuple[int, int], AsyncExitStack] = {}
        self._last = 0

    async def call(self, method: str, *arguments: Any, **named: Any) -> Any:
        """What a method of Recorder or Keeper returns."""
        return await getattr(self._store, method)(*arguments, **named)

    async def reserve(self, worker: int, typical: Spent) -> int:
        """A number under which a part of the budget is reserved. Raises Stop."""
        held = AsyncExitStack()
        await held.enter_async_context(self._budget.reserve(typical))
        self._last += 1
        self._held[worker, self._last] = held
        return self._last

    async def release(self, worker: int, number: int, cost: Spent) -> None:
        """Give back what was reserved, and count what was spent."""
        self._budget.settle(cost)
        if held := self._held.pop((worker, number), None):
            await held.aclose()

    async def forget(self, worker: int) -> None:
        """Give back what a lost worker had reserved."""
        for key in [key for key in self._held if key[0] == worker]:
            await self._held.pop(key).aclose()

    def close(self) -> None:
        """Close the store."""
        self._store.close()


class RemoteStore:
    """Recorder and Keeper, over the actor that owns the store."""

    def __init__(self, owner: Any):
        self._owner = owner

    async def recall(self, calls: Sequence[str]) -> dict[str, Completion]:
        """The stored completions, by call."""
        found: dict[str, Completion] = await self._call("recall", calls)
        return found

    async def record(
        self, done: Sequence[Completion], request: Request, model: str, unit: Unit
    ) -> dict[str, Completion]:
        """What the store has now, by call."""
        found: dict[str, Completion] = await self._call("record", done, request, model, unit)
        return found

    async def log(self, conversation: str) -> ConversationLog | None:
        """The log of a conversation that is done."""
        log: ConversationLog | None = await self._call("log", conversation)
        return log

    async def save_log(
        self, conversation: str, log: ConversationLog, *, play: str, seconds: Sequence[float]
    ) -> None:
        """Keep a finished or failed conversation."""
        await self._call("save_log", conversation, log, play=play, seconds=seconds)

    async def save_failure(self, conversation: str, reason: str, *, tries: int) -> None:
        """Keep why the user could not speak."""
        await self._call("save_failure", conversation, reason, tries=tries)

    async def save_evaluation(
        self,
        conversation: str,
        evaluator: str,
        judging: int,
        findings: Sequence[Finding],
        *,
        tries: int,
    ) -> None:
        """Keep what was found."""
        await self._call(
            "save_evaluation", conversation, evaluator, judging, list(findings), tries=tries
        )

    async def _call(self, method: str, *arguments: Any, **named: Any) -> Any:
        return await answered(self._owner.call.remote(method, *arguments, **named))


class RemoteBudget(Budget):
    """The part of the owner's budget that a worker asks for, call by call."""

    def __init__(self, owner: Any, worker: int, dollars: float | None, tokens: int | None):
        super().__init__(dollars, tokens=tokens)
        self._owner, self._worker = owner, worker
        self._costs: dict[asyncio.Task[Any] | None, Spent] = {}

    @asynccontextmanager
    async def reserve(self, typical: Spent) -> AsyncIterator[None]:
        """Wait until the owner has room. Raises Stop."""
        if not self.is_limited:
            yield
            return
        task = asyncio.current_task()
        number = await answered(self._owner.reserve.remote(self._worker, typical))
        try:
            yield
        finally:
            cost = self._costs.pop(task, Spent())
            await answered(self._owner.release.remote(self._worker, number, cost))

    def settle(self, cost: Spent) -> None:
        """Count what the call of this task did cost."""
        if self.is_limited:
            self._costs[asyncio.current_task()] = cost


class Worker:
    """Plays and rates trials, in a process of its own."""

    def __init__(self, number: int, job: Job, owner: Any):
        """`open` opens what the campaign names."""
        self._number, self._job, self._owner = number, job, owner
        self._keeper, self._stack = RemoteStore(owner), AsyncExitStack()

    async def open(self) -> str:
        """Why this worker cannot work, in a line, or nothing."""
        job = self._job
        if job.code != code_of_recjury():
            return f"{socket.gethostname()} has other code of recjury: install the same one there"
        with suppress(OSError):
            os.chdir(job.folder)
        plugins.look_in(job.folder)
        spending = job.config.budget
        limits = (spending.dollars, spending.tokens) if spending else (None, None)
        try:
            self._ready = await self._stack.enter_async_context(
                prepared(
                    with_share(job.config, job.workers),
                    self._keeper,
                    budget=RemoteBudget(self._owner, self._number, *limits),
                    limit=job.limit,
                    fresh=job.fresh,
                )
            )
        except UserError as error:
            return f"{socket.gethostname()}: {error}"
        return ""

    async def work(self, todo: Sequence[Todo]) -> Counted:
        """Play and rate trials. Raises Stop."""

        async def step(left: Todo) -> None:
            with suppress(BatchPending):
                await advance(trial_of(left, self._ready), left, self._ready, self._keeper)

        await gather(step(left) for left in todo)
        return Counted(self._ready.gateway.sent, self._ready.gateway.reused)

    async def close(self) -> None:
        """Wait for open calls, which are paid for, and close everything."""
        await self._stack.aclose()


async def answered(reference: Awaitable[Any]) -> Any:
    """What an actor returns. What it raises is raised as it was, and not as Ray wraps it."""
    from ray.exceptions import RayTaskError

    try:
        return await reference
    except RayTaskError as error:
        raise error.cause if isinstance(error.cause, Exception) else Stop(str(error)) from None


def with_share(config: Config, workers: int) -> Config:
    """The campaign with one worker's share of each limit; each share is at least 1."""

    def share(limit: Any) -> int | None:
        return None if limit is None else max(1, int(limit) // workers)

    def of(model: Model) -> Model:
        names = ("concurrency", "requests_per_minute", "tokens_per_minute")
        return model.model_copy(update={name: share(getattr(model, name)) for name in names})

    systems = tuple(
        {**part, "concurrency": share(part["concurrency"])} if part.get("concurrency") else part
        for part in config.systems
    )
    models = {alias: of(model) for alias, model in config.models.items()}
    shared = config.model_copy(update={"systems": systems, "models": models})
    shared._file = None
    return shared
