"""How often corrected means of few labels cover the mean of all labels, and how wide they are.

python -m benchmarks.corrected_means --data DATA [--labelled 40] [--by-system] [--json]

Labels are CRSArena-Eval's, scores are FACE's released ones. Each draw takes labelled dialogues with
replacement, and `mean_of_these` all scores, of a data set or of one system. `naive` is how often
the usual interval of the judge's scores, taken for labels, covers the mean label. Three seeds.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from benchmarks.label_means import NotCorrected, mean_of_these
from recjury.corpora.crsarena import read_crsarena, subset_of, system_of
from recjury.corpora.crsarena_run_file import read_run_file
from recjury.records import Aspect, Level, ScoreTarget

_SEEDS = (0, 1, 2)
_COLUMNS = ("covered", "width", "refused", "naive")
_Floats = NDArray[np.float64]


def main() -> None:
    """Draw for every subset and aspect of dialogues, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=1_000)
    parser.add_argument("--labelled", type=int, default=40)
    parser.add_argument("--by-system", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    folder = given.data / "crsarena-eval"
    people = read_crsarena(folder / "crs_arena_eval.json").labels
    scores, _ = read_run_file(folder / "face_run.json")
    found = {}
    for aspect in (each for each in Aspect if each.level is Level.DIALOGUE):
        groups: dict[str, list[ScoreTarget]] = {}
        for place in people[aspect]:
            if place in scores[aspect]:
                group = _group(place.conversation, by_system=given.by_system)
                groups.setdefault(group, []).append(place)
        for group, places in sorted(groups.items()):
            labels = np.array([people[aspect][place] for place in places], dtype=float)
            rated = np.array([scores[aspect][place] for place in places])
            found[f"{group}, {aspect}"] = [
                _draw(labels, rated, given.labelled, given.draws, seed) for seed in _SEEDS
            ]
    if given.json:
        print(json.dumps(found))
        return
    for name, seeds in found.items():
        shown = (f"{column} {_values(seeds, column)}" for column in _COLUMNS)
        print(f"{name}: {', '.join(shown)}")


def _group(conversation: str, *, by_system: bool) -> str:
    return system_of(conversation) if by_system else subset_of(conversation)


def _values(seeds: list[dict[str, float]], column: str) -> str:
    return "/".join(f"{each[column]:.3f}" for each in seeds)


def _draw(
    labels: _Floats, scores: _Floats, labelled: int, draws: int, seed: int
) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    covered, naive, widths, refused = [], [], [], 0
    for _ in range(draws):
        chosen = rng.integers(0, len(labels), labelled)
        found = mean_of_these(labels[chosen], scores[chosen], scores)
        shown = scores[chosen]
        half = t.ppf(0.975, labelled - 1) * shown.std(ddof=1) / labelled**0.5
        naive.append(abs(shown.mean() - labels.mean()) <= half)
        if isinstance(found, NotCorrected):
            refused += 1
            continue
        covered.append(found.low <= labels.mean() <= found.high)
        widths.append((found.high - found.low) / (found.labels_high - found.labels_low))
    return {
        "covered": float(np.mean(covered)) if covered else float("nan"),
        "width": float(np.median(widths)) if widths else float("nan"),
        "refused": refused / draws,
        "naive": float(np.mean(naive)),
    }


if __name__ == "__main__":
    main()
