"""UCB over instructions: the best of many from few noisy rewards (FACE, algorithm 2)."""

import math
import random
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

from recjury.llm import gather

Reward = Callable[[int, int], Coroutine[Any, Any, float | None]]
"""The reward of (pull, arm), both from 0; None if it is undefined."""


class Arm(NamedTuple):
    """An arm's mean reward, and the particles that were scored for it."""

    value: float = 0.0
    particles: int = 0

    def with_reward(self, reward: float | None, particles: int) -> "Arm":
        """The arm after one more pull.

        An undefined reward counts as 0, no correlation: an instruction that gives everything the
        same score must not look better than a bad one.
        """
        seen = self.particles + particles
        return Arm(self.value + ((reward or 0.0) - self.value) * particles / seen, seen)

    def criterion(self, time: int, exploration: float) -> float:
        """The upper confidence bound before pull `time`, from 1; infinite if never pulled."""
        if not self.particles:
            return math.inf
        return self.value + exploration * math.sqrt(math.log(time) / self.particles)


async def play(
    arms: int,
    reward: Reward,
    *,
    keep: int,
    particles: int,
    batches: int = 5,
    exploration: float = 1.0,
    seed: int = 0,
) -> tuple[int, ...]:
    """The `keep` best of `arms` after `batches` x B pulls, best first; B is half the arms (C.1).

    The pulls of a batch go to B different arms and run together; each scores `particles` particles.
    Line 12 of algorithm 2 divides by the particles seen as if each pull had one; here a reward
    weighs as many as it has. Ties are broken by `seed`.
    """
    lots = random.Random(seed).sample(range(arms), arms)
    states, size, pulled = [Arm()] * arms, max(1, arms // 2), 0
    for _ in range(batches):
        bounds = [arm.criterion(pulled + 1, exploration) for arm in states]
        chosen = sorted(range(arms), key=lambda arm: (-bounds[arm], lots[arm]))[:size]
        rewards = await gather(reward(pulled + n, arm) for n, arm in enumerate(chosen))
        for arm, value in zip(chosen, rewards, strict=True):
            states[arm] = states[arm].with_reward(value, particles)
        pulled += len(chosen)
    best = sorted(
        range(arms),
        key=lambda arm: (not states[arm].particles, -states[arm].value, lots[arm]),
    )
    return tuple(best[:keep])
