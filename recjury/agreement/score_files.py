"""Scores in files: a run file of CRSArena-Eval, a folder of {aspect}.jsonl, or CSV."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from recjury.corpora.crsarena_run_file import read_run_file
from recjury.corpora.crsarena_runs import AspectRun, read_runs
from recjury.corpora.csv_rows import CsvRow, read_csv_rows
from recjury.errors import DataError
from recjury.judges.aspects import DIGITS, pool, pool_places
from recjury.records import Aspect, ScoreTarget

Scores = Mapping[str, Mapping[ScoreTarget, float]]
"""By metric: the score of each place that has one."""


class Scale(NamedTuple):
    """The lowest and the highest score of a metric; `high` is None without an upper bound."""

    low: float
    high: float | None
    higher_is_better: bool = True

    def share(self, value: float) -> float:
        """A value as a share of the scale, from the worst (0) to the best (1).

        Raises ValueError without an upper bound.
        """
        if self.high is None:
            raise ValueError("a scale without an upper bound has no shares")
        share = (value - self.low) / (self.high - self.low)
        return share if self.higher_is_better else 1 - share


class FileScores(NamedTuple):
    """The scores of a file or folder; higher is better.

    `scales` and `systems` are those that the file names. `parts` has the scores of turns behind
    those of whole conversations.
    """

    scores: Scores
    scales: Mapping[str, Scale]
    systems: Mapping[str, str]
    parts: Scores


def read_scores(path: Path) -> FileScores:
    """The scores at `path`. Raises DataError if there are none, or for a file of another form.

    A CSV file has the columns conversation, metric and score, and may have turn, system, low and
    high.
    """
    if path.suffix.lower() == ".csv":
        found = _read_csv(path)
    elif path.is_dir():
        found = _of_aspects(read_runs(path))
    else:
        scores, _ = read_run_file(path)
        # Equal scores differ in their last bits there, which would change the ranks.
        pooled = {
            str(aspect): {place: round(score, DIGITS) for place, score in own.items()}
            for aspect, own in scores.items()
        }
        found = FileScores(pooled, {str(a): aspect_scale(a) for a in scores}, {}, {})
    if not any(found.scores.values()):
        raise DataError("has no scores", path=path)
    return found


def aspect_scale(aspect: Aspect) -> Scale:
    """The scale of one of CRSArena-Eval's aspects."""
    return Scale(aspect.low, aspect.high)


def _of_aspects(runs: Mapping[Aspect, AspectRun]) -> FileScores:
    return FileScores(
        {str(aspect): pool_places(run.turns, aspect.level) for aspect, run in runs.items()},
        {str(aspect): aspect_scale(aspect) for aspect in runs},
        {},
        {str(aspect): _turn_scores(run) for aspect, run in runs.items()},
    )


def _turn_scores(run: AspectRun) -> dict[ScoreTarget, float]:
    """The score of each turn with scored particles."""
    pooled = {
        place: pool(score for own in particles.values() for score in own.values())
        for place, particles in run.turns.items()
    }
    return {place: score for place, score in pooled.items() if score is not None}


def _read_csv(path: Path) -> FileScores:
    scores: dict[str, dict[ScoreTarget, float]] = {}
    scales: dict[str, Scale] = {}
    systems: dict[str, str] = {}
    for row in read_csv_rows(path, ("conversation", "metric", "score")):
        name, metric, system = row["conversation"], row["metric"], row["system"]
        place = ScoreTarget(name, row.count("turn"))
        own = scores.setdefault(metric, {})
        if place in own:
            raise row.error(f"a second score of {place} for {metric}")
        if row["score"]:
            own[place] = row.number("score")
        if system and systems.setdefault(name, system) != system:
            raise row.error(f"{name} is of {systems[name]!r} in an earlier row, now {system!r}")
        if row["low"] and row["high"]:
            scale = _scale(row, own.get(place))
            if scales.setdefault(metric, scale) != scale:
                raise row.error(f"{metric} has another scale in an earlier row")
    return FileScores(scores, scales, systems, {})


def _scale(row: CsvRow, score: float | None) -> Scale:
    low, high = row.number("low"), row.number("high")
    if high <= low:
        raise row.error(f"high: must be above low, got {low:g} to {high:g}")
    if score is not None and not low <= score <= high:
        raise row.error(f"score: {row['score']} is outside {low:g} to {high:g}")
    return Scale(low, high)
