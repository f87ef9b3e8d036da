"""Start workers on a Ray cluster, show what they do, and end with what they return.

They share the campaign by leases in the store, as processes that are started by hand: Ray starts
them, starts them again, and places them. Nothing is scheduled here.
"""

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from recjury.agents import System
from recjury.campaign import Progress, RunResult
from recjury.campaign.identity import campaign_id
from recjury.campaign.progress import UnitCounts
from recjury.cluster.worker import CampaignWorker, Job, SystemActor, most_workers
from recjury.errors import ConfigError, StoreError, UserError
from recjury.llm import GatewayUsage
from recjury.plugins.extras import require_packages
from recjury.store import BEAT_SECONDS, Store, location_of

_RESTARTS = 3
"""How often Ray starts a lost worker again; there are others."""
_STOP_SECONDS = 20.0
"""For workers that are stopped to write what they have."""
_ANSWER_SECONDS = 5.0
"""A network that drops what is sent would be waited for for minutes."""
_NEURAL = ("kbrd", "barcor", "unicrs")
_KEPT = "what was finished is kept: run the same command to continue"


@dataclass(frozen=True)
class Cluster:
    """Where the workers run: `address` of a cluster ("HOST:PORT", "auto"; None: this machine alone)
    and their number (None: one for each CPU, but not more than the smallest limit)."""

    address: str | None = None
    workers: int | None = None


async def run_on_cluster(job: Job, cluster: Cluster, progress: Progress) -> RunResult:
    """Run a campaign, or continue it, on a Ray cluster; its result is that of `run_campaign`.

    Raises UserError as that does, without Ray, for a cluster that cannot be reached or that goes
    away, for a store that other machines cannot reach, and for more workers than a limit allows.
    """
    most = most_workers(job.config)
    if cluster.workers is not None and cluster.workers > most:
        raise ConfigError(f"--workers {cluster.workers}: the smallest limit of the file is {most}")
    require_packages("--executor ray", ("ray",), "pip install 'recjury[cluster]'")
    location = location_of(job.store)
    is_file = location.connect().dialect.name == "sqlite"
    async with _connected(cluster) as cpus:
        if is_file and not _is_one_machine():
            raise ConfigError(
                f"the machines of a cluster cannot share the file {location}: name a store in "
                "PostgreSQL, --store postgresql://user@host/database"
            )
        number = cluster.workers or min(cpus, most)
        progress.beginning = f"waiting for {number} Ray workers, which load data and systems"
        workers = _Workers(replace(job, workers=number), is_here=cluster.address is None)
        async with workers:
            return await workers.ended(progress)


@contextlib.asynccontextmanager
async def _connected(cluster: Cluster) -> AsyncIterator[int]:
    """A connection to the cluster, which is started if it is this machine; its number of CPUs."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray's own, 15, has workers wait for everything else that the machine does.
    os.environ.setdefault("RAY_worker_niceness", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    await _check_address(cluster.address)
    ray = _ray()
    options: dict[str, Any] = {"address": cluster.address}
    if cluster.address is None:
        cpus = max(os.cpu_count() or 1, cluster.workers or 0)
        options = {"address": "local", "num_cpus": cpus, "include_dashboard": False}
    try:
        ray.init(logging_level=logging.ERROR, log_to_driver=False, **options)
    except (ConnectionError, RuntimeError, ValueError) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        # Ray's libraries print the reason, and its error does not have it.
        hint = ": see the lines above; for InvalidAuthToken, set RAY_AUTH_MODE and Ray's token as "
        hint = f"{hint}on the head" if isinstance(error, ConnectionError) else ""
        raise ConfigError(
            f"the Ray cluster {cluster.address or ''} cannot be used: {said}{hint}"
        ) from error
    try:
        yield int(ray.cluster_resources().get("CPU", 1))
    finally:
        ray.shutdown()


def _ray() -> Any:
    """Ray, imported late: it takes seconds, and few of its functions have types."""
    import ray

    return ray


def _is_one_machine() -> bool:
    ray = _ray()
    here = ray.util.get_node_ip_address()
    return {each["NodeManagerAddress"] for each in ray.nodes() if each["Alive"]} <= {here}


class _Workers:
    """The actors of a campaign."""

    def __init__(self, job: Job, *, is_here: bool):
        ray = _ray()
        systems = {
            each.name: _actor_of(job, each) for each in job.config.systems if each.kind in _NEURAL
        }
        job = replace(job, systems=systems)
        options = {"max_restarts": _RESTARTS, "max_task_retries": _RESTARTS, "max_concurrency": 2}
        spread = {} if is_here else {"scheduling_strategy": "SPREAD"}
        actor = ray.remote(CampaignWorker).options(num_cpus=1, **options, **spread)
        self._job = job
        self._actors = [actor.remote(replace(job, number=n)) for n in range(job.workers)]
        self._running: list[asyncio.Future[Any]] = []
        self._head = str(ray.get_runtime_context().gcs_address)

    async def __aenter__(self) -> "_Workers":
        """Start them."""
        self._running = [asyncio.wrap_future(each.run.remote().future()) for each in self._actors]
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop those that run, so that their leases are free."""
        ray = _ray()
        going = [each for each in self._running if not each.done()]
        if going:
            for each in self._actors:
                each.stop.remote()
            await asyncio.wait(going, timeout=_STOP_SECONDS)
        for each in self._actors:
            with suppress(Exception):  # its node may be gone
                ray.kill(each)
        for each in self._running:
            each.cancel() if not each.done() else each.exception()

    async def ended(self, progress: Progress) -> RunResult:
        """Wait until they have ended. One that found nothing more to do has waited for the others,
        except for those that had no place to start, or shared a budget."""
        seen = _Seen(self._job, progress)
        async for _ in until_all_end(self._running):
            if not await answers(self._head):
                raise UserError(f"the cluster has gone: {_KEPT}")
            await asyncio.to_thread(seen.look)
            if any(_result(each) for each in self._running) and not seen.is_running:
                break
        results = [found for each in self._running if (found := _result(each)) is not None]
        if not results:
            raise UserError(f"all workers were lost: {_reason(self._running)}; {_KEPT}")
        return together(results)


