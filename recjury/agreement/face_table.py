"""FACE's table 1 from scores in files or in a store: pool, join, correlate."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from recjury.agreement.annotation_table import Coverage, Scores, Table, annotation_table, coverage
from recjury.agreement.face_results import Scored, pooled_scores, problems_of
from recjury.corpora.crsarena import CrsArena, read_crsarena
from recjury.corpora.crsarena_run_file import read_run_file
from recjury.corpora.crsarena_runs import AspectRun, ParticleScores, read_runs
from recjury.corpora.data_problems import Fault, Problem
from recjury.judges.aspects import DIGITS, pool_places
from recjury.records import Aspect, ScoreTarget, Speaker


class FaceTable(NamedTuple):
    """The correlations, how many places were scored, and all errors in the input."""

    correlations: Table
    coverage: Mapping[str, Mapping[Aspect, Coverage]]
    problems: tuple[Problem, ...]


def face_table(runs: Path, labels: Path, *, strict: bool = False) -> FaceTable:
    """Pool the scores in the folder `runs`, and compare them with the file `labels`.

    `runs` may also be a run file, which has pooled scores. Scores outside the scale of their
    aspect are reported; with `strict` they are also left out.
    Raises DataError for files that cannot be used.
    """
    people = read_crsarena(labels)
    if runs.is_file():
        return _of_run_file(runs, people, strict=strict)
    given = read_runs(runs)
    pooled = {
        aspect: pool_places(_of_turns(_inside(run) if strict else run.turns, people), aspect.level)
        for aspect, run in given.items()
    }
    problems = [*people.problems]
    for run in given.values():
        problems += run.problems
        problems += _unknown(run.aspect, run.turns, people)
    return _table(pooled, people, problems)


def scored_table(scored: Sequence[Scored], labels: Path) -> FaceTable:
    """Compare FACE's results in a store with the file `labels`; raises DataError."""
    people = read_crsarena(labels)
    problems = [*people.problems, *problems_of(scored)]
    pooled = pooled_scores(scored)
    for aspect, own in pooled.items():
        problems += _unknown(aspect, own, people)
    return _table(pooled, people, problems)


def _of_run_file(path: Path, people: CrsArena, *, strict: bool) -> FaceTable:
    scores, problems = read_run_file(path)
    for aspect, own in scores.items():
        problems += tuple(_unknown(aspect, own, people))
        scores[aspect] = {
            place: round(score, DIGITS)
            for place, score in own.items()
            if not strict or aspect.low <= score <= aspect.high
        }
    return _table(scores, people, (*people.problems, *problems))


def _table(scores: Scores, people: CrsArena, problems: Iterable[Problem]) -> FaceTable:
    correlations = annotation_table(scores, people.labels)
    return FaceTable(correlations, coverage(scores, people.labels), tuple(problems))


def _inside(run: AspectRun) -> dict[ScoreTarget, dict[int, dict[str, float]]]:
    low, high = run.aspect.low, run.aspect.high
    return {
        place: {
            number: {name: score for name, score in scores.items() if low <= score <= high}
            for number, scores in particles.items()
        }
        for place, particles in run.turns.items()
    }


def _of_turns(
    turns: Mapping[ScoreTarget, ParticleScores], people: CrsArena
) -> dict[ScoreTarget, ParticleScores]:
    """The scores of turns that exist; others are reported and are not part of any dialogue."""
    return {place: scores for place, scores in turns.items() if not _what_is_unknown(place, people)}


def _unknown(aspect: Aspect, places: Iterable[ScoreTarget], people: CrsArena) -> Iterator[Problem]:
    for place in places:
        what = _what_is_unknown(place, people)
        if what:
            yield Problem(Fault.UNKNOWN_PLACE, place, aspect, what)


def _what_is_unknown(place: ScoreTarget, people: CrsArena) -> str:
    log = people.logs.get(place.conversation)
    if log is None:
        return "the label file lacks this conversation"
    if place.turn is None:
        return ""
    is_there = 0 <= place.turn < len(log.interaction)
    if is_there and log.interaction[place.turn].speaker is Speaker.SYSTEM:
        return ""
    return "is not a turn of the system"
