"""What stopping early by pairs saves and gets wrong, replayed on labels in random order.

python -m benchmarks.stopping --data DATA [--replays 1000] [--json]

A replay looks at the overall labels of all systems after every place: a pair is decided at 95 %
over all pairs together, after at least 20. `planted` draws new labels of five systems whose true
means are .4 apart: `wrong` is the share of replays with any decision against the truth. For
CRSArena-Eval, a replay takes the same dialogues in a new order, paired by place. `saved` is the
median share of places that was not needed, over pairs whose usual 95 % interval at the end excludes
0. `null` is the share of replays with any decision if all systems' labels are drawn from one.
"""

import argparse
import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recjury.corpora.crsarena import SUBSETS, CrsArena, read_crsarena, subset_of, system_of
from recjury.stats.sequential import SequentialTest, decide_pairs

_Floats = NDArray[np.float64]
_Labels = dict[str, _Floats]
_LEAST = 20
_TOP = 4  # the highest overall label
_PLANTED = {"e": 0.6, "d": 1.0, "c": 1.4, "b": 1.8, "a": 2.2}  # "a" is the best one
_PLACES = 100


def main() -> None:
    """Replay planted systems and both subsets, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--replays", type=int, default=1_000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    found = {"planted": _measure(lambda: _planted(rng), given.replays, rng)}
    read = read_crsarena(given.data / "crsarena-eval" / "crs_arena_eval.json")
    for subset in SUBSETS:
        labels = _recorded(read, subset)
        size = min(map(len, labels.values()))

        def draw(labels: _Labels = labels, size: int = size) -> _Labels:
            return {name: rng.permutation(own)[:size] for name, own in labels.items()}

        found[subset] = _measure(draw, given.replays, rng)
        del found[subset]["wrong"]  # nobody knows the truth about these systems
    if given.json:
        print(json.dumps(found))
        return
    for name, own in found.items():
        print(name, ", ".join(f"{key} {value:.3g}" for key, value in own.items()))


def _planted(rng: np.random.Generator) -> _Labels:
    return {
        name: np.clip(np.round(mean + 1.1 * rng.normal(size=_PLACES)), 0, _TOP)
        for name, mean in _PLANTED.items()
    }


def _recorded(read: CrsArena, subset: str) -> _Labels:
    systems: dict[str, list[float]] = {}
    for place, label in read.labels["dialogue_overall"].items():
        if subset_of(place.conversation) == subset:
            systems.setdefault(system_of(place.conversation), []).append(label)
    return {name: np.array(own, dtype=float) for name, own in sorted(systems.items())}


def _measure(
    draw: Callable[[], _Labels], replays: int, rng: np.random.Generator
) -> dict[str, float]:
    wrong = decided = at_null = size = 0
    saved: list[float] = []
    for _ in range(replays):
        labels = draw()
        size = len(next(iter(labels.values())))
        ends = _replay(labels, size)
        wrong += any(better > other for better, other in ends)  # planted names: best first
        decided += len(ends)
        by_pair = {frozenset(pair): end for pair, end in ends.items()}
        for a, b in combinations(labels, 2):
            gaps = labels[a] - labels[b]
            if abs(gaps.mean()) > 1.96 * gaps.std(ddof=1) / size**0.5:
                saved.append(1 - by_pair.get(frozenset((a, b)), size) / size)
        every = np.concatenate(list(labels.values()))
        at_null += bool(_replay({name: rng.choice(every, size) for name in labels}, size))
    return {
        "places": size,
        "decided": decided / replays,
        "wrong": wrong / replays,
        "saved": float(np.median(saved)),
        "null": at_null / replays,
    }


def _replay(labels: _Labels, size: int) -> dict[tuple[str, str], int]:
    """Each decided pair, the better one first, with the place at which it was decided."""
    tests = {pair: SequentialTest(-_TOP, _TOP) for pair in combinations(labels, 2)}
    ends: dict[tuple[str, str], int] = {}
    for place in range(size):
        for (a, b), test in tests.items():
            test.add(float(labels[a][place] - labels[b][place]))
        for each in decide_pairs(tests, confidence=0.95, least=_LEAST):
            if each.better is not None:
                other = each.b if each.better == each.a else each.a
                ends.setdefault((each.better, other), place + 1)
    return ends


if __name__ == "__main__":
    main()