async def until_all_end(running: Sequence["asyncio.Future[Any]"]) -> AsyncIterator[None]:
    """Whenever one has ended, and every second, until all have."""
    while going := [each for each in running if not each.done()]:
        await asyncio.wait(going, timeout=BEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        yield


async def _check_address(address: str | None) -> None:
    """Raise ConfigError at once for a cluster that is not there: Ray tries for two minutes."""
    if address not in (None, "auto") and not await answers(address):
        raise ConfigError(
            f"the Ray cluster {address} does not answer: give its head as HOST:PORT, or auto on "
            "one of its nodes"
        )


async def answers(address: str) -> bool:
    """Whether the cluster's head takes a connection soon. Ray's own functions wait a minute for
    it, and then end the process."""
    host, _, port = address.rpartition(":")
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            _, writer = await asyncio.open_connection(host, int(port))
    except (OSError, ValueError):  # nobody there or too late, or no number
        return False
    writer.close()
    return True


def _result(ended: "asyncio.Future[Any]") -> RunResult | None:
    """What a worker returned; None if it has not ended, or was lost. Raises UserError."""
    from ray.exceptions import RayActorError, RaySystemError

    if not ended.done():
        return None
    try:
        found: RunResult | str | None = ended.result()
    except (RayActorError, RaySystemError):
        return None
    if isinstance(found, str):
        raise UserError(found)
    return found


def _reason(lost: Sequence["asyncio.Future[Any]"]) -> str:
    """Why the last one was lost: the last line of what Ray says."""
    error = lost[-1].exception()
    return str(error).strip().splitlines()[-1].strip() if error is not None else "stopped"


def together(results: Sequence[RunResult]) -> RunResult:
    """The result of the worker that ended last, with what failed in any of them, each once."""
    last = max(results, key=lambda each: each.done)
    if last.done == last.planned:
        return last._replace(failures=frozenset(), held_back=None)
    return last._replace(failures=frozenset[str]().union(*(each.failures for each in results)))


def _actor_of(job: Job, system: System) -> Any:
    ray = _ray()
    device = str(getattr(system, "device", "cpu"))
    uses_gpu = device.startswith("cuda")
    if uses_gpu:  # Ray shows an actor only its own
        system = system.model_copy(update={"device": "cuda"})
    actor = ray.remote(SystemActor).options(
        num_cpus=0, num_gpus=int(uses_gpu), max_restarts=_RESTARTS, max_task_retries=_RESTARTS
    )
    return actor.remote(job, system)


class _Seen:
    """What the store says of the running campaign, as its progress."""

    def __init__(self, job: Job, progress: Progress):
        self._job, self._progress, self.is_running = job, progress, True
        self._campaign = campaign_id(job.config)
        self._has_begun = False

    def look(self) -> None:
        """Look once. A store that does not answer is looked at again; its workers say why."""
        with suppress(StoreError), Store.open(self._job.store, read_only=True) as store:
            counts, spent = store.counts(self._campaign), store.spent(self._campaign)
            self.is_running = store.running(self._campaign).is_running
            units = UnitCounts(*counts.conversations)
            of = {label: UnitCounts(*each) for label, each in counts.evaluations.items()}
            if not self._has_begun and units.planned:
                self._has_begun = True
                self._progress.begin(units, of)
                self._progress.usage = GatewayUsage() if self._job.config.has_models else None
            self._progress.conversations, self._progress.evaluations = units, of
            if (usage := self._progress.usage) is not None:
                usage.calls, usage.cost = spent.calls, spent.cost or 0.0
                usage.prompt_tokens = spent.prompt_tokens
                usage.completion_tokens = spent.completion_tokens
                usage.unpriced = 0 if spent.cost is not None else spent.calls
