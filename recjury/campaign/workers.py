"""What runs in Ray's actors: the owner of store and budget, hosts of weights, and workers."""

import asyncio
import hashlib
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import recjury
from recjury import plugins
from recjury.agents import Elsewhere, load_system
from recjury.campaign.config import Config
from recjury.campaign.judging import Recorded, to_rate
from recjury.campaign.prepare import Prepared, corpora_of, prepared
from recjury.campaign.run import budget_of, to_play
from recjury.errors import BatchPending, Stop, UserError
from recjury.llm import Budget, Model, gather
from recjury.llm.budget import Spent
from recjury.records import (
    Conversation,
    SystemReply,
)
from recjury.store import Store, Todo


class Job(NamedTuple):
    """What all workers need: the campaign, its store, and the folder of the command.

    `code` is the digest of recjury where the command runs, and `parts` are the identities of all
    parts. Each worker has a share of the limits, one in `workers`.
    """

    config: Config
    store: str
    limit: int | None
    fresh: Mapping[str, str]
    folder: str
    code: str
    parts: Mapping[str, str]
    workers: int
    only_rates: bool
    elsewhere: Elsewhere


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


def parts_of(ready: Prepared) -> dict[str, str]:
    """The identities of corpora, systems, users and evaluators: one code has the same ones."""
    return {
        **{f"corpus {name}": corpus.digest for name, corpus in ready.corpora.items()},
        **{f"system {' over '.join(key)}": each.version for key, each in ready.systems.items()},
        **{f"user {name}": user.version for name, user in ready.users.items()},
        **{f"evaluator {each.name}": id_ for id_, each in ready.evaluators.items()},
    }


@contextmanager
def at_work(job: Job) -> Iterator[None]:
    """Begin in the folder of the command. What a user can mend is said with the machine's name."""
    try:
        if job.code != code_of_recjury():
            raise UserError("another recjury is installed there: install the same one")
        with suppress(OSError):
            os.chdir(job.folder)
        plugins.look_in(job.config.folder)
        yield
    except UserError as error:
        raise UserError(f"{socket.gethostname()}: {error}") from None


class Host:
    """A neural system, whose weights answer all workers. One that is lost loads them again."""

    def __init__(self, job: Job, settings: Mapping[str, Any], corpus: str):
        """`open` loads the weights."""
        self._job, self._settings, self._corpus = job, settings, corpus

    @cached_property
    def _loaded(self) -> Any:
        with at_work(self._job):
            corpus = corpora_of(self._job.config, self._job.limit)[self._corpus]
            return load_system(self._settings, corpus, lambda *_: {})

    def open(self) -> str:
        """The version of what is loaded. Raises UserError."""
        return str(self._loaded.version)

    async def respond(self, conversation: Conversation) -> SystemReply:
        """The reply to one conversation; those that wait are answered together."""
        reply: SystemReply = await self._loaded.system.respond(conversation)
        return reply


class RemoteSystem:
    """A system over the host of its weights."""

    def __init__(self, host: Any, version: str):
        self._host, self.version = host, version

    async def respond(self, conversation: Conversation) -> SystemReply:
        """The reply to one conversation. Raises Stop if no machine keeps the weights."""
        from ray.exceptions import RayActorError

        try:
            reply: SystemReply = await answered(self._host.respond.remote(conversation))
        except RayActorError as error:
            raise Stop(f"the weights of a system are lost again and again: {error}") from None
        return reply


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
    """Recorder and Keeper, over the actor that owns the store: each method is called there."""

    def __init__(self, owner: Any):
        self._owner = owner

    def __getattr__(self, method: str) -> Any:
        if method.startswith("_"):  # a copy of it asks for these before it has an owner
            raise AttributeError(method)

        async def call(*arguments: Any, **named: Any) -> Any:
            return await answered(self._owner.call.remote(method, *arguments, **named))

        return call


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

    async def open(self) -> None:
        """Open all parts. Raises UserError for those that this machine lacks, or has otherwise."""
        job, spending = self._job, self._job.config.budget
        limits = (spending.dollars, spending.tokens) if spending else (None, None)
        with at_work(job):
            self._ready = await self._stack.enter_async_context(
                prepared(
                    with_share(job.config, job.workers),
                    self._keeper,
                    budget=RemoteBudget(self._owner, self._number, *limits),
                    limit=job.limit,
                    fresh=job.fresh,
                    load=partial(load_system, elsewhere=job.elsewhere),
                    only_rates=job.only_rates,
                )
            )
            if differing := sorted(dict(job.parts.items() ^ parts_of(self._ready).items())):
                raise UserError(f"the {differing[0]} is of other code or files there: bring these")
        work = to_rate(Recorded((), {}), self._ready, self._keeper) if job.only_rates else None
        self._step = (work or to_play(self._ready, self._keeper)).step

    async def work(self, todo: Sequence[Todo]) -> Counted:
        """Play and rate trials. Raises Stop."""

        async def step(left: Todo) -> None:
            with suppress(BatchPending):
                await self._step(left)

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
