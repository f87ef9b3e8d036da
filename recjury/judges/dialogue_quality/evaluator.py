"""Dialogue quality as an evaluator: each turn, or the dialogue, rated from 1 to 5."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from recjury.judges.dialogue_quality.config import METRICS
from recjury.judges.dialogue_quality.rater import HIGH, LOW, QualityRater, RunScore
from recjury.judges.dialogue_quality.subjects import subject_of_log
from recjury.judges.fitting import missing_to_rate
from recjury.llm import gather
from recjury.records import (
    JSON,
    ConversationLog,
    ConversationRecord,
    Level,
    Metric,
    Rating,
    Stage,
    StageResult,
    Status,
)

_LITTLE = 0.5  # of the probability: if the ratings have less, it is said
_LEVELS = {metric: level for level, metric in METRICS.items()}


class QualityEvaluator:
    """Asks for a rating of each turn or dialogue; one with random examples is a mean of runs."""

    kind = "dialogue-quality"
    open_at_once: int | None = None

    def __init__(
        self,
        rater: QualityRater,
        metrics: Sequence[Metric],
        *,
        name: str = "dialogue-quality",
        models: Mapping[str, JSON] | None = None,
    ):
        """`models` has the settings of the model that can change a reply, by alias."""
        self._rater = rater
        self._models = dict(models or {})
        self.name = name
        self.metrics = tuple(metrics)
        self.stages = tuple(Stage(name=metric.id) for metric in metrics)

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Model, prompts and method, but not which levels are rated."""
        return {**self._rater.settings, "models": self._models}

    @property
    def data(self) -> Mapping[str, JSON]:
        """The content of the examples."""
        return self._rater.data

    async def evaluate(
        self,
        stage: str,
        record: ConversationRecord,
        done: Mapping[str, StageResult],  # noqa: ARG002 (no level needs another)
    ) -> StageResult:
        """The ratings of the metric called `stage`, and the score of each run."""
        log, level = record.log, _LEVELS[stage]
        turns = log.system_turn_indices if level is Level.TURN else (None,)
        found = await gather(self._rated(log, turn) for turn in turns)
        kept: list[JSON] = [[run.score for run in runs] for _, runs in found]
        return StageResult(tuple(rating for rating, _ in found), {"runs": kept})

    async def _rated(
        self, log: ConversationLog, turn: int | None
    ) -> tuple[Rating, tuple[RunScore, ...]]:
        missing = missing_to_rate(log, turn)
        if missing:
            runs: tuple[RunScore, ...] = (RunScore(None, Status.NOT_APPLICABLE, missing),)
        else:
            runs = await self._rater.rate(subject_of_log(log, turn))
        return self._rating(turn, runs), runs

    def _rating(self, turn: int | None, runs: Sequence[RunScore]) -> Rating:
        """The mean of all runs; without a score if one of them has none."""
        level = Level.DIALOGUE if turn is None else Level.TURN
        lost = next((run for run in runs if run.score is None), None)
        scores = [run.score for run in runs if run.score is not None]
        return Rating(
            evaluator=f"{self.kind}/{self._rater.model}",
            factor=METRICS[level],
            score=fmean(scores) if lost is None else None,
            status=Status.SCORED if lost is None else lost.status,
            reason="" if lost is None else lost.reason,
            rationale=_rationale(runs) if lost is None else "",
            level=level,
            turn=turn,
            low=LOW,
            high=HIGH,
            rubric=self._rater.prompts.identity,
            calls=tuple(call for run in runs for call in run.calls),
            repaired=runs[0].repaired,
        )


def _rationale(runs: Sequence[RunScore]) -> str:
    """What the model wrote or weighed, what was left out, and how far it answered."""
    parts = [runs[0].said]
    if len(runs) > 1:
        scores = ", ".join(f"{run.score:.2f}" for run in runs)
        parts = [f"the mean of {len(runs)} draws of examples: {scores}"]
    left_out = max(run.left_out for run in runs)
    if left_out:
        parts.append(f"the oldest {left_out} turns were left out: the prompt was too long")
    of_examples = max(run.left_out_of_examples for run in runs)
    if of_examples:
        parts.append(f"{of_examples} turns of the examples were left out")
    mass = min(run.mass for run in runs)
    if mass < _LITTLE:
        parts.append(f"all ratings together had {mass:.3f} of the probability")
    return "; ".join(filter(None, parts))
