"""One instruction on labelled places: its correlation with people, and the share it scored."""

from collections.abc import Sequence
from typing import NamedTuple

from recjury.errors import UnitFailed
from recjury.judges.aspects import pool
from recjury.llm import gather
from recjury.papers.face.optimise.labelled_particles import (
    Correlate,
    LabelledExample,
    LabelledParticle,
    P,
    SupportsScore,
)
from recjury.papers.face.optimise.settings import CALLS_AT_ONCE


class InstructionResult(NamedTuple):
    """The correlation of pooled scores with labels, and the share of places with a score (0 to 1).

    `correlation` is None if it is undefined: the scores or the labels do not vary. `scores` are
    those of the places, in order.
    """

    correlation: float | None
    coverage: float
    scores: tuple[float | None, ...]


async def evaluate_instruction(
    instruction: str,
    examples: Sequence[LabelledExample[P]],
    scorer: SupportsScore[P],
    correlate: Correlate,
) -> InstructionResult:
    """Score every particle of `examples`, pool by place, and correlate the scores with the
    labels."""
    flat = [particle for example in examples for particle in example.particles]
    found = iter(
        await gather(
            (scored(instruction, particle, scorer) for particle in flat), at_once=CALLS_AT_ONCE
        )
    )
    pooled = [_mean([next(found) for _ in example.particles]) for example in examples]
    return correlate_scored(pooled, [example.label for example in examples], correlate)


def correlate_scored(
    scores: Sequence[float | None], labels: Sequence[float], correlate: Correlate
) -> InstructionResult:
    """Correlate `scores` with `labels`, over the places that have a score."""
    pairs = [(s, label) for s, label in zip(scores, labels, strict=True) if s is not None]
    correlation = correlate([s for s, _ in pairs], [label for _, label in pairs])
    return InstructionResult(
        correlation, len(pairs) / len(labels) if labels else 0.0, tuple(scores)
    )


def pooled_over(evaluated: Sequence[InstructionResult]) -> tuple[float | None, ...]:
    """The scores of a set of instructions: the mean over those that scored a place."""
    columns = zip(*(one.scores for one in evaluated), strict=True)
    return tuple(_mean(list(column)) for column in columns)


async def reward(
    instruction: str,
    sampled: Sequence[LabelledParticle[P]],
    scorer: SupportsScore[P],
    correlate: Correlate,
) -> float | None:
    """The reward of Algorithm 2: over single particles, with the labels of their places."""
    found = await gather(
        (scored(instruction, one.particle, scorer) for one in sampled), at_once=CALLS_AT_ONCE
    )
    return correlate_scored(found, [one.label for one in sampled], correlate).correlation


async def scored(instruction: str, particle: P, scorer: SupportsScore[P]) -> float | None:
    """The scorer's score; None if the call failed (the allowance has counted it)."""
    try:
        return await scorer.score(instruction, particle)
    except UnitFailed:
        return None


def _mean(values: Sequence[float | None]) -> float | None:
    return pool(value for value in values if value is not None)
