"""FACE's selection of instructions by UCB (Algorithm 2), held against uniform sampling.

    python -m benchmarks.face_ucb --json

A noisy rater with 64 instructions, of which it is known how well each follows people's labels: one
is best (.55), the others are spread from 0 to .45. Each strategy has the same pulls to find the
best 16, over 100 seeds.
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.papers.face.optimise.bandit import Averaging, RewardOf, Ucb, batch_size, play
from recjury.stats.correlation import spearman
from recjury.stats.resampling import interval_of_mean

ARMS = 64
KEPT = 16
BATCHES = 5
_PLACES, _PARTICLES = 120, 6
_LABELS = (0.45, 0.2, 0.15, 0.1, 0.1)  # shares of the labels 0 to 4: skewed, as people's are
_SAMPLES = 5


class World(NamedTuple):
    """Qualities [arms], the labels of all particles, and what each instruction scores them."""

    quality: NDArray[np.float64]
    labels: NDArray[np.float64]
    scores: NDArray[np.float64]

    @property
    def best(self) -> int:
        """The arm that is to be found."""
        return int(self.quality.argmax())

    async def reward(self, sampled: Sequence[int], arm: int) -> float | None:
        """The correlation of an arm's scores with the labels over sampled particles."""
        places = np.asarray(sampled)
        return spearman(self.scores[arm, places].tolist(), self.labels[places].tolist())


class Found(NamedTuple):
    """One strategy on one world.

    `regret` is the mean over pulls of how far the pulled arm is from the best; `loss` how far the
    kept ones are from the best sixteen, on average.
    """

    best_kept: bool
    regret: float
    loss: float
    pulls: int
    particles: int


def world(seed: int) -> World:
    """A world of its own for each seed."""
    rng = np.random.default_rng(seed)
    quality = rng.uniform(0, 0.45, ARMS)
    quality[rng.integers(ARMS)] = 0.55
    places = rng.choice(5, _PLACES, p=_LABELS).astype(float)
    labels = np.repeat(places, _PARTICLES)
    told = (labels - labels.mean()) / labels.std()
    noise = rng.normal(size=(ARMS, labels.size))
    seen = quality[:, None] * told + np.sqrt(1 - quality[:, None] ** 2) * noise
    # Each of the five samples is a whole score from 0 to 4, as likely as what is seen suggests.
    scores = rng.binomial(4 * _SAMPLES, 1 / (1 + np.exp(-1.5 * seen))) / _SAMPLES
    return World(quality, labels, scores)


def select(
    of: World, seed: int, *, particles: int, averaging: Averaging | None, exploration: float = 1.0
) -> Found:
    """Select with UCB; with `averaging` None, with the same pulls dealt out uniformly."""
    reward = _rewards(of, seed, particles)
    if averaging is None:
        kept, pulled = asyncio.run(_uniform(reward, particles, seed))
    else:
        kept, _, pulled = asyncio.run(
            play(
                ARMS,
                reward,
                keep=KEPT,
                particles=particles,
                batches=BATCHES,
                exploration=exploration,
                averaging=averaging,
                seed=seed,
            )
        )
    ideal = np.sort(of.quality)[-KEPT:].mean()
    return Found(
        best_kept=of.best in kept,
        regret=float(of.quality.max() - of.quality[list(pulled)].mean()),
        loss=float(ideal - of.quality[list(kept)].mean()),
        pulls=len(pulled),
        particles=len(pulled) * particles,
    )


def _rewards(of: World, seed: int, particles: int) -> RewardOf:
    async def reward(pull: int, arm: int) -> float | None:
        rng = np.random.default_rng((seed, pull))
        return await of.reward(rng.choice(of.labels.size, particles, replace=False).tolist(), arm)

    return reward


async def _uniform(
    reward: RewardOf, particles: int, seed: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    state = Ucb(ARMS, seed=seed)
    rng = np.random.default_rng((seed, ARMS))
    total = BATCHES * batch_size(ARMS)
    rounds = [rng.permutation(ARMS) for _ in range(-(-total // ARMS))]
    pulled = np.concatenate(rounds)[:total].tolist()
    for pull, arm in enumerate(pulled):
        state.observe(arm, await reward(pull, arm), particles)
    return state.best(KEPT), tuple(pulled)


STRATEGIES: dict[str, Averaging | None] = {
    "ucb": "mean",
    "ucb, values as printed": "printed",
    "uniform": None,
}


def measure(seeds: int, sizes: Sequence[int]) -> list[dict[str, object]]:
    """A row for each strategy and sample size; intervals are over seeds."""
    rows: list[dict[str, object]] = []
    for size in sizes:
        for name, averaging in STRATEGIES.items():
            found = [
                select(world(seed), seed, particles=size, averaging=averaging)
                for seed in range(seeds)
            ]
            rows.append(
                {
                    "strategy": name,
                    "sampled_particles": size,
                    "seeds": seeds,
                    "best_among_16": sum(one.best_kept for one in found),
                    "regret_per_pull": _summary([one.regret for one in found]),
                    "loss_of_kept": _summary([one.loss for one in found]),
                    "pulls": found[0].pulls,
                    "scored_particles": found[0].particles,
                }
            )
    return rows


def _summary(values: list[float]) -> dict[str, float]:
    interval = interval_of_mean(values)
    mean = float(np.mean(values))
    low, high = (mean, mean) if interval is None else interval
    return {"mean": round(mean, 4), "low": round(low, 4), "high": round(high, 4)}


def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.face_ucb", description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--sizes", default="16,32,64", help="sampled particles, by commas")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = measure(options.seeds, [int(size) for size in options.sizes.split(",")])
    if options.json:
        print(json.dumps({"arms": ARMS, "kept": KEPT, "rows": rows}))
        return
    for row in rows:
        print(*(f"{key} {value}" for key, value in row.items()), sep=" | ")


if __name__ == "__main__":
    _main()
