"""Evaluate one conversation of a campaign, stage by stage.

Each stage is written when it ends, and is not repeated if the store has it. If a stage fails, its
reason is stored and the stages that depend on it are skipped. The other stages and evaluators
continue, and the next run tries the failed stage again.
"""

import asyncio
import contextlib
from collections.abc import Collection, Iterator, Mapping

from recjury.campaign.retry import Retry, is_better
from recjury.errors import RecjuryError, UnitFailed
from recjury.judges import Evaluator
from recjury.llm import call_context
from recjury.logs import get_logger
from recjury.plugins import describe_exception
from recjury.records import (
    ConversationRecord,
    StageResult,
    Status,
    evaluation_id,
    evaluator_id,
)
from recjury.store import PlannedEvaluation, PlannedEvaluator, Store
from recjury.telemetry import rating_events, work_span

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
        self,
        store: Store,
        planned: PlannedEvaluation,
        record: ConversationRecord,
        retry: Retry = Retry.UNSCORED,
    ) -> bool:
        """Do the unfinished stages of an evaluation; return whether it is then complete.

        Before that, finished stages are done again as `retry` says.
        """
        async with self._slots or contextlib.nullcontext():
            unit, sample, is_new = await store.get_or_create_evaluation(planned)
            planned = planned.model_copy(update={"sample": sample})
            work = _Work(self.label, self.evaluator, store, planned, record, unit)
            about = {"evaluation": unit, "evaluator": self.label}
            logger.info("evaluation begun", **about, log=planned.log)
            given_up = set[str]()
            if retry is Retry.NONE and not is_new:
                given_up = {each.stage for each in store.failures(unit)}
            with call_context(unit, sample):
                if not is_new:
                    await work.resume(retry)
                await work.finish(about, given_up)
        complete = self.stages <= work.done.keys()
        logger.info("evaluation ended", **about, log=planned.log, complete=complete)
        return complete


class _Work:
    """The stages of one evaluation; `done` has the results of those that are finished."""

    def __init__(
        self,
        label: str,
        evaluator: Evaluator,
        store: Store,
        planned: PlannedEvaluation,
        record: ConversationRecord,
        unit: str,
    ):
        """`unit` is the evaluation's id in the store."""
        self._label, self._evaluator, self._store = label, evaluator, store
        self._planned, self._record, self._unit = planned, record, unit
        self.done: dict[str, StageResult] = {}

    async def finish(self, about: Mapping[str, str], given_up: Collection[str]) -> None:
        """Do the stages that are neither done nor `given_up`, each once those that it needs are."""
        for stage in self._evaluator.stages:
            if (
                stage.name in self.done
                or stage.name in given_up
                or not all(need in self.done for need in stage.after)
            ):
                continue
            try:
                with work_span(f"evaluate {self._label} {stage.name}", self._told(stage.name)):
                    result = await self._do(stage.name, self.done)
                    await self._store.save_stage(self._planned, stage.name, result)
                    rating_events(self._label, result.ratings, self._told(stage.name))
                self.done[stage.name] = result
            except UnitFailed as failure:
                logger.info("stage failed", **about, stage=stage.name, reason=str(failure))
                await self._store.save_failure(self._unit, stage.name, str(failure))

    async def resume(self, retry: Retry) -> None:
        """Read the finished stages, and repeat those in which a score is missing.

        If that gives more scores, the stages that depend on them are repeated too, and the results
        are stored as another attempt at the evaluation; otherwise nothing changes.
        """
        self.done = dict(self._store.stage_results(self._unit))
        missing = retry.stages(self.done)
        if not missing:
            return
        results, better = dict(self.done), set[str]()
        for stage in self._evaluator.stages:
            stale = not better.isdisjoint(stage.after)
            if stage.name not in self.done or not (stale or stage.name in missing):
                continue
            try:
                result = await self._do(stage.name, results)
            except UnitFailed as failure:
                await self._store.save_failure(self._unit, stage.name, str(failure))
                if stale:  # its result depends on the earlier ratings, so it must be repeated
                    del results[stage.name]
                continue
            if stale or is_better(result, self.done[stage.name]):
                results[stage.name] = result
                better.add(stage.name)
        if better:
            await self._store.save_attempt(self._planned, results)
            handle = await self._store.get_or_create_evaluation(self._planned)
            self._unit = handle.id
            self.done = results
            for name in sorted(better):
                rating_events(self._label, results[name].ratings, self._told(name))

    def _told(self, stage: str) -> dict[str, str]:
        """What spans and events say of a stage."""
        log = self._record.log
        return {
            "evaluation": self._unit,
            "evaluator": self._label,
            "stage": stage,
            "log": self._planned.log,
            "system": log.system,
            "scenario": log.scenario.id,
        }

    async def _do(self, stage: str, done: Mapping[str, StageResult]) -> StageResult:
        """The result of a stage. Raises UnitFailed if a call failed: it may succeed later, so the
        stage is not finished."""
        try:
            result = await self._evaluator.evaluate(stage, self._record, done)
        except Exception as error:
            if isinstance(error, RecjuryError) or not self._evaluator.is_plugin:
                raise
            raise UnitFailed(f"{self._label}: raised {describe_exception(error)}") from error
        for rating in result.ratings:
            if rating.status is Status.CALL_FAILED:
                raise UnitFailed(f"{rating.factor}: {rating.reason}")
        return result
