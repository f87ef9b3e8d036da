"""How long 10,000 resamples of an evaluator's agreement with people take, on one core.

OMP_NUM_THREADS=1 python -m benchmarks.resamples

Random scores and labels of the size of CRSArena-Eval: 467 dialogues of nine systems with five
aspects, and 2,230 turns in them with two. Processor time, with and without Kendall's tau (whose
interval is from 1,000 resamples).
"""

import time

import numpy as np

import recjury.stats.resampled as resampled

_DIALOGUES, _SYSTEMS, _TURNS = 467, 9, 2_230
_LEVELS = (3, 3, 3, 2, 5)  # of the labels of dialogues
_LEVELS_OF_TURNS = (3, 3)


def main() -> None:
    """Print the seconds."""
    seconds(20, (3,), resamples=10)  # SciPy is imported once
    pairs = resampled.KENDALL_PAIRS
    for name, most in (("Kendall's tau apart", 0), ("with it", pairs)):
        resampled.KENDALL_PAIRS = most
        of_dialogues = seconds(_DIALOGUES, _LEVELS)
        every = of_dialogues + seconds(_TURNS, _LEVELS_OF_TURNS)
        print(f"{name}: five aspects {of_dialogues:.1f} s, all seven {every:.1f} s")


def seconds(places: int, levels: tuple[int, ...], *, resamples: int = 10_000) -> float:
    """The processor time of all correlations with labels of so many levels each."""
    rng = np.random.default_rng(0)
    dialogue = np.arange(places) % _DIALOGUES
    clusters, systems = dialogue.astype(str), (dialogue % _SYSTEMS).astype(str)
    drawn = [(rng.random(places), rng.integers(0, k, places).astype(float)) for k in levels]
    began = time.process_time()
    for scores, labels in drawn:
        resampled.correlations(scores, labels, clusters, systems, resamples=resamples)
    return time.process_time() - began


if __name__ == "__main__":
    main()
