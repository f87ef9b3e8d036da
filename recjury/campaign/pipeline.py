"""How one unit goes: its conversation is held, and then evaluated by every evaluator.

What is left to do is read off the store. A conversation that failed keeps its evaluators waiting;
an evaluator that failed keeps nobody.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import structlog

from recjury.campaign.build import Components
from recjury.campaign.config import EvaluationConfig, SimulatorConfig
from recjury.campaign.conversations import ConversationFailed, Conversations
from recjury.campaign.evaluations import ActiveEvaluator
from recjury.campaign.executors.local import run_local
from recjury.campaign.plan import Unit
from recjury.campaign.progress import Progress, Tally
from recjury.llm import call_context, gather
from recjury.records import ConversationRecord
from recjury.store import PlannedEvaluation, Store

logger = structlog.get_logger()


class Pipeline:
    """Advances units. One pipeline serves all units of a run, many at once."""

    def __init__(
        self,
        store: Store,
        components: Mapping[str, Components],
        config: EvaluationConfig,
        progress: Progress,
        *,
        session: SimulatorConfig | None = None,
    ):
        """`components` are by corpus; `session` is needed where conversations are held."""
        self._store, self._progress = store, progress
        self._held = {
            corpus: Conversations(store, those, session or SimulatorConfig())
            for corpus, those in components.items()
        }
        judgings = {entry.label: entry.judgings for entry in config.evaluators}
        self._evaluators = {
            corpus: [
                ActiveEvaluator(label, evaluator, judgings[label])
                for label, evaluator in those.evaluators.items()
            ]
            for corpus, those in components.items()
        }
        self._concurrency = config.concurrency
        self._begun: dict[str, asyncio.Future[bool]] = {}
        self._complete: set[_Place] = set()

    async def run(self, campaign: str, units: Sequence[Unit]) -> None:
        """Bring all units to their end, as far as they are not there yet."""
        self._join(campaign)
        left = self._left(campaign, units)
        # Twice as many open units as calls at once: while one writes, another has a call to make.
        most = min(len(left), 2 * self._concurrency)
        try:
            await run_local(left, self._advance, open_at_once=most)
        finally:
            for begun in self._begun.values():
                begun.cancel()
            await asyncio.gather(*self._begun.values(), return_exceptions=True)

    def _join(self, campaign: str) -> None:
        every = (each.planned() for some in self._evaluators.values() for each in some)
        self._store.join(campaign, tuple({each.id: each for each in every}.values()))

    def _left(self, campaign: str, units: Sequence[Unit]) -> list[Unit]:
        """The units with something left to do; `progress` is told of all."""
        held = self._store.held(campaign)
        self._complete = self._finished(units, held)
        conversations = Tally(len(units), sum(unit.id in held for unit in units))
        tallies: dict[str, Tally] = {}
        left: list[Unit] = []
        for unit in units:
            complete = unit.id in held
            for active in self._evaluators[unit.corpus]:
                tally = tallies.setdefault(active.label, Tally())
                ended = sum(
                    (unit.id, active.label, judging) in self._complete
                    for judging in range(active.judgings)
                )
                tally.planned += active.judgings
                tally.done += ended
                complete = complete and ended == active.judgings
            if not complete:
                left.append(unit)
        self._progress.begin(conversations, tallies)
        return left

    def _finished(self, units: Iterable[Unit], held: Mapping[str, str]) -> set["_Place"]:
        """The evaluations that are complete."""
        planned = [
            (_Place(unit.id, active.label, evaluation.judging), active.stages, evaluation.identity)
            for unit in units
            if unit.id in held
            for active in self._evaluators[unit.corpus]
            for evaluation in active.evaluations(held[unit.id])
        ]
        rows = self._store.find_evaluations(identity for _, _, identity in planned)
        stages = self._store.evaluation_stages(rows.values())
        return {
            place
            for place, wanted, identity in planned
            if identity in rows and wanted <= stages.get(rows[identity], set())
        }

    async def _advance(self, unit: Unit) -> None:
        record = await self._record(unit)
        if record is None:
            for active in self._evaluators[unit.corpus]:
                self._progress.wait(self._progress.evaluations[active.label], active.judgings)
            return
        log = record.log.id
        await gather(
            self._evaluated(active, evaluation, record)
            for active in self._evaluators[unit.corpus]
            for evaluation in active.evaluations(log, unit.repeat)
            if _Place(unit.id, active.label, evaluation.judging) not in self._complete
        )

    async def _record(self, unit: Unit) -> ConversationRecord | None:
        """The conversation, held now where the store does not have it; None where it failed."""
        kept = self._store.record(unit.id)
        if kept is not None or unit.scenario is None:
            return kept
        tally = self._progress.conversations
        try:
            with call_context(unit.id, unit.repeat):
                record = await self._held[unit.corpus].hold(unit)
        except ConversationFailed as failure:
            logger.info("conversation failed", conversation=unit.id, why=str(failure))
            await self._store.save_failure(unit.id, "converse", str(failure), failure.said)
            self._progress.finish(tally, failed=True)
            return None
        self._progress.finish(tally)
        return record

    async def _evaluated(
        self, active: ActiveEvaluator, planned: PlannedEvaluation, record: ConversationRecord
    ) -> None:
        """Evaluate; logs that are equal to the byte are evaluated once."""
        begun = self._begun.get(planned.identity)
        if begun is None:
            begun = asyncio.ensure_future(active.evaluate(self._store, planned, record))
            self._begun[planned.identity] = begun
        # Shielded: a unit that is cancelled must not take away what another one waits for.
        complete = await asyncio.shield(begun)
        self._progress.finish(self._progress.evaluations[active.label], failed=not complete)


class _Place(NamedTuple):
    unit: str
    label: str
    judging: int
