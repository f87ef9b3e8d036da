"""A run: each trial's way through the house, as many at once as the models allow."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, Protocol
from uuid import uuid4

from recjury import __version__
from recjury.agents import WITH_WEIGHTS, load_system
from recjury.campaign.config import Config, Spending
from recjury.campaign.plan import planned_conversations, planned_evaluators
from recjury.campaign.prepare import Open, Prepared, prepared
from recjury.errors import BatchPending, CallFailed, Stop, UnitFailed, UserError
from recjury.judges import Evaluator, checked
from recjury.keys import one_line
from recjury.llm import Ask, Budget, gather
from recjury.logs import logger
from recjury.records import ConversationLog, Finding, Rating, Status, Unit
from recjury.simulator import converse
from recjury.store import PlannedConversation, Store, Todo, TodoEvaluation, evaluation_id

FEWEST_OPEN = 16
_TICK = 1.0  # seconds


class Keeper(Protocol):
    """All that `advance` needs of a store. Values in and out, so a remote actor will do."""

    async def log(self, conversation: str) -> ConversationLog | None:
        """The log of a conversation that is done."""

    async def save_log(
        self, conversation: str, log: ConversationLog, *, play: str, seconds: Sequence[float]
    ) -> None:
        """Keep a finished or failed conversation."""

    async def save_failure(self, conversation: str, reason: str, *, tries: int) -> None:
        """Keep why the user could not speak; the conversation stays planned."""

    async def save_evaluation(
        self,
        conversation: str,
        evaluator: str,
        judging: int,
        findings: Sequence[Finding],
        *,
        tries: int,
    ) -> None:
        """Keep what was found, in place of what was found before."""


class Executor(Protocol):
    """What works a run off in place of this process."""

    async def work_off(
        self,
        todo: "Iterator[Todo]",
        number: int,
        ready: Prepared,
        fresh: Mapping[str, str],
        progress: "Callable[[Progress], None]",
    ) -> None:
        """Play and rate all of `todo`, `number` of them. Raises UserError and Stop."""


class Progress(NamedTuple):
    """How far a run is: trials done of those that were left, and calls.

    `trouble` is why a model does not answer at the moment.
    """

    done: int
    left: int
    sent: int
    reused: int
    trouble: str = ""


class Finished(NamedTuple):
    """What a run did: trials planned, left before and after it, and calls sent and found again.

    `played` conversations are over now and were not before. `waiting` has a line for each model
    whose batches are to answer.
    """

    run: int
    planned: int
    left_before: int
    left: int
    played: int
    sent: int
    reused: int
    waiting: tuple[str, ...] = ()


Wait = Callable[[Sequence[str]], None]
"""Told what waits for batches, before a run waits for them."""


async def run(
    config: Config,
    store: Store,
    *,
    open_provider: Open | None = None,
    limit: int | None = None,
    retry: bool = True,
    fresh: Sequence[str] = (),
    shard: "Shard | None" = None,
    choose: "Choose | None" = None,
    executor: Executor | None = None,
    take_over: bool = False,
    wait: Wait | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Finished:
    """Play and rate all that is left of a campaign.

    `open_provider` answers in place of the models' own endpoints, `limit` takes the first scenarios
    of each corpus, and without `retry` what failed stays as it is. `fresh` names systems that
    changed where recjury cannot see it. With `shard`, all is planned and a part is played: the
    stores of all parts are merged (`recjury.store.merge`). With `choose`, all is planned, and what
    it chooses is played. An `executor` works the run off, such as `recjury.campaign.Cluster`.
    Raises UserError before the run begins, and Stop if an endpoint or the budget ends it; the same
    call goes on.
    """
    labels = store.fresh(config.name) | {name: _label(store, config.name, name) for name in fresh}
    async with prepared(
        config,
        store,
        open_provider=open_provider,
        budget=budget_of(config, store),
        limit=limit,
        fresh=labels,
        load=partial(load_system, stand_ins=WITH_WEIGHTS if executor else ()),
    ) as ready:
        return await carry_out(
            ready,
            to_play(ready, store, shard).only(choose),
            store,
            fresh=labels,
            executor=executor,
            retry=retry,
            take_over=take_over,
            wait=wait,
            progress=progress,
        )


class Work(NamedTuple):
    """What a run has to do: its plan, a step with what is left of a row, and known logs.

    `takes` says which rows are of this run; the others are only planned.
    """

    rows: Iterable[PlannedConversation]
    step: Callable[[Todo], Awaitable[None]]
    logs: Mapping[str, ConversationLog]
    takes: Callable[[PlannedConversation | Todo], bool] = lambda _: True

    def left(self, run: int, store: Store, *, retry: bool = True) -> Iterator[Todo]:
        """What is left of the rows of this run."""
        return filter(self.takes, store.todo(run, retry_failed=retry))

    def only(self, choose: "Choose | None") -> "Work":
        """The work on what is chosen of the rows; without `choose`, on all of them."""
        if choose is None:
            return self
        rows = list(self.rows)
        ids, takes = choose(rows), self.takes
        return self._replace(rows=rows, takes=lambda row: takes(row) and row.conversation in ids)


Choose = Callable[[Sequence[PlannedConversation]], Collection[str]]
"""The ids of those conversations of a plan that a run is about. It raises UserError for none."""


class Shard(NamedTuple):
    """One part of a campaign: every `of`-th scenario, from the `number`-th on, which counts from 1.

    Scenarios are dealt, not trials, so that equal calls meet in one process.
    """

    number: int
    of: int


def to_play(ready: Prepared, keeper: Keeper, shard: Shard | None = None) -> Work:
    """The trials of a campaign, which are played and rated; with `shard`, those of one part."""
    step = partial(advance, ready=ready, keeper=keeper)
    work = Work(planned_conversations(ready), step, {})
    if shard is None:
        return work
    mine = set(islice(ready.scenarios, shard.number - 1, None, shard.of))
    return work._replace(takes=lambda row: (row.corpus, row.scenario) in mine)


async def carry_out(
    ready: Prepared,
    work: Work,
    store: Store,
    *,
    fresh: Mapping[str, str] | None = None,
    executor: Executor | None = None,
    retry: bool = True,
    take_over: bool = False,
    wait: Wait | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Finished:
    """One run: plan the work, keep its logs, and take a step with what is left of each row.

    `fresh` are the labels of systems that changed where recjury cannot see it. What waits for
    batches is left for the next run; with `wait`, this run goes on when one is over. Raises
    UserError if the campaign runs elsewhere, and Stop if an endpoint or the budget ends it.
    """
    config = ready.config
    if executor is not None and any(model.in_batches for model in config.models.values()):
        raise UserError("openai-batch is for runs in one process: leave the executor out")
    number = store.start(
        config.name, config.stored(), {"recjury": __version__}, take_over=take_over
    )
    store.set_fresh(config.name, fresh or {})
    state, reason = "interrupted", ""
    try:
        planned = await plan_work(number, work, ready, store)
        before = sum(1 for _ in work.left(number, store, retry=retry))
        unplayed = _unplayed(work.left(number, store))
        logger.info("run begins", run=number, campaign=config.name, left=before)
        while True:
            todo = work.left(number, store, retry=retry)
            if executor is not None and before:
                await executor.work_off(todo, before, ready, fresh or {}, progress)
            else:
                await _work_off(todo, before, work.step, ready, progress)
            waiting = await ready.gateway.submit()
            if wait is None or not waiting:
                break
            wait(waiting)
            await ready.gateway.wait()
        state = "finished"
    except Stop as stop:
        state, reason = "stopped", str(stop)
        raise
    except Exception as error:
        state, reason = "failed", f"{type(error).__name__}: {error}"
        raise
    finally:
        store.end(number, state, reason)
        logger.info("run ends", run=number, state=state, reason=reason)
    left = sum(1 for _ in work.left(number, store))
    played = unplayed - _unplayed(work.left(number, store))
    sent, reused = ready.gateway.sent, ready.gateway.reused
    return Finished(number, planned, before, left, played, sent, reused, tuple(waiting))


def _unplayed(todo: Iterable[Todo]) -> int:
    return sum(left.is_to_play for left in todo)


async def plan_work(number: int, work: Work, ready: Prepared, store: Store) -> int:
    """Write the plan of a run, and the logs that are there already; how many rows are its own."""
    planned = 0

    def rows() -> Iterator[PlannedConversation]:
        nonlocal planned
        for row in work.rows:
            planned += work.takes(row)
            yield row

    store.plan(number, rows(), planned_evaluators(ready))
    known = work.logs.items()
    await gather(store.save_log(id_, log, play="", seconds=()) for id_, log in known)
    return planned


def budget_of(config: Config, store: Store) -> Budget:
    """The budget over all runs of the campaign."""
    spent = store.spent(config.name)
    limit = config.budget or Spending()
    tokens = spent.tokens_in + spent.tokens_out
    return Budget(limit.dollars, spent.dollars, tokens=limit.tokens, spent_tokens=tokens)


def _label(store: Store, campaign: str, system: str) -> str:
    """Today's date, and a number that makes it another label than the last one."""
    today = datetime.now(UTC).date().isoformat()
    day, _, number = store.fresh(campaign).get(system, "").partition("/")
    return f"{today}/{int(number) + 1 if day == today else 1}"


