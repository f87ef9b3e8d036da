"""Instructions measured on labelled places, and the best of them: FACE's last step, and FACE*.

Each instruction is ranked alone. There are too many sets of 16 out of 96 to try them all, and their
pooled correlation on the same few labels would mostly fit noise.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from recjury.errors import UnitFailed
from recjury.judges.aspects import pool
from recjury.judges.face.scorer import Target
from recjury.llm import gather
from recjury.papers.face.optimise.examples import (
    Correlate,
    LabelledExample,
    LabelledParticle,
    SupportsScore,
)
from recjury.papers.face.optimise.settings import CALLS_AT_ONCE

_LEAST_COVERAGE = 0.5


class Measured(NamedTuple):
    """The correlation of pooled scores with labels, and the share of places with a score (0 to 1).

    `correlation` is None if it is undefined: the scores or the labels do not vary. `scores` are
    those of the places, in order.
    """

    correlation: float | None
    coverage: float
    scores: tuple[float | None, ...]

    @classmethod
    def of(
        cls, scores: Sequence[float | None], labels: Sequence[float], correlate: Correlate
    ) -> "Measured":
        """The correlation over the places that have a score."""
        pairs = [(s, label) for s, label in zip(scores, labels, strict=True) if s is not None]
        correlation = correlate([s for s, _ in pairs], [label for _, label in pairs])
        return cls(correlation, len(pairs) / len(labels) if labels else 0.0, tuple(scores))

    @property
    def usable(self) -> float | None:
        """The correlation if at least half of the places have a score, else None."""
        return self.correlation if self.coverage >= _LEAST_COVERAGE else None


class Chosen(NamedTuple):
    """The chosen names, best first; what every instruction measured; and the chosen set, pooled."""

    names: tuple[str, ...]
    measured: Mapping[str, Measured]
    together: Measured


async def measure(
    instruction: str,
    examples: Sequence[LabelledExample],
    scorer: SupportsScore,
    correlate: Correlate,
) -> Measured:
    """Score every particle of `examples`, and pool the scores by place."""
    flat = [particle for example in examples for particle in example.particles]
    found = iter(await _scores(instruction, flat, scorer))
    pooled = [_mean([next(found) for _ in example.particles]) for example in examples]
    return Measured.of(pooled, [example.label for example in examples], correlate)


async def reward(
    instruction: str,
    sampled: Sequence[LabelledParticle],
    scorer: SupportsScore,
    correlate: Correlate,
) -> float | None:
    """The reward of Algorithm 2: over single particles, with the labels of their places."""
    found = await _scores(instruction, [one.particle for one in sampled], scorer)
    return Measured.of(found, [one.label for one in sampled], correlate).correlation


def best_instructions(measured: Mapping[str, Measured], count: int) -> tuple[str, ...]:
    """The names with the highest correlations; undefined ones come last, ties keep their order."""

    def key(name: str) -> tuple[bool, float]:
        value = measured[name].usable
        return (value is None, -(value or 0.0))

    return tuple(sorted(measured, key=key)[:count])


async def choose(
    instructions: Mapping[str, str],
    examples: Sequence[LabelledExample],
    scorer: SupportsScore,
    correlate: Correlate,
    *,
    count: int,
    done: Callable[[int], None] = lambda _: None,
) -> Chosen:
    """The `count` best of `instructions` (texts by name) on `examples` (line 20 of Algorithm 1).

    With the scorer of another model this is FACE*. `done` is told how many have been measured.
    """
    found: dict[str, Measured] = {}
    for name, text in instructions.items():
        found[name] = await measure(text, examples, scorer, correlate)
        done(len(found))
    names = best_instructions(found, count)
    columns = zip(*(found[name].scores for name in names), strict=True)
    pooled = [_mean(column) for column in columns]
    labels = [example.label for example in examples]
    return Chosen(names, found, Measured.of(pooled, labels, correlate))


async def scored(instruction: str, particle: Target, scorer: SupportsScore) -> float | None:
    """The scorer's score; None if the call failed (the allowance has counted it)."""
    try:
        return await scorer.score(instruction, particle)
    except UnitFailed:
        return None


async def _scores(
    instruction: str, particles: Sequence[Target], scorer: SupportsScore
) -> list[float | None]:
    work = (scored(instruction, particle, scorer) for particle in particles)
    return await gather(work, at_once=CALLS_AT_ONCE)


def _mean(values: Sequence[float | None]) -> float | None:
    return pool(value for value in values if value is not None)
