"""The runner plays each unit's conversation, and then has every evaluator evaluate it.

The store says what is left to do. If a conversation fails, its evaluations wait for the next run;
if an evaluation fails, everything else continues.
"""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from recjury.campaign.build import BuiltCampaign, Components
from recjury.campaign.config import EvaluationConfig
from recjury.campaign.evaluate import ActiveEvaluator
from recjury.campaign.plan import Unit
from recjury.campaign.progress import Progress, UnitCounts
from recjury.campaign.retry import Retry
from recjury.errors import StoreError
from recjury.llm import call_context, gather
from recjury.logs import get_logger
from recjury.records import (
    JSON,
    Conversation,
    ConversationLog,
    ConversationRecord,
    Ending,
    Recommender,
    SystemReply,
)
from recjury.simulator import ConversationFailed, LeakGuard, SessionSettings, converse
from recjury.store import PlannedEvaluation, Skipped, Store

logger = get_logger()


class RunResult(NamedTuple):
    """How a run ended, in numbers of conversations: `planned`, and of these `done` and `failed`.

    `conversations` has the ids of the planned ones: the store may have more of the campaign.
    `evaluators` has the labels of the evaluators of this run. `set_aside` counts conversations that
    no longer belong to the campaign because something that can change them (a system, the data) has
    changed: they stay in the store, but are not in the tables.
    """

    campaign: str
    planned: int
    done: int
    failed: int
    skipped: tuple[Skipped, ...] = ()
    set_aside: int = 0
    conversations: frozenset[str] = frozenset()
    evaluators: tuple[str, ...] = ()


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
    ):
        """`session` has the rules of the conversations, if any are played; `retry` says what of
        earlier runs is asked for again."""
        self._store, self._components = store, built.components
        self._progress = progress or Progress()
        self._gateway = built.gateway
        self._progress.usage = built.gateway.usage if built.gateway else None
        self._session = session or SessionSettings()
        self._retry = retry
        self._guards = {
            corpus: LeakGuard(components.catalogue)
            for corpus, components in built.components.items()
        }
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
        self._started: dict[str, asyncio.Future[bool]] = {}
        self._complete: set[_EvaluationKey] = set()
        self._learned: dict[str, dict[str, JSON]] = {}
        self._done: set[str] = set()
        self._failed: set[str] = set()

    async def run(self, campaign: str, units: Sequence[Unit]) -> RunResult:
        """Finish all units that are not finished yet, and return how the run ended."""
        self._join(campaign)
        left = self._left(campaign, units)
        # Twice as many units as calls at the same time: one may write while another calls a model.
        most = max(1, min(len(left), 2 * self._concurrency))
        self._save_learned(campaign)
        try:
            await gather((self._advance(unit) for unit in left), at_once=most)
        finally:
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
        held = self._store.held(campaign)
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
        repeated = self._store.evaluations_with(rows.values(), self._retry.statuses)
        return {
            key
            for key, wanted, identity in planned
            if identity in rows
            and wanted <= stages.get(rows[identity], set())
            and rows[identity] not in repeated
        }

    async def _advance(self, unit: Unit) -> None:
        record = await self._record(unit)
        if record is None:
            for active in self._evaluators[unit.corpus]:
                self._progress.wait(self._progress.evaluations[active.label], active.judgings)
            return
        log = record.log.id
        await gather(
            self._evaluate(active, evaluation, record)
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
        if self._retry is Retry.NONE and self._store.failures(unit.id):
            self._fail(unit)
            return None
        logger.info("conversation begun", **about)
        try:
            with call_context(unit.id, unit.repeat):
                record = await self._converse(unit)
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

    def _fail(self, unit: Unit) -> None:
        self._failed.add(unit.id)
        self._progress.finish(self._progress.conversations, failed=True)

    async def _converse(self, unit: Unit) -> ConversationRecord:
        """Play the conversation, or the rest of one that failed, and store it.

        Raises ConversationFailed.
        """
        components, earlier = self._components[unit.corpus], self._earlier(unit)
        system = _TimedSystem(components.recommenders[unit.system])
        if earlier is not None:  # how long its turns took is not stored, unless they are calls
            system.seconds += [None for turn in earlier.system_turns if turn.failure is None]
        log = await self._play(unit, components, system, earlier)
        await self._store.save_log(unit.id, log, system.seconds)
        kept = self._store.record(unit.id)
        assert kept is not None
        return kept

    def _earlier(self, unit: Unit) -> ConversationLog | None:
        """The log of a conversation that failed, if it can go on from there."""
        try:
            unfinished = self._store.unfinished(unit.id)
        except StoreError:  # it was altered: the conversation begins again
            return None
        if unfinished is None or unfinished.log.scenario != unit.scenario:
            return None
        return unfinished.log

    async def _play(
        self,
        unit: Unit,
        components: Components,
        system: "_TimedSystem",
        earlier: ConversationLog | None,
    ) -> ConversationLog:
        assert unit.scenario is not None
        assert components.user is not None
        log = await converse(
            components.user,
            system,
            unit.scenario,
            self._guards[unit.corpus],
            components.catalogue,
            self._session,
            earlier=earlier,
        )
        if log.ending is Ending.SYSTEM_FAILED:
            turns = log.system_turns
            raise ConversationFailed(f"turn {len(turns)}: {turns[-1].failure}", log)
        return log

    async def _evaluate(
        self, active: ActiveEvaluator, planned: PlannedEvaluation, record: ConversationRecord
    ) -> None:
        """Evaluate; if several conversations have the same log, it is evaluated once."""
        started = self._started.get(planned.identity)
        if started is None:
            started = asyncio.ensure_future(
                active.evaluate(self._store, planned, record, self._retry)
            )
            self._started[planned.identity] = started
        # Shielded: a unit that is cancelled must not cancel what another unit waits for.
        complete = await asyncio.shield(started)
        self._progress.finish(self._progress.evaluations[active.label], failed=not complete)


class _EvaluationKey(NamedTuple):
    unit: str
    label: str
    judging: int


class _TimedSystem:
    """A system under test, and the seconds that each of its answers took, in order."""

    def __init__(self, system: Recommender):
        self._system = system
        self.seconds: list[float | None] = []

    @property
    def name(self) -> str:
        return self._system.name

    @property
    def settings(self) -> Mapping[str, JSON]:
        return self._system.settings

    async def respond(self, conversation: Conversation) -> SystemReply:
        asked = time.perf_counter()
        try:
            return await self._system.respond(conversation)
        finally:
            self.seconds.append(time.perf_counter() - asked)

    async def aclose(self) -> None:
        await self._system.aclose()
