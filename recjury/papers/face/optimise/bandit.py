"""UCB over instructions: find the best of many from few noisy rewards (FACE, appendix B.1).

This module does not know models: `play` is given a function for the reward of the t-th pull of an
arm.
"""

import math
import random
from collections.abc import Callable, Coroutine
from typing import Any, Literal, NamedTuple

from recjury.llm import gather

Averaging = Literal["mean", "printed"]
"""How rewards become an arm's value.

"mean" is the mean of its rewards, weighted by the number of particles behind each. "printed" is
line 12 of Algorithm 2 exactly as printed: the step is 1/N although N counts particles, so that
values stay near 0 and grow with the number of pulls.
"""

RewardOf = Callable[[int, int], Coroutine[Any, Any, float | None]]
"""The reward of (pull, arm), both from 0; None if it is undefined."""


class Arm(NamedTuple):
    """The state of an arm: its value, and the particles and pulls that it took."""

    value: float = 0.0
    particles: int = 0
    pulls: int = 0


class BestArms(NamedTuple):
    """The kept arms, best first, the state of every arm, and the pulls in order."""

    kept: tuple[int, ...]
    arms: tuple[Arm, ...]
    pulled: tuple[int, ...]


class Ucb:
    """The state of Algorithm 2: values, counts, and the criterion; ties are broken at random."""

    def __init__(
        self, arms: int, *, exploration: float = 1.0, averaging: Averaging = "mean", seed: int = 0
    ):
        """`exploration` is the paper's c."""
        self.arms = [Arm() for _ in range(arms)]
        self._exploration = exploration
        self._averaging = averaging
        self._lots = list(range(arms))
        random.Random(seed).shuffle(self._lots)

    def choose(self, count: int, *, time: int) -> list[int]:
        """The `count` different arms with the highest criterion, before pull `time` (from 1)."""
        order = range(len(self.arms))
        return sorted(order, key=lambda arm: (-self._criterion(arm, time), self._lots[arm]))[:count]

    def observe(self, arm: int, reward: float | None, particles: int) -> None:
        """Add the reward of a pull that sampled `particles` particles.

        An undefined reward counts as 0, no correlation: the pull is spent, and an instruction that
        gives every particle the same score must not look better than a bad one.
        """
        value, seen, pulls = self.arms[arm]
        seen += particles
        step = 1 / seen if self._averaging == "printed" else particles / seen
        value += ((reward or 0.0) - value) * step
        self.arms[arm] = Arm(value, seen, pulls + 1)

    def best(self, count: int) -> tuple[int, ...]:
        """The arms with the highest values, best first; those never pulled come last."""
        order = sorted(
            range(len(self.arms)),
            key=lambda arm: (not self.arms[arm].pulls, -self.arms[arm].value, self._lots[arm]),
        )
        return tuple(order[:count])

    def _criterion(self, arm: int, time: int) -> float:
        value, particles, _ = self.arms[arm]
        if not particles:
            return math.inf
        return value + self._exploration * math.sqrt(math.log(time) / particles)


async def play(
    arms: int,
    reward: RewardOf,
    *,
    keep: int,
    particles: int,
    batches: int = 5,
    exploration: float = 1.0,
    averaging: Averaging = "mean",
    seed: int = 0,
) -> BestArms:
    """Select `keep` of `arms` with `batches` x B pulls, where B is half the arms (C.1).

    The pulls of a batch go to B different arms and run at the same time. Each costs `particles`
    scored particles. Rewards are added in the order of the pulls, whichever finishes first.
    """
    state = Ucb(arms, exploration=exploration, averaging=averaging, seed=seed)
    size, pulled = batch_size(arms), list[int]()
    for _ in range(batches):
        chosen = state.choose(size, time=len(pulled) + 1)
        first = len(pulled)
        rewards = await gather(reward(first + place, arm) for place, arm in enumerate(chosen))
        for arm, value in zip(chosen, rewards, strict=True):
            state.observe(arm, value, particles)
        pulled += chosen
    return BestArms(state.best(keep), tuple(state.arms), tuple(pulled))


def batch_size(arms: int) -> int:
    """B: half the arms, at least one."""
    return max(1, arms // 2)
