"""FACE's table 1 from per-instruction scores: pool, join, correlate."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from recjury.alignment.annotation import Coverage, Table, annotation_table, coverage
from recjury.corpora.crsarena import CrsArena, read_crsarena
from recjury.corpora.crsarena_runs import AspectRun, read_runs
from recjury.corpora.problems import Fault, Problem
from recjury.judges.face.pooling import pool_places
from recjury.records import Aspect, Place, Speaker


class FaceTable(NamedTuple):
    """The correlations, how much was scored, and everything that is wrong with the input."""

    correlations: Table
    coverage: Mapping[str, Mapping[Aspect, Coverage]]
    problems: tuple[Problem, ...]


def face_table(runs: Path, labels: Path, *, strict: bool = False) -> FaceTable:
    """Pool the scores in the folder `runs`, and hold them against the file `labels`.

    With `strict`, scores outside their aspect's scale are left out, and not only reported.
    Raises DataError for files that cannot be used.
    """
    people = read_crsarena(labels)
    given = read_runs(runs)
    pooled = {
        aspect: pool_places(_inside(run) if strict else run.turns, aspect.level)
        for aspect, run in given.items()
    }
    problems = [*people.problems]
    for run in given.values():
        problems += run.problems
        problems += _unknown(run, people)
    return FaceTable(
        annotation_table(pooled, people.labels), coverage(pooled, people.labels), tuple(problems)
    )


def _inside(run: AspectRun) -> dict[Place, dict[int, dict[str, float]]]:
    low, high = run.aspect.low, run.aspect.high
    return {
        place: {
            number: {name: score for name, score in scores.items() if low <= score <= high}
            for number, scores in particles.items()
        }
        for place, particles in run.turns.items()
    }


def _unknown(run: AspectRun, people: CrsArena) -> Iterator[Problem]:
    for place in run.turns:
        log = people.logs.get(place.conversation)
        if log is None:
            yield Problem(
                Fault.UNKNOWN_PLACE, place, run.aspect, "the label file lacks this conversation"
            )
            continue
        turns = log.interaction
        at = place.turn
        if at is None or not 0 <= at < len(turns) or turns[at].speaker is not Speaker.SYSTEM:
            yield Problem(Fault.UNKNOWN_PLACE, place, run.aspect, "is no turn of the system")
