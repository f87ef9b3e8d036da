"""Scores of labelled turns and dialogues, and how far they agree with the labels."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from recjury.judges.dialogue_quality.rater import QualityRater, RunScore
from recjury.judges.dialogue_quality.subjects import LabelledSubject
from recjury.llm import gather
from recjury.records import Status
from recjury.stats.satisfaction import SatisfactionFigures, mean_figures, satisfaction_figures


class RatedSubject(NamedTuple):
    """The label of a turn or dialogue, and the score of each run."""

    label: float
    runs: tuple[RunScore, ...]


class QualityFigures(NamedTuple):
    """The figures over what was scored: the means over all runs. None if nothing was.

    `unscored` counts the reasons why runs have no score, of which `failed` are calls that the same
    command tries again. `cut` counts prompts from which turns had to be left out, and `left_out`
    those turns.
    """

    figures: SatisfactionFigures | None
    unscored: Mapping[str, int]
    failed: int
    cut: int
    left_out: int


async def rate_all(
    rater: QualityRater,
    labelled: Sequence[LabelledSubject],
    done: Callable[[], None] = lambda: None,
) -> list[RatedSubject]:
    """Each subject rated; `done` is called after each. Raises as `QualityRater.rate`."""

    async def one(each: LabelledSubject) -> RatedSubject:
        runs = await rater.rate(each.subject)
        done()
        return RatedSubject(each.label, runs)

    return await gather(map(one, labelled))


def figures_of(rated: Sequence[RatedSubject]) -> QualityFigures:
    """How far the scores agree with the labels."""
    runs = [run for each in rated for run in each.runs]
    lost = [run for run in runs if run.score is None]
    by_run = [
        [(run.score, each.label) for each, run in zip(rated, scores, strict=True)]
        for scores in zip(*(each.runs for each in rated), strict=True)
    ]
    known = [[(score, label) for score, label in pairs if score is not None] for pairs in by_run]
    found = [satisfaction_figures(*zip(*pairs, strict=True)) for pairs in known if pairs]
    return QualityFigures(
        mean_figures(found) if found else None,
        dict(Counter(run.reason for run in lost).most_common()),
        sum(run.status is Status.CALL_FAILED for run in lost),
        sum(run.left_out > 0 for run in runs),
        sum(run.left_out for run in runs),
    )
