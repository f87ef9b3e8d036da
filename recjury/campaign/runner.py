"""The runner plays each unit's conversation, and then has every evaluator evaluate it.

The store says what is left to do. If a conversation fails, its evaluations wait for the next run;
if an evaluation fails, everything else continues.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from recjury.campaign.budget_scheduler import (
    BudgetScheduler,
    CampaignTrial,
    PartKind,
    TrialPart,
)
from recjury.campaign.build import BuiltCampaign
from recjury.campaign.config import EvaluationConfig
from recjury.campaign.estimate import expected_part
from recjury.campaign.evaluate import ActiveEvaluator
from recjury.campaign.left import EvaluationKey, Left, LookUp
from recjury.campaign.open_trials import OpenTrials
from recjury.campaign.plan import Unit, Units, beginning_at, pages
from recjury.campaign.play import Player
from recjury.campaign.progress import Progress, RunResult, UnitCounts
from recjury.campaign.retry import Retry
from recjury.campaign.stopping import Stopping
from recjury.campaign.tuning import follow_settings
from recjury.llm import call_context, gather
from recjury.logs import get_logger
from recjury.records import JSON, ConversationRecord
from recjury.simulator import ConversationFailed, SessionSettings
from recjury.store import PlannedEvaluation, Store, Worker
from recjury.telemetry import work_span

logger = get_logger()

_REMEMBERED = 10_000
"""So many evaluations that have ended are known without asking the store."""


class Runner:
    """Advances units. One runner serves all units of a run, many at the same time."""

    def __init__(
        self,
        store: Store,
        built: BuiltCampaign,
        config: EvaluationConfig,
        progress: Progress | None = None,
        session: SessionSettings | None = None,
        retry: Retry = Retry.UNSCORED,
        stopping: Stopping | None = None,
    ):
        """`session` has the rules of the conversations, if any are played; `retry` says what of
        earlier runs is asked for again; `stopping` says which units are needed, by default all."""
        self._store = store
        self._progress = progress or Progress()
        self._gateway = built.gateway
        self._progress.usage = built.gateway.usage if built.gateway else None
        self._player = Player(store, built.components, session or SessionSettings())
        self._retry = retry
        self._stopping = stopping
        judgings = {entry.label: entry.judgings for entry in config.evaluators}
        self._evaluators = {
            corpus: [
                ActiveEvaluator(label, evaluator, judgings[label])
                for label, evaluator in components.evaluators.items()
            ]
            for corpus, components in built.components.items()
        }
        self._look_up = LookUp(store, self._evaluators, retry)
        self._labels = tuple(judgings)
        budget = None if built.gateway is None else built.gateway.budget
        expected = partial(expected_part, config, built.components)
        self._scheduler = BudgetScheduler(budget, expected)
        self._open_trials = OpenTrials(built.gateway, config.concurrency)
        self._started: dict[str, asyncio.Future[bool]] = {}
        self._ended: dict[str, bool] = {}
        self._learned: dict[str, dict[str, JSON]] = {}
        self._done = 0
        self._failures: set[str] = set()
        self._taken = 0  # of what was left at first
        self._elsewhere: list[tuple[Left, CampaignTrial]] = []
        self._is_shared = False  # another process has done something of it in this run

    async def run(self, worker: Worker, units: Units) -> RunResult:
        """Finish all units that are not finished yet, and return how the run ended.

        `units` gives them in order, each time that it is called: they are not held. Other processes
        may run the campaign of `worker` at the same time: each takes the units that no other one
        works on.
        """
        campaign = worker.campaign
        self._join(campaign)
        ids, left = self._count(units)
        most = self._open_trials.at_once(left)
        self._save_learned(campaign)
        tuned = asyncio.ensure_future(follow_settings(worker, self._gateway))
        try:
            # Those who share a campaign begin at different places of it.
            start = worker.start(len(ids)) if self._stopping is None else 0
            turned = partial(beginning_at, start, units) if start else units
            waits = self._stopping is not None
            work = (self._advance(worker, *each, waits=waits) for each in self._trials(turned))
            await gather(work, at_once=most, keep=False)
            # Who waits at once stays behind the process that is ahead, and does nothing.
            self._progress.elsewhere = len(self._elsewhere)
            later = (self._advance(worker, *each, waits=True) for each in self._elsewhere)
            await gather(later, at_once=most, keep=False)
            if self._taken < left or self._is_shared:
                self._done = 0
                self._count(units)
        finally:
            tuned.cancel()
            await asyncio.gather(tuned, return_exceptions=True)
            for started in self._started.values():
                started.cancel()
            await asyncio.gather(*self._started.values(), return_exceptions=True)
            self._save_learned(campaign)
        return RunResult(
            campaign=campaign,
            planned=len(ids),
            done=self._done,
            failures=frozenset(self._failures),
            conversations=ids,
            evaluators=self._labels,
            held_back=self._scheduler.shortfall(len(ids)),
            stopped=None if self._stopping is None else self._stopping.result(),
        )

    def _save_learned(self, campaign: str) -> None:
        """Store what the run sends differently because an endpoint refuses it otherwise."""
        learned = {} if self._gateway is None else self._gateway.learned
        if learned != self._learned:
            self._learned = learned
            self._store.save_learned(campaign, learned)

    def _join(self, campaign: str) -> None:
        every = (each.planned() for some in self._evaluators.values() for each in some)
        self._store.join(campaign, tuple({each.id: each for each in every}.values()))

    def _count(self, units: Units) -> tuple[tuple[str, ...], int]:
        """The ids of all units, and how many have something left to do.

        `progress` is set to their numbers; what finished units took is learned from.
        """
        evaluations = {label: UnitCounts() for label in self._labels}
        ids: list[str] = []
        left = 0
        for page in pages(units()):
            found = self._look_up.looked_up(page)
            held = {each.unit.id for each in found if each.is_held}
            self._done += len(held)
            self._failures -= held  # another process may have gone on where this one failed
            for each in found:
                for key in self._look_up.keys_of(each.unit):
                    evaluations[key.label].planned += 1
                    evaluations[key.label].done += key in each.complete
            self._learn(found)
            if self._stopping is not None:
                self._stopping.take(
                    {each.unit.id for each in found if self._look_up.is_whole(each)}
                )
            left += sum(not self._look_up.is_whole(each) for each in found)
            ids += (unit.id for unit in page)
        counts = {label: each for label, each in evaluations.items() if each.planned}
        conversations = UnitCounts(len(ids), self._done, len(self._failures))
        self._progress.begin(conversations, counts)
        return tuple(ids), left

    def _trials(self, units: Units) -> Iterator[tuple[Left, CampaignTrial]]:
        """The work that is left; if there is a budget, that of begun conversations comes first.

        What another process begins after it was looked at is taken with the rest.
        """
        first: set[str] = set()
        for begun in (True, False) if self._scheduler.limits else (None,):
            for page in pages(units()):
                found = [
                    each
                    for each in self._look_up.looked_up(page)
                    if not self._look_up.is_whole(each)
                ]
                spent = self._spent(found)
                for each in found:
                    parts = tuple(self._parts(each, spent))
                    if begun and any(part.before for part in parts):
                        first.add(each.unit.id)
                    elif begun or each.unit.id in first:
                        continue
                    self._taken += 1
                    yield each, self._scheduler.trial(parts)

    def _spent(self, found: Iterable[Left]) -> Mapping[str, float]:
        """What was spent for each conversation and evaluation, in the unit of the budget."""
        if not self._scheduler.limits:
            return {}
        rows = (row for each in found for row in (each.unit.id, *each.rows.values()))
        in_tokens = self._scheduler.in_tokens
        by_unit = self._store.spent_by_unit(rows)
        return {unit: each.amount(in_tokens=in_tokens) for unit, each in by_unit.items()}

    def _learn(self, found: Iterable[Left]) -> None:
        """Learn what finished parts took."""
        spent = self._spent(found)
        for each in found if spent else ():
            system = each.unit.system
            kinds = {each.unit.id: PartKind(system)} if each.is_held else {}
            kinds |= {each.rows[key]: PartKind(system, key.label) for key in each.complete}
            for row, kind in kinds.items():
                if spent.get(row):
                    self._scheduler.needs.learn(kind, spent[row])

    def _parts(self, left: Left, spent: Mapping[str, float]) -> Iterator[TrialPart]:
        """What is left to do of a unit, and what was spent for it."""
        unit = left.unit
        yield TrialPart(PartKind(unit.system), spent.get(unit.id, 0.0), complete=left.is_held)
        for key in self._look_up.keys_of(unit):
            if key not in left.complete:
                before = spent.get(left.rows.get(key, ""), 0.0)
                yield TrialPart(PartKind(unit.system, key.label), before)

    async def _advance(
        self, worker: Worker, left: Left, trial: CampaignTrial, *, waits: bool
    ) -> None:
        unit = left.unit
        if not await self._is_needed(unit, trial):
            self._hold(left)
            return
        async with (
            self._open_trials.opened(),
            worker.leased(unit.id, waits=waits) as was_done,
        ):
            if was_done is None:
                self._elsewhere.append((left, trial))
                return
            self._is_shared |= was_done
            self._progress.elsewhere -= bool(self._progress.elsewhere)
            async with self._scheduler.opened(trial) as is_opened:
                if is_opened:
                    # What another process has just done is not asked for again.
                    await self._finish(left, trial, Retry.NONE if was_done else self._retry)
                else:
                    self._hold(left)
        if self._stopping is not None:
            await self._stopping.settle(unit)

    async def _is_needed(self, unit: Unit, trial: CampaignTrial) -> bool:
        """Wait for the unit's turn, and say whether it is needed. What was begun is finished."""
        return self._stopping is None or trial.was_begun or await self._stopping.needs(unit)

    def _hold(self, left: Left) -> None:
        """Leave a unit that is not needed, or not covered by the budget, undone."""
        if not left.is_held:
            self._progress.hold(self._progress.conversations, 1)
        for key in self._look_up.keys_of(left.unit):
            if key not in left.complete:
                self._progress.hold(self._progress.evaluations[key.label], 1)

    async def _finish(self, left: Left, trial: CampaignTrial, retry: Retry) -> None:
        unit = left.unit
        with self._open_trials.playing(), trial.doing(PartKind(unit.system)) as part:
            record = await self._record(unit, retry)
            part.complete = record is not None
        if record is None:
            for active in self._evaluators[unit.corpus]:
                self._progress.wait(self._progress.evaluations[active.label], active.judgings)
            return
        if not left.is_held:
            self._done += 1
            self._progress.finish(self._progress.conversations)
        log = record.log.id
        await gather(
            self._evaluate(active, evaluation, record, trial, retry)
            for active in self._evaluators[unit.corpus]
            for evaluation in active.evaluations(log, unit.repeat)
            if EvaluationKey(unit.id, active.label, evaluation.judging) not in left.complete
        )

    async def _record(self, unit: Unit, retry: Retry) -> ConversationRecord | None:
        """The conversation, played now if the store does not have it; None if it failed."""
        kept = self._store.record(unit.id)
        if kept is not None or unit.scenario is None:
            return kept
        about = {"conversation": unit.id, "system": unit.system, "scenario": unit.scenario.id}
        if retry is Retry.NONE and self._store.failures(unit.id):
            self._fail(unit)
            return None
        logger.info("conversation begun", **about)
        try:
            attributes = {"gen_ai.conversation.id": unit.id, **about}
            with (
                work_span(f"converse {unit.system}", attributes),
                call_context(unit.id, unit.repeat),
            ):
                record = await self._player.play(unit)
        except ConversationFailed as failure:
            logger.info("conversation failed", **about, reason=str(failure))
            await self._store.save_failure(unit.id, "converse", str(failure), failure.log)
            self._fail(unit)
            return None
        ending, turns = str(record.log.ending), len(record.log.interaction)
        logger.info("conversation ended", **about, ending=ending, turns=turns)
        return record

    def _fail(self, unit: Unit) -> None:
        self._failures.add(unit.id)
        self._progress.finish(self._progress.conversations, failed=True)

    async def _evaluate(
        self,
        active: ActiveEvaluator,
        planned: PlannedEvaluation,
        record: ConversationRecord,
        trial: CampaignTrial,
        retry: Retry,
    ) -> None:
        """Evaluate a log once, also if several conversations have it."""
        with trial.doing(PartKind(trial.system, active.label)) as part:
            identity = planned.identity
            started, complete = self._started.get(identity), self._ended.get(identity)
            part.counts_for_estimate = started is None and complete is None
            if complete is None:
                if started is None:
                    work = active.evaluate(self._store, planned, record, retry)
                    started = asyncio.ensure_future(work)
                    self._started[identity] = started
                # Shielded: a unit that is cancelled must not cancel what another unit waits for.
                complete = await asyncio.shield(started)
                self._started.pop(identity, None)
                self._ended[identity] = complete
                if len(self._ended) > _REMEMBERED:
                    del self._ended[next(iter(self._ended))]
            part.complete = complete
        self._progress.finish(self._progress.evaluations[active.label], failed=not complete)
