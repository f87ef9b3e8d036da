"""The runner plays each unit's conversation, and then has every evaluator evaluate it.

The store says what is left to do. If a conversation fails, its evaluations wait for the next run;
if an evaluation fails, everything else continues.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from recjury.campaign.budget_scheduler import (
    BudgetScheduler,
    BudgetShortfall,
    CampaignTrial,
    PartKind,
    TrialPart,
)
from recjury.campaign.build import BuiltCampaign
from recjury.campaign.config import EvaluationConfig
from recjury.campaign.estimate import expected_part
from recjury.campaign.evaluate import ActiveEvaluator
from recjury.campaign.open_trials import OpenTrials
from recjury.campaign.plan import Unit
from recjury.campaign.play import Player
from recjury.campaign.progress import Progress, UnitCounts
from recjury.campaign.retry import Retry
from recjury.campaign.stopping import Stopped, Stopping
from recjury.campaign.tuning import follow_settings
from recjury.llm import call_context, gather
from recjury.logs import get_logger
from recjury.records import (
    JSON,
    ConversationRecord,
)
from recjury.simulator import ConversationFailed, SessionSettings
from recjury.store import PlannedEvaluation, Skipped, Store, Worker
from recjury.telemetry import work_span

logger = get_logger()


class RunResult(NamedTuple):
    """How a run ended, in numbers of conversations: `planned`, and of these `done` and `failed`.

    `conversations` has the ids of the planned ones: the store may have more of the campaign.
    `evaluators` has the labels of the evaluators of this run. `set_aside` counts conversations that
    no longer belong to the campaign because something that can change them (a system, the data) has
    changed: they stay in the store, but are not in the tables. `held_back` says what the budget did
    not cover, and `stopped` what was decided if the campaign may end early.
    """

    campaign: str
    planned: int
    done: int
    failed: int
    skipped: tuple[Skipped, ...] = ()
    set_aside: int = 0
    conversations: frozenset[str] = frozenset()
    evaluators: tuple[str, ...] = ()
    held_back: BudgetShortfall | None = None
    stopped: Stopped | None = None


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
        self._labels = tuple(judgings)
        self._concurrency = config.concurrency
        budget = None if built.gateway is None else built.gateway.budget
        expected = partial(expected_part, config, built.components)
        self._scheduler = BudgetScheduler(budget, expected)
        self._open_trials = OpenTrials(None, config.concurrency)
        self._rows: dict[_EvaluationKey, str] = {}
        self._started: dict[str, asyncio.Future[bool]] = {}
        self._complete: set[_EvaluationKey] = set()
        self._learned: dict[str, dict[str, JSON]] = {}
        self._done: set[str] = set()
        self._failed: set[str] = set()
        self._done_elsewhere: set[str] = set()

    async def run(self, worker: Worker, units: Sequence[Unit]) -> RunResult:
        """Finish all units that are not finished yet, and return how the run ended.

        Other processes may run the campaign of `worker` at the same time: each takes the units that
        no other one works on.
        """
        campaign = worker.campaign
        self._join(campaign)
        left = self._left(campaign, units)
        self._open_trials = OpenTrials(self._gateway, self._concurrency)
        most = self._open_trials.at_once(len(left))
        if self._stopping is not None:
            self._stopping.take({unit.id for unit in units} - {unit.id for unit in left})
        self._save_learned(campaign)
        tuned = asyncio.ensure_future(follow_settings(worker, self._gateway))
        try:
            trials = self._trials(campaign, units, left)
            if self._stopping is None:  # which says itself what comes next
                trials = worker.shared(trials)
            await gather((self._advance(worker, *each) for each in trials), at_once=most)
        finally:
            tuned.cancel()
            await asyncio.gather(tuned, return_exceptions=True)
            for started in self._started.values():
                started.cancel()
            await asyncio.gather(*self._started.values(), return_exceptions=True)
            self._save_learned(campaign)
        return RunResult(
            campaign=campaign,
            planned=len(units),
            done=len(self._done),
            failed=len(self._failed),
            conversations=frozenset(unit.id for unit in units),
            evaluators=self._labels,
            held_back=self._scheduler.shortfall(len(units)),
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

    def _left(self, campaign: str, units: Sequence[Unit]) -> list[Unit]:
        """The units with something left to do; `progress` is set to the numbers of all units."""
        held = self._store.log_ids(campaign)
        self._done = {unit.id for unit in units if unit.id in held}
        self._complete = self._finished(units, held)
        counts: dict[str, UnitCounts] = {}
        left: list[Unit] = []
        for unit in units:
            complete = unit.id in held
            for active in self._evaluators[unit.corpus]:
                count = counts.setdefault(active.label, UnitCounts())
                ended = sum(
                    (unit.id, active.label, judging) in self._complete
                    for judging in range(active.judgings)
                )
                count.planned += active.judgings
                count.done += ended
                complete = complete and ended == active.judgings
            if not complete:
                left.append(unit)
        self._progress.begin(UnitCounts(len(units), len(self._done)), counts)
        return left

    def _trials(
        self, campaign: str, units: Sequence[Unit], left: Sequence[Unit]
    ) -> list[tuple[Unit, CampaignTrial]]:
        """The work that is left; if there is a budget, that of begun conversations comes first."""
        spent: dict[str, float] = {}
        if self._scheduler.limits:
            by_unit = self._store.spent_by_unit(campaign)
            in_tokens = self._scheduler.in_tokens
            spent = {unit: each.amount(in_tokens=in_tokens) for unit, each in by_unit.items()}
        trials = {unit.id: self._scheduler.trial(self._parts(unit, spent)) for unit in left}
        for unit in units:
            kinds = {unit.id: PartKind(unit.system)} if unit.id in self._done else {}
            for key in self._evaluation_keys(unit):
                if key in self._complete:
                    kinds[self._rows[key]] = PartKind(unit.system, key.label)
            for row, kind in kinds.items():
                if spent.get(row):
                    self._scheduler.needs.learn(kind, spent[row])
        found = [(unit, trials[unit.id]) for unit in left]
        return sorted(found, key=lambda each: not each[1].was_begun)

    def _evaluation_keys(self, unit: Unit) -> Iterator["_EvaluationKey"]:
        for active in self._evaluators[unit.corpus]:
            for judging in range(active.judgings):
                yield _EvaluationKey(unit.id, active.label, judging)

    def _parts(self, unit: Unit, spent: Mapping[str, float]) -> Iterator[TrialPart]:
        """What is left to do of a unit, and what was spent for it."""
        before = spent.get(unit.id, 0.0)
        yield TrialPart(PartKind(unit.system), before, complete=unit.id in self._done)
        for key in self._evaluation_keys(unit):
            if key not in self._complete:
                before = spent.get(self._rows.get(key, ""), 0.0)
                yield TrialPart(PartKind(unit.system, key.label), before)

    def _finished(self, units: Iterable[Unit], held: Mapping[str, str]) -> set["_EvaluationKey"]:
        """The evaluations that are complete, with nothing that is asked for again."""
        planned = [
            (
                _EvaluationKey(unit.id, active.label, evaluation.judging),
                active.stages,
                evaluation.identity,
            )
            for unit in units
            if unit.id in held
            for active in self._evaluators[unit.corpus]
            for evaluation in active.evaluations(held[unit.id])
        ]
        rows = self._store.find_evaluations(identity for _, _, identity in planned)
        stages = self._store.evaluation_stages(rows.values())
        self._rows = {key: rows[identity] for key, _, identity in planned if identity in rows}
        repeated = self._store.evaluations_with(rows.values(), self._retry.statuses)
        return {
            key
            for key, wanted, identity in planned
            if identity in rows
            and wanted <= stages.get(rows[identity], set())
            and rows[identity] not in repeated
        }

    async def _advance(self, worker: Worker, unit: Unit, trial: CampaignTrial) -> None:
        if not await self._is_needed(unit, trial):
            self._scheduler.leave(trial)
            self._hold(unit)
            return
        async with (
            self._open_trials.opened(),
            worker.leased(unit.id) as was_done,
            self._scheduler.opened(trial) as is_opened,
        ):
            if was_done:
                self._done_elsewhere.add(unit.id)
            if is_opened:
                await self._finish(unit, trial)
            else:
                self._hold(unit)
        if self._stopping is not None:
            await self._stopping.settle(unit)

    async def _is_needed(self, unit: Unit, trial: CampaignTrial) -> bool:
        """Wait for the unit's turn, and say whether it is needed. What was begun is finished."""
        return self._stopping is None or trial.was_begun or await self._stopping.needs(unit)

    def _hold(self, unit: Unit) -> None:
        """Leave a unit that is not needed, or not covered by the budget, undone."""
        if unit.id not in self._done:
            self._progress.hold(self._progress.conversations, 1)
        for key in self._evaluation_keys(unit):
            if key not in self._complete:
                self._progress.hold(self._progress.evaluations[key.label], 1)

    async def _finish(self, unit: Unit, trial: CampaignTrial) -> None:
        with self._open_trials.playing(), trial.doing(PartKind(unit.system)) as part:
            record = await self._record(unit)
            part.complete = record is not None
        if record is None:
            for active in self._evaluators[unit.corpus]:
                self._progress.wait(self._progress.evaluations[active.label], active.judgings)
            return
        log = record.log.id
        await gather(
            self._evaluate(active, evaluation, record, trial, self._retry_of(unit.id))
            for active in self._evaluators[unit.corpus]
            for evaluation in active.evaluations(log, unit.repeat)
            if _EvaluationKey(unit.id, active.label, evaluation.judging) not in self._complete
        )

    async def _record(self, unit: Unit) -> ConversationRecord | None:
        """The conversation, played now if the store does not have it; None if it failed."""
        kept = self._store.record(unit.id)
        if kept is not None or unit.scenario is None:
            return kept
        about = {"conversation": unit.id, "system": unit.system, "scenario": unit.scenario.id}
        if self._retry_of(unit.id) is Retry.NONE and self._store.failures(unit.id):
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
        self._done.add(unit.id)
        self._progress.finish(self._progress.conversations)
        return record

    def _retry_of(self, unit: str) -> Retry:
        """What is asked for again; nothing if another process has just done it."""
        return Retry.NONE if unit in self._done_elsewhere else self._retry

    def _fail(self, unit: Unit) -> None:
        self._failed.add(unit.id)
        self._progress.finish(self._progress.conversations, failed=True)

    async def _evaluate(
        self,
        active: ActiveEvaluator,
        planned: PlannedEvaluation,
        record: ConversationRecord,
        trial: CampaignTrial,
        retry: Retry,
    ) -> None:
        """Evaluate; if several conversations have the same log, it is evaluated once."""
        with trial.doing(PartKind(trial.system, active.label)) as part:
            started = self._started.get(planned.identity)
            part.counts_for_estimate = started is None
            if started is None:
                started = asyncio.ensure_future(
                    active.evaluate(self._store, planned, record, retry)
                )
                self._started[planned.identity] = started
            # Shielded: a unit that is cancelled must not cancel what another unit waits for.
            complete = part.complete = await asyncio.shield(started)
        self._progress.finish(self._progress.evaluations[active.label], failed=not complete)


class _EvaluationKey(NamedTuple):
    unit: str
    label: str
    judging: int
