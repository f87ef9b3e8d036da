"""The analyses of FACE's paper on its released scores, and two more, without any model.

    python -m benchmarks.face_analyses --data DIR --json

`DIR` holds crs_arena_eval.json, face-runs/ and baselines.json (the folder crsarena-eval of the
public data). `--plots DIR` draws the pictures of docs/face-results.md as SVG. About two minutes.
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.face_effort import by_instructions, by_particles, columns, pooled_noise
from benchmarks.face_length import length_bias
from benchmarks.face_within_systems import within_systems
from benchmarks.running import run
from recjury.agreement.profiles import by_metric, by_turn
from recjury.agreement.samples import sample_qualities
from recjury.agreement.score_files import read_scores
from recjury.agreement.scored_run import ScoredRun, words_of
from recjury.corpora.crsarena import SUBSETS, CrsArena, read_crsarena, subset_of, system_of
from recjury.corpora.crsarena_runs import AspectRun, read_runs
from recjury.judges.aspects import pool_places
from recjury.papers.face.face_scores import FaceScores, Scores
from recjury.papers.face.table1 import face_rows
from recjury.records import Aspect, Level, ScoreTarget
from recjury.stats.score_table import ScoreRow, ScoreTable, SystemEstimates, correlate_systems

OVERALL = Aspect.DIALOGUE_OVERALL
CONVERSATIONS = (1, 2, 3, 5, 8, 10, 15, 20, 30, 40)
INSTRUCTIONS = (1, 2, 4, 8, 16)
PARTICLES = (1, 2, 4, 8, 16)
CONTRASTED = ("barcor", "unicrs")

_NAMES = {"redial": "CRSArena-Eval_RD", "opendialkg": "CRSArena-Eval_KG"}
_BASELINES = ("LLM-Direct", "LLM-CoT+ICL", "UniEval", "G-Eval", "FACE w/o train")


class Given(NamedTuple):
    """The released data in a folder, read and pooled."""

    folder: Path
    people: CrsArena
    runs: Mapping[Aspect, AspectRun]
    scores: Scores
    published: Mapping[str, Any]


def read(folder: Path) -> Given:
    """Read the folder crsarena-eval; raises DataError for what cannot be used."""
    runs = read_runs(folder / "face-runs")
    return Given(
        folder,
        read_crsarena(folder / "crs_arena_eval.json"),
        runs,
        {aspect: pool_places(run.turns, aspect.level) for aspect, run in runs.items()},
        json.loads((folder / "baselines.json").read_text("utf-8")),
    )


def analyse(given: Given, *, resamples: int = 1_000, draws: int = 1_000) -> dict[str, Any]:
    """All analyses as plain data."""
    return {
        "annotation": annotation(given),
        "ranking": rankings(given, resamples),
        "sample_efficiency": [
            one._asdict()
            for one in sample_qualities(pairs(given, OVERALL), CONVERSATIONS, draws=draws)
        ],
        "effort": effort(given, draws),
        "length_bias": length(given),
        "contrast": contrasts(given),
        "within_systems": within(given, resamples),
        "sampling_noise": noise(given),
    }


def annotation(given: Given) -> dict[str, Any]:
    """Table 1: FACE from the released scores, beside what was published."""
    found: dict[str, Any] = {subset: {} for subset in SUBSETS}
    for row in face_rows(FaceScores(given.scores, given.people, (), {})):
        published = given.published[_NAMES[row.subset]]
        found[row.subset][str(row.aspect)] = {
            "FACE": [row.correlation.pearson, row.correlation.spearman],
            "n": row.correlation.n,
            "published": {
                name: list(published[name][_as_published(row.aspect)].values())
                for name in (*_BASELINES, "FACE")
            },
        }
    return found


def rankings(given: Given, resamples: int) -> dict[str, Any]:
    """Table 2, for FACE: nine systems, and the systems of each subset."""
    found: dict[str, Any] = {}
    for group in ("all", *SUBSETS):
        rows: dict[Aspect, SystemEstimates] = {}
        for aspect in Aspect:
            table = pairs(given, aspect, None if group == "all" else group)
            ranked = correlate_systems(table, resamples=resamples)
            assert ranked is not None
            rows[aspect] = ranked
        levels = {
            "turn": [a for a in Aspect if a.level is Level.TURN],
            "dialogue": [a for a in Aspect if a.level is Level.DIALOGUE],
            "all": list(Aspect),
        }
        found[group] = {
            "aspects": {str(aspect): _plain(row) for aspect, row in rows.items()},
            "means": {
                name: [
                    float(np.mean([rows[a].pearson.value for a in some])),
                    float(np.mean([rows[a].spearman.value for a in some])),
                ]
                for name, some in levels.items()
            },
        }
    return found


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


def length(given: Given) -> dict[str, Any]:
    """Appendix D.1."""
    found = length_bias(given.people.logs, given.scores[OVERALL], given.people.labels[OVERALL])
    return {
        "evaluator": found.evaluator._asdict(),
        "people": found.people._asdict(),
        "words": dict(found.words),
    }


def contrasts(given: Given) -> dict[str, Any]:
    """Section 5.3: BARCOR and UniCRS by aspect, and their understanding turn by turn."""
    run = _both_subsets(given)
    labels = {str(aspect): given.people.labels[aspect] for aspect in given.scores}
    scores, people = by_metric(run), by_metric(run._replace(scores=labels))
    turns = by_turn(run, str(Aspect.UNDERSTANDING))
    return {
        system: {
            "aspects": {
                aspect: {"scores": mean._asdict(), "labels": people[system][aspect]._asdict()}
                for aspect, mean in scores[system].items()
            },
            "understanding_by_turn": [mean._asdict() for mean in turns[system]],
        }
        for system in CONTRASTED
    }


def _both_subsets(given: Given) -> ScoredRun:
    """The released scores, with the systems of both subsets as one."""
    logs, files = given.people.logs, read_scores(given.folder / "face-runs")
    return ScoredRun(
        files.scores,
        files.scales,
        {name: name.partition("_")[0] for name in logs},
        {name: name for name in logs},
        {name: words_of(log) for name, log in logs.items()},
        files.parts,
    )


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


def _as_published(aspect: Aspect) -> str:
    return "dialog_overall" if aspect is OVERALL else str(aspect)


def _plain(value: Any) -> Any:
    """Nested named tuples as objects."""
    if hasattr(value, "_asdict"):
        return {key: _plain(each) for key, each in value._asdict().items()}
    return value


def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.face_analyses", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder crsarena-eval")
    parser.add_argument("--resamples", type=int, default=1_000)
    parser.add_argument("--plots", type=Path, help="a folder to draw SVG pictures in")
    parser.add_argument("--markdown", action="store_true", help="print the tables of the docs")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = analyse(read(options.data), resamples=options.resamples, draws=options.resamples)
    if options.plots is not None:
        from benchmarks.face_pictures import draw

        draw(found, options.plots)
    if options.markdown:
        from benchmarks.face_tables import markdown

        print(markdown(found))
    elif options.json:
        print(json.dumps(found))


if __name__ == "__main__":
    run(_main)
