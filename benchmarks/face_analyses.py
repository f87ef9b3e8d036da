"""What FACE's released scores say beyond the paper: within systems, noise, and effort.

    python -m benchmarks.face_analyses --data DIR --json

`DIR` holds crs_arena_eval.json and face-runs/ (the folder crsarena-eval of the public data). The
paper's own tables and figures are analyses (docs/face-results.md). About a minute.
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.face_effort import by_instructions, by_particles, columns, pooled_noise
from benchmarks.face_within_systems import within_systems
from benchmarks.running import run
from recjury.corpora.crsarena import SUBSETS, CrsArena, read_crsarena, subset_of, system_of
from recjury.corpora.crsarena_runs import AspectRun, read_runs
from recjury.judges.aspects import pool_places
from recjury.papers.face.face_scores import Scores
from recjury.records import Aspect, ScoreTarget
from recjury.stats.score_table import ScoreRow, ScoreTable

OVERALL = Aspect.DIALOGUE_OVERALL
INSTRUCTIONS = (1, 2, 4, 8, 16)
PARTICLES = (1, 2, 4, 8, 16)


class Given(NamedTuple):
    """The released data in a folder, read and pooled."""

    people: CrsArena
    runs: Mapping[Aspect, AspectRun]
    scores: Scores


def read(folder: Path) -> Given:
    """Read the folder crsarena-eval; raises DataError for what cannot be used."""
    runs = read_runs(folder / "face-runs")
    return Given(
        read_crsarena(folder / "crs_arena_eval.json"),
        runs,
        {aspect: pool_places(run.turns, aspect.level) for aspect, run in runs.items()},
    )


def analyse(given: Given, *, resamples: int = 1_000, draws: int = 1_000) -> dict[str, Any]:
    """All analyses as plain data."""
    return {
        "effort": effort(given, draws),
        "within_systems": within(given, resamples),
        "sampling_noise": noise(given),
    }


def effort(given: Given, draws: int) -> dict[str, Any]:
    """Correlations against the number of instructions and of particles, overall impression."""
    found: dict[str, Any] = {}
    for subset in SUBSETS:
        some = columns(given.runs[OVERALL].turns, _labels(given, OVERALL, subset), OVERALL.level)
        found[subset] = {
            "instructions": [one._asdict() for one in by_instructions(some, INSTRUCTIONS)],
            "particles": [
                one._asdict() for one in by_particles(some, PARTICLES, draws=min(draws, 200))
            ],
        }
    return found


def within(given: Given, resamples: int) -> dict[str, Any]:
    """What of the correlations is inside systems."""
    return {
        subset: {
            str(aspect): _plain(within_systems(pairs(given, aspect, subset), resamples=resamples))
            for aspect in Aspect
        }
        for subset in SUBSETS
    }


def noise(given: Given) -> dict[str, Any]:
    """What of the scores is sampling."""
    return {
        subset: {
            str(aspect): _plain(
                pooled_noise(
                    columns(given.runs[aspect].turns, _labels(given, aspect, subset), aspect.level),
                    aspect,
                )
            )
            for aspect in Aspect
        }
        for subset in SUBSETS
    }


def pairs(given: Given, aspect: Aspect, subset: str | None = None) -> ScoreTable:
    """The released scores of an aspect beside people's labels."""
    scores = given.scores[aspect]
    return ScoreTable.of_rows(
        [
            ScoreRow(name, str(aspect), scores[place], label, system_of(name), name)
            for place, label in given.people.labels[aspect].items()
            for name in (place.conversation,)
            if place in scores and subset in (None, subset_of(name))
        ]
    )


def _labels(given: Given, aspect: Aspect, subset: str) -> dict[ScoreTarget, int]:
    labels = given.people.labels[aspect]
    return {place: labels[place] for place in labels if subset_of(place.conversation) == subset}


def _plain(value: Any) -> Any:
    """Nested named tuples as objects."""
    if hasattr(value, "_asdict"):
        return {key: _plain(each) for key, each in value._asdict().items()}
    return value


def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.face_analyses", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder crsarena-eval")
    parser.add_argument("--resamples", type=int, default=1_000)
    parser.add_argument("--markdown", action="store_true", help="print the tables of the docs")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = analyse(read(options.data), resamples=options.resamples, draws=options.resamples)
    if options.markdown:
        from benchmarks.face_tables import markdown

        print(markdown(found))
    elif options.json:
        print(json.dumps(found))


if __name__ == "__main__":
    run(_main)