async def _work_off(
    todo: Iterator[Todo],
    number: int,
    step: Callable[[Todo], Awaitable[None]],
    ready: Prepared,
    progress: Callable[[Progress], None],
) -> None:
    """Conversations are chains of calls: as many are open as all models may have calls."""
    done, gateway = 0, ready.gateway

    def show() -> None:
        progress(Progress(done, number, gateway.sent, gateway.reused, gateway.trouble))

    async def work() -> None:
        nonlocal done
        for left in todo:
            with suppress(BatchPending):
                await step(left)
            done += 1
            show()

    places = sum(model.concurrency for model in ready.config.models.values())
    ticking = asyncio.create_task(_ticks(show))
    try:
        await gather(work() for _ in range(min(max(FEWEST_OPEN, places), number)))
    finally:
        ticking.cancel()


async def _ticks(show: Callable[[], None]) -> None:
    """Show how far a run is also while no conversation ends."""
    while True:
        await asyncio.sleep(_TICK)
        show()


async def advance(left: Todo, ready: Prepared, keeper: Keeper) -> None:
    """Play what is not played, and rate what is not rated. Raises Stop and BatchPending."""
    log = await keeper.log(left.conversation) or await play(left, ready, keeper)
    if log is not None and not log.failed:
        await rate(log, left, ready, keeper)


