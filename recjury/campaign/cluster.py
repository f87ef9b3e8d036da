"""A run on a Ray cluster: scenarios are dealt to workers, and one actor owns the store."""

import asyncio
import logging
import os
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import groupby
from math import ceil
from pathlib import Path
from typing import Any

from recjury.agents import WITH_WEIGHTS, Elsewhere, is_neural
from recjury.campaign.prepare import Prepared
from recjury.campaign.run import FEWEST_OPEN, Progress
from recjury.campaign.workers import (
    Host,
    Job,
    Owner,
    RemoteSystem,
    Worker,
    answered,
    code_of_recjury,
    parts_of,
)
from recjury.errors import Stop, UserError
from recjury.llm import gather
from recjury.store import Todo

_WATCHING = 5.0  # seconds between two looks at whether a cluster is there
_ANSWER = 5.0  # seconds that the head of a cluster has for taking a connection
_CLOSING = 30.0  # seconds for open calls at the end
_LOST = 3  # workers that may be lost one after the other without any work done

Batch = tuple[Todo, ...]
"""What is left of one scenario: its trials meet in one process, so that they share calls."""


@dataclass(frozen=True)
class Cluster:
    """Where trials are worked off in place of this process.

    `address` is `HOST:PORT` or `auto`; without it, workers are processes of this machine. `workers`
    is their number, by default one for each CPU of the cluster.
    """

    store: str
    address: str = ""
    workers: int | None = None
    limit: int | None = None

    async def work_off(
        self,
        todo: Iterator[Todo],
        number: int,
        ready: Prepared,
        fresh: Mapping[str, str],
        progress: Callable[[Progress], None],
    ) -> None:
        """Deal what is left to workers. What a lost worker had is dealt again.

        Raises UserError for a cluster that is not there or lacks code, and Stop if it goes away.
        """
        ray = _ray()
        async with self._connected():
            cpus = int(ray.cluster_resources().get("CPU", 1))
            workers = self.workers or max(1, min(cpus, number))
            job = Job(
                config=ready.config,
                store=_reachable(self.store),
                limit=self.limit,
                fresh=fresh,
                folder=str(Path.cwd()),
                code=code_of_recjury(),
                parts=parts_of(ready),
                workers=workers,
                only_rates=not ready.systems,
                elsewhere={},
            )
            try:
                job = job._replace(elsewhere=await _hosted(job, ready))
            except ray.exceptions.RayError as error:
                raise _away(
                    "the Ray cluster loses a neural system while it is loaded", error
                ) from None
            context = ray.get_runtime_context()
            here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
                context.get_node_id(), soft=False
            )
            owner = ray.remote(Owner).options(num_cpus=0, scheduling_strategy=here)
            store = owner.remote(job.config, job.store)
            crew = _Crew(job, store, ready, number, progress, context.gcs_address)
            try:
                await crew.work_off(todo)
            except ray.exceptions.RayError as error:
                raise _away("the Ray cluster goes away", error) from None
            finally:
                await crew.close()

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[None]:
        """A connection to the cluster; without an address, one is started on this machine."""
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_worker_niceness", "0")  # Ray's own, 15, waits for all else
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        ray = _ray()
        options: dict[str, Any] = {"address": self.address}
        if not self.address:
            cpus = max(os.cpu_count() or 1, self.workers or 0)
            options = {"address": "local", "num_cpus": cpus, "include_dashboard": False}
        elif self.address != "auto" and not await _answers(self.address):  # Ray tries for minutes
            raise UserError(
                f"the Ray cluster {self.address} does not answer: give its head as HOST:PORT, or "
                "auto on one of its machines"
            )
        try:
            ray.init(logging_level=logging.ERROR, log_to_driver=False, **options)
        except (ConnectionError, RuntimeError, ValueError) as error:
            said = (str(error) or type(error).__name__).splitlines()[0]
            raise UserError(f"the Ray cluster {self.address} cannot be used: {said}") from None
        try:
            yield
        finally:
            ray.shutdown()


