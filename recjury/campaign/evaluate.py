"""Evaluate one conversation of a campaign, stage by stage.

Each stage is written when it ends, and is not repeated if the store has it. If a stage fails, its
reason is stored and the stages that depend on it are skipped. The other stages and evaluators
continue, and the next run tries the failed stage again.
"""

import asyncio
import contextlib
from collections.abc import Iterator, Mapping, Sequence

from recjury.errors import UnitFailed
from recjury.llm import call_context
from recjury.logs import get_logger
from recjury.records import (
    ConversationRecord,
    Evaluator,
    Rating,
    StageResult,
    Status,
    evaluation_id,
    evaluator_id,
)
from recjury.store import PlannedEvaluation, PlannedEvaluator, Store

logger = get_logger()

_MOST_REPEATS = 1000


class ActiveEvaluator:
    """An evaluator in a run; there is one for each corpus."""

    def __init__(self, label: str, evaluator: Evaluator, judgings: int):
        """`judgings` is the number of times that each log is judged (at least 1)."""
        self.label, self.evaluator, self.judgings = label, evaluator, judgings
        self.version = evaluator_id(evaluator.kind, evaluator.settings)
        self.stages = frozenset(stage.name for stage in evaluator.stages)
        most = evaluator.open_at_once
        self._slots = None if most is None else asyncio.Semaphore(most)

    def planned(self) -> PlannedEvaluator:
        """The evaluator's description for the store."""
        return PlannedEvaluator(
            id=self.version,
            kind=self.evaluator.kind,
            name=self.label,
            settings=self.evaluator.settings,
            judgings=self.judgings,
            metrics=tuple(self.evaluator.metrics),
            stages=tuple(stage.name for stage in self.evaluator.stages),
        )

    def evaluations(self, log: str, repeat: int = 0) -> Iterator[PlannedEvaluation]:
        """The evaluations of the log with this id, one for each judging.

        Each repeat of a scenario and each judging asks for its own replies.
        """
        data = self.evaluator.data
        for judging in range(self.judgings):
            yield PlannedEvaluation(
                identity=evaluation_id(log, self.version, data, judging),
                log=log,
                evaluator=self.version,
                judging=judging,
                data=data,
                sample=repeat + _MOST_REPEATS * judging,
            )

    async def evaluate(
        self, store: Store, planned: PlannedEvaluation, record: ConversationRecord
    ) -> bool:
        """Do the stages of an evaluation that are left; return whether it is complete."""
        async with self._slots or contextlib.nullcontext():
            unit, sample, is_new = await store.enter(planned)
            done = {} if is_new else store.stage_results(unit)
            about = {"evaluation": unit, "evaluator": self.label}
            logger.info("evaluation begun", **about, log=planned.log)
            with call_context(unit, sample):
                for stage in self._ready(done):
                    try:
                        result = await self.evaluator.evaluate(stage, record, done)
                        _refuse_lost(result.ratings)
                        await store.save_stage(planned, stage, result)
                        done[stage] = result
                    except UnitFailed as failure:
                        logger.info("stage failed", **about, stage=stage, reason=str(failure))
                        await store.save_failure(unit, stage, str(failure))
        complete = self.stages <= done.keys()
        logger.info("evaluation ended", **about, log=planned.log, complete=complete)
        return complete

    def _ready(self, done: Mapping[str, StageResult]) -> Iterator[str]:
        """The unfinished stages whose required stages are all in `done`."""
        for stage in self.evaluator.stages:
            if stage.name not in done and all(need in done for need in stage.after):
                yield stage.name


def _refuse_lost(ratings: Sequence[Rating]) -> None:
    """Raise UnitFailed if a call failed: it may succeed later, so the stage is not finished."""
    for rating in ratings:
        if rating.status is Status.CALL_FAILED:
            raise UnitFailed(f"{rating.factor}: {rating.reason}")