async def rate(log: ConversationLog, left: Todo, ready: Prepared, keeper: Keeper) -> None:
    """Rate a log by all evaluators that have not rated it. Raises Stop and BatchPending."""
    await gather(evaluate(left.conversation, log, each, ready, keeper) for each in left.evaluations)


async def play(left: Todo, ready: Prepared, keeper: Keeper) -> ConversationLog | None:
    """The log, also of a conversation that the system failed; None if the user could not speak."""
    system = ready.systems[left.system, left.corpus]
    scenario = ready.scenarios[left.corpus, left.scenario]
    unit = Unit(ready.config.name, left.conversation)
    ask = Ask(ready.gateway, unit, sample=left.repeat, tries=left.tries)
    user, id_, session = ready.users[left.user].user, uuid4().hex, ready.config.session
    try:
        async with system.place():
            played = await converse(user, system, scenario, ask, session=session, play=id_)
    except BatchPending:
        raise
    except UnitFailed as failure:  # the user could not speak; what cannot be read counts as a try
        tries = left.tries + (not isinstance(failure, CallFailed))
        await keeper.save_failure(left.conversation, str(failure), tries=tries)
        return None
    await keeper.save_log(left.conversation, played.log, play=id_, seconds=played.seconds)
    return await keeper.log(left.conversation) or played.log  # another campaign may have been first


async def _rated(evaluator: Evaluator, log: ConversationLog, ask: Ask) -> Sequence[Finding]:
    """What an evaluator finds; what one's own evaluator raises is a reason without a score.

    Raises UserError for what no table could show.
    """
    try:
        found: object = await evaluator.rate(log, ask)
    except (UserError, BatchPending):
        raise
    except (Exception, SystemExit) as error:
        if type(evaluator).__module__.startswith("recjury."):
            raise
        reason = f"the evaluator raised {one_line(error)}"
        about: dict[str, Any] = {"rater": evaluator.name, "status": Status.CALL_FAILED}
        return [Rating(metric=each.name, reason=reason, **about) for each in evaluator.metrics]
    try:
        return checked(evaluator, log, found)
    except UserError as error:
        raise UserError(f"evaluator {evaluator.name}: {error}") from None


async def evaluate(
    conversation: str,
    log: ConversationLog,
    left: TodoEvaluation,
    ready: Prepared,
    keeper: Keeper,
) -> None:
    """Rate a log by one evaluator, and keep what is found."""
    evaluator, judging, tries = left
    evaluation = evaluation_id(conversation, evaluator, judging)
    unit = Unit(ready.config.name, conversation, evaluation)
    logger.info("evaluation begins", evaluation=evaluation, conversation=conversation)
    ask = Ask(ready.gateway, unit, sample=judging, tries=tries)
    try:
        findings = await _rated(ready.evaluators[evaluator], log, ask)
        await keeper.save_evaluation(conversation, evaluator, judging, findings, tries=tries)
    finally:
        logger.info("evaluation ends", evaluation=evaluation)
