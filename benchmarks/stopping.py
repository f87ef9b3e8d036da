"""What stopping early by pairs saves and gets wrong, replayed on recorded labels in random order.

python -m benchmarks.stopping --data DATA [--replays 1000] [--json]

Each replay draws the dialogues of CRSArena-Eval's systems in a new order, pairs them by place, and
looks at the overall labels after every place: a pair of systems is decided at 95 % over all pairs
together, after at least 20. `wrong` is the share of replays with any decision against the order of
all labels' means. `saved` is the median share of places that was not needed, over pairs whose usual
95 % interval at the end excludes 0. `null` is the share of replays with any decision if all
systems' labels are drawn from one.
"""

import argparse
import json
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recjury.corpora.crsarena import SUBSETS, read_crsarena, subset_of, system_of
from recjury.stats.sequential import SequentialTest, decide_pairs

_Floats = NDArray[np.float64]
_LEAST = 20
_TOP = 4  # the highest overall label


def main() -> None:
    """Replay both subsets, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--replays", type=int, default=1_000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    read = read_crsarena(given.data / "crsarena-eval" / "crs_arena_eval.json")
    found = {}
    for subset in SUBSETS:
        systems: dict[str, list[float]] = {}
        for place, label in read.labels["dialogue_overall"].items():
            if subset_of(place.conversation) == subset:
                systems.setdefault(system_of(place.conversation), []).append(label)
        labels = {name: np.array(own, dtype=float) for name, own in sorted(systems.items())}
        found[subset] = _measure(labels, given.replays)
    if given.json:
        print(json.dumps(found))
        return
    for subset, own in found.items():
        print(subset, ", ".join(f"{name} {value:.3g}" for name, value in own.items()))


def _measure(labels: dict[str, _Floats], replays: int) -> dict[str, float]:
    rng = np.random.default_rng(0)
    size = min(map(len, labels.values()))
    every = np.concatenate(list(labels.values()))
    truth = {name: float(own.mean()) for name, own in labels.items()}
    wrong = decided = at_null = 0
    saved: list[float] = []
    for _ in range(replays):
        drawn = {name: rng.permutation(own)[:size] for name, own in labels.items()}
        ends = _replay(drawn, size)
        wrong += any(truth[better] < truth[other] for (better, other), _ in ends)
        decided += len(ends)
        by_pair = {frozenset(pair): end for pair, end in ends}
        for a, b in combinations(labels, 2):
            gaps = drawn[a] - drawn[b]
            if abs(gaps.mean()) > 1.96 * gaps.std(ddof=1) / size**0.5:
                saved.append(1 - by_pair.get(frozenset((a, b)), size) / size)
        same = {name: rng.choice(every, size) for name in labels}
        at_null += bool(_replay(same, size))
    return {
        "places": size,
        "decided": decided / replays,
        "wrong": wrong / replays,
        "saved": float(np.median(saved)),
        "null": at_null / replays,
    }


def _replay(drawn: dict[str, _Floats], size: int) -> list[tuple[tuple[str, str], int]]:
    """Each decided pair, the better one first, with the place at which it was decided."""
    tests = {pair: SequentialTest(-_TOP, _TOP) for pair in combinations(drawn, 2)}
    ends: dict[tuple[str, str], int] = {}
    for place in range(size):
        for (a, b), test in tests.items():
            test.add(float(drawn[a][place] - drawn[b][place]))
        for each in decide_pairs(tests, confidence=0.95, least=_LEAST):
            if each.better is not None:
                other = each.b if each.better == each.a else each.a
                ends.setdefault((each.better, other), place + 1)
    return list(ends.items())


if __name__ == "__main__":
    main()
