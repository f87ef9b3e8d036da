"""What runs inside the actors: a worker of the campaign, and a system for all workers."""

import asyncio
import os
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from recjury.agents import System, SystemContext
from recjury.campaign import CampaignConfig, Retry, RunResult, run_campaign
from recjury.campaign.build import system_context
from recjury.campaign.plan import draw_scenarios
from recjury.campaign.provenance import code_digest
from recjury.cluster.shared_system import SharedSystem
from recjury.errors import UnitFailed, UserError
from recjury.llm import ModelSpec, event_loop
from recjury.records import JSON, Conversation, SystemReply
from recjury.store import Selection


@dataclass(frozen=True)
class Job:
    """What worker `number` of `workers` does, from 0; `systems` are the actors of shared systems by
    name. `folder` is where the command was started, and `code` that of recjury there."""

    config: CampaignConfig
    store: str
    limit: int | None
    retry: Retry
    selection: Selection
    folder: str
    code: str = field(default_factory=code_digest)
    workers: int = 1
    number: int = 0
    systems: Mapping[str, Any] = field(default_factory=dict)


class CampaignWorker:
    """Runs the campaign beside others, in an actor with two threads: `run` has its own event loop.

    It has no asynchronous method, or Ray would run all of them in one loop of its own.
    """

    def __init__(self, job: Job):
        """`run` does the job."""
        self._job = job
        self._running: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None
        self._is_stopped = False
        _work_in(job.folder)

    def run(self) -> RunResult | str | None:
        """How the run ended, the message of an error that the user can fix, or None if stopped."""
        if self._job.code != code_digest():
            return f"node {socket.gethostname()} has other code of recjury: install the same one"
        try:
            with event_loop() as runner:
                return runner.run(_run(self._job, self._begin))
        except UserError as error:
            return str(error)
        except asyncio.CancelledError:
            return None

    def _begin(self, task: "asyncio.Task[Any]") -> None:
        self._running = (task.get_loop(), task)
        if self._is_stopped:
            task.cancel()

    def stop(self) -> None:
        """End the run; what was finished is kept, and its leases are free."""
        self._is_stopped = True
        if self._running is not None:
            loop, task = self._running
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(task.cancel)


async def _run(job: Job, begin: Callable[["asyncio.Task[Any]"], None]) -> RunResult:
    task = asyncio.current_task()
    assert task is not None
    begin(task)
    return await run_campaign(
        with_its_part(job.config, job.workers, job.number),
        job.store,
        limit=job.limit,
        retry=job.retry,
        selection=job.selection,
        prepare=partial(_prepared, job.systems),
    )


class SystemActor:
    """A system that answers the conversations of all workers, as they come, in batches."""

    def __init__(self, job: Job, system: System):
        """`prepare` loads it."""
        self._job, self._system = job, system
        self._ready: dict[str, System] = {}
        _work_in(job.folder)

    def prepare(self, corpus: str) -> Mapping[str, JSON] | UserError:
        """Load what it needs for a corpus; its settings, or why it cannot be used."""
        try:
            return self._on(corpus).settings
        except UserError as error:
            return error

    def _on(self, corpus: str) -> System:
        if corpus not in self._ready:
            config = self._job.config
            drawn = draw_scenarios(config, self._job.limit)
            context = system_context(config, drawn.corpora[corpus], None)
            self._ready[corpus] = self._system.prepared(context)
        return self._ready[corpus]

    async def respond(self, corpus: str, conversation: Conversation) -> SystemReply | UnitFailed:
        """The answer, or why there is none."""
        try:
            return await self._on(corpus).respond(conversation)
        except UnitFailed as failure:
            return failure


def most_workers(config: CampaignConfig) -> int:
    """How many workers can have a part of each limit: as many as the smallest one."""
    models = [each.concurrency for each in config.all_models.values() if each.concurrency]
    return min([config.concurrency, *config.limits.given.values(), *models])


def with_its_part(config: CampaignConfig, workers: int, number: int) -> CampaignConfig:
    """The campaign of one of so many workers, from 0: together their limits are those of the file.

    There are not more than `most_workers`.
    """

    def part(whole: int) -> int:
        return whole // workers + (number < whole % workers)

    def part_of(spec: ModelSpec) -> ModelSpec:
        rates = {"requests_per_minute": spec.requests_per_minute}
        rates["tokens_per_minute"] = spec.tokens_per_minute
        changes: dict[str, float | None] = {
            name: rate and rate / workers for name, rate in rates.items()
        }
        if spec.concurrency is not None:
            changes["concurrency"] = part(spec.concurrency)
        return spec.model_copy(update=changes)

    limits: dict[str, int] = {each: part(most) for each, most in config.limits.given.items()}
    return config.model_copy(
        update={
            "concurrency": part(config.concurrency),
            "limits": config.limits.model_copy(update=limits),
            "model": config.model and part_of(config.model),
            "models": {alias: part_of(spec) for alias, spec in config.models.items()},
        }
    )


def _prepared(systems: Mapping[str, Any], system: System, context: SystemContext) -> System:
    actor = systems.get(system.name)
    return system.prepared(context) if actor is None else SharedSystem.of(system, context, actor)


def _work_in(folder: str) -> None:
    """As if the command had been started in this process: own code is found beside it."""
    if Path(folder).is_dir():
        os.chdir(folder)
        sys.path.append(folder)