@dataclass
class _Crew:
    """The workers of a run, and what they have still to do."""

    job: Job
    owner: Any
    ready: Prepared
    number: int
    progress: Callable[[Progress], None]
    head: str
    again: deque[Batch] = field(default_factory=deque)
    counts: dict[int, Any] = field(default_factory=dict)
    workers: dict[int, Any] = field(default_factory=dict)
    done: int = 0
    lost: int = 0

    async def work_off(self, todo: Iterator[Todo]) -> None:
        """Deal batches until none is left. Raises UserError, or Stop if all workers are lost."""
        batches = (tuple(of) for _, of in groupby(todo, lambda left: (left.corpus, left.scenario)))
        busy = gather(self._keep_busy(number, batches) for number in range(self.job.workers))
        working = asyncio.create_task(busy)
        try:
            # Of a head that is gone, Ray says nothing for a minute, and then ends the program.
            while not (await asyncio.wait([working], timeout=_WATCHING))[0]:
                if not await _answers(self.head):
                    raise Stop("the Ray cluster goes away: the same command goes on")
            await working
        finally:
            working.cancel()
            await asyncio.wait([working])

    async def _keep_busy(self, first: int, batches: Iterator[Batch]) -> None:
        """One worker after another, until nothing is left: a lost one is replaced."""
        for number in range(first, 1_000_000, self.job.workers):
            worker = _ray().remote(Worker).options(num_cpus=1, scheduling_strategy="SPREAD")
            self.workers[number] = worker.remote(number, self.job, self.owner)
            if await self._worked(number, batches):
                await self._end(number)  # its place is free for one that replaces a lost one
                return
            del self.workers[number]
            await answered(self.owner.forget.remote(number))

    async def _worked(self, number: int, batches: Iterator[Batch]) -> bool:
        """Whether the worker did its part until nothing was left; False if it was lost."""
        from ray.exceptions import RayActorError

        try:
            await answered(self.workers[number].open.remote())
            await gather(self._slot(number, batches) for _ in range(self._slots()))
        except RayActorError as error:
            self.lost += 1
            if self.lost > _LOST * self.job.workers:
                raise _away("the Ray cluster loses all workers", error) from None
            return False
        return True

    async def _slot(self, number: int, batches: Iterator[Batch]) -> None:
        """One batch after another. A batch that is lost is dealt again."""
        while (batch := self._next(batches)) is not None:
            try:
                self.counts[number] = await answered(self.workers[number].work.remote(batch))
            except BaseException:
                self.again.append(batch)
                raise
            self.lost = 0
            self._tell(len(batch))

    def _next(self, batches: Iterator[Batch]) -> Batch | None:
        return self.again.popleft() if self.again else next(batches, None)

    def _slots(self) -> int:
        """Batches that a worker has at once: as many conversations as models may have calls."""
        models = sum(model.concurrency for model in self.ready.config.models.values())
        places = max(FEWEST_OPEN, models // self.job.workers)
        trials = len(self.ready.systems) * len(self.ready.users) * self.ready.config.repeats
        return max(1, places // max(1, trials // max(1, len(self.ready.corpora))))

    def _tell(self, done: int) -> None:
        self.done += done
        gateway = self.ready.gateway
        gateway.sent = sum(count.sent for count in self.counts.values())
        gateway.reused = sum(count.reused for count in self.counts.values())
        self.progress(Progress(self.done, self.number, gateway.sent, gateway.reused))

    async def _end(self, number: int) -> None:
        """Let a worker end its open calls, which are paid for, and then the worker itself."""
        worker = self.workers.pop(number)
        with suppress(Exception):  # its node may be gone
            async with asyncio.timeout(_CLOSING):
                await answered(worker.close.remote())
            _ray().kill(worker)

    async def close(self) -> None:
        """End all workers, and close the store, if the cluster is there."""
        if not await _answers(self.head):
            return
        await asyncio.gather(*(self._end(number) for number in list(self.workers)))
        with suppress(Exception):
            async with asyncio.timeout(_CLOSING):
                await answered(self.owner.close.remote())


def _ray() -> Any:
    """Ray, imported late: it takes seconds, and few of its functions have types."""
    try:
        import ray
    except ImportError:
        raise UserError("--executor ray needs Ray: pip install 'recjury[cluster]'") from None
    import ray.util.scheduling_strategies

    return ray


async def _hosted(job: Job, ready: Prepared) -> Elsewhere:
    """The neural systems, each in one actor for all workers: on a share of the free GPUs, if any.

    Raises UserError for weights that a machine lacks.
    """
    ray = _ray()
    neural = {key: system for key, system in ready.systems.items() if is_neural(system)}
    if not neural:
        return {}
    gpus = int(ray.available_resources().get("GPU", 0))
    share = gpus and 1 / ceil(len(neural) / gpus)
    found: dict[tuple[str, str], Any] = {}
    for key, system in neural.items():
        given = {"device": "cuda"} if share and isinstance(system.settings, WITH_WEIGHTS) else {}
        settings = given | system.settings.model_dump(exclude_unset=True)
        host = ray.remote(Host).options(
            num_cpus=0,
            num_gpus=share,
            max_restarts=_LOST,
            max_task_retries=-1,
            scheduling_strategy="SPREAD",
        )
        actor = host.remote(job, settings, key[1])
        found[key] = RemoteSystem(actor, await answered(actor.open.remote()))
    return found


def _away(what: str, error: Exception) -> Stop:
    """Why a run stops. What an actor raised while it was made stands at the end of its error."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    reason = lines[-1 if getattr(error, "actor_init_failed", False) else 0]
    return Stop(f"{what}: {reason} The same command goes on")


def _reachable(store: str) -> str:
    """The store for its actor, which runs on this machine: of a file, the whole path."""
    return store if "://" in store else str(Path(store).absolute())


async def _answers(head: str) -> bool:
    """Whether the head of a cluster takes connections."""
    host, _, port = head.rpartition(":")
    try:
        async with asyncio.timeout(_ANSWER):
            _, writer = await asyncio.open_connection(host, int(port))
    except (OSError, ValueError):
        return False
    writer.close()
    return True
