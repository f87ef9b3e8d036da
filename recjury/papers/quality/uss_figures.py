"""Scores of labelled turns and dialogues, and how far they agree with the labels."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.judges.dialogue_quality.evaluator import QualityEvaluator
from recjury.judges.dialogue_quality.subjects import LabelledSubject
from recjury.llm import Answer, gather
from recjury.records import JSON, Status
from recjury.stats.clustered import cluster_bootstrap
from recjury.stats.satisfaction import SatisfactionFigures, mean_figures, satisfaction_figures


class RatedSubject(NamedTuple):
    """The dialogue and the label of a subject, and the answer of each run."""

    dialogue: str
    label: float
    answers: tuple[Answer, ...]


class QualityFigures(NamedTuple):
    """The figures over what was scored: the means over all runs. None if nothing was.

    `intervals` are 95 % intervals of some of them by a bootstrap of the `dialogues`. `unscored`
    counts the reasons why runs have no score, of which `failed` are calls that the same command
    tries again. `cut` counts prompts from which turns had to be left out, and `left_out` those
    turns.
    """

    figures: SatisfactionFigures | None
    intervals: Mapping[str, tuple[float | None, float | None]]
    dialogues: int
    unscored: Mapping[str, int]
    failed: int
    cut: int
    left_out: int

    def as_json(self) -> dict[str, JSON]:
        """The figures by name, with their intervals and counts; none of the reasons."""
        found: Mapping[str, JSON] = {} if self.figures is None else self.figures.as_json()
        return {**found, "dialogues": self.dialogues, "intervals": self.intervals}


async def rate_all(
    evaluator: QualityEvaluator,
    labelled: Sequence[LabelledSubject],
    done: Callable[[], None] = lambda: None,
) -> list[RatedSubject]:
    """Each subject rated; `done` is called after each. Raises as `QualityEvaluator.answers`."""

    async def one(each: LabelledSubject) -> RatedSubject:
        answers = await evaluator.answers(each.subject)
        done()
        return RatedSubject(each.subject.dialogue, each.label, answers)

    return await gather(map(one, labelled))


def figures_of(rated: Sequence[RatedSubject], *, resamples: int = 500) -> QualityFigures:
    """How far the scores agree with the labels; subjects that a run did not score are left out."""
    answers = [answer for each in rated for answer in each.answers]
    lost = [answer.rating for answer in answers if answer.rating.score is None]
    known = [
        each for each in rated if all(answer.rating.score is not None for answer in each.answers)
    ]
    figures, intervals = None, {}
    if known:
        labels = np.array([each.label for each in known])
        scores = np.array(
            [[answer.rating.score for answer in each.answers] for each in known], dtype=float
        )
        figures = mean_figures([satisfaction_figures(run, labels) for run in scores.T])

        def statistic(drawn: NDArray[np.int64]) -> Sequence[float | None]:
            again = [satisfaction_figures(run[drawn], labels[drawn]) for run in scores.T]
            found = mean_figures(again)
            return found.spearman, found.pearson, found.weighted.f1

        clusters = [each.dialogue for each in known]
        estimates = cluster_bootstrap(statistic, clusters, resamples=resamples)
        intervals = {
            name: (each.low, each.high)
            for name, each in zip(("spearman", "pearson", "weighted_f1"), estimates, strict=True)
        }
    return QualityFigures(
        figures,
        intervals,
        len({each.dialogue for each in known}),
        dict(Counter(rating.reason for rating in lost).most_common()),
        sum(rating.status is Status.CALL_FAILED for rating in lost),
        sum(answer.left_out > 0 for answer in answers),
        sum(answer.left_out for answer in answers),
    )
