"""What is learned from: labelled places, their particles, and who scores those."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Generic, NamedTuple, Protocol, TypeVar

P = TypeVar("P")
P_contra = TypeVar("P_contra", contravariant=True)

Correlate = Callable[[Sequence[float], Sequence[float]], float | None]
"""A correlation of scores with labels; None where it is undefined."""


class SupportsScore(Protocol[P_contra]):
    """The evaluator LLM of the paper (L1) for one aspect."""

    async def score(self, instruction: str, particle: P_contra) -> float | None:
        """The score of eq. 1 of one particle under one instruction; None where there is none.

        Raises UnitFailed for a call that failed.
        """

    def describe(self, particle: P_contra) -> str:
        """The particle in its conversation, as a prompt shows it: foreign text fenced."""


@dataclass(frozen=True)
class LabelledExample(Generic[P]):
    """A turn or dialogue with its label, on the aspect's scale, and its particles."""

    name: str
    label: float
    particles: tuple[P, ...]


class Examples(NamedTuple, Generic[P]):
    """The two sides of the training data."""

    train: Sequence[LabelledExample[P]]
    validation: Sequence[LabelledExample[P]]


class LabelledParticle(NamedTuple, Generic[P]):
    """A particle with the label of the place it is of (the l_p of eq. 2)."""

    name: str
    particle: P
    label: float


def labelled_particles(examples: Sequence[LabelledExample[P]]) -> list[LabelledParticle[P]]:
    """All particles in order, named by their place and number ("AT.1/3")."""
    return [
        LabelledParticle(f"{example.name}/{number}", particle, example.label)
        for example in examples
        for number, particle in enumerate(example.particles)
    ]


def sample(
    particles: Sequence[LabelledParticle[P]], size: int, rng: Random
) -> list[LabelledParticle[P]]:
    """At most `size` different particles at random, with labels that are not all equal.

    Where all labels of a sample are equal, no instruction could show a correlation: it is drawn
    again.
    """
    size = min(size, len(particles))
    for _ in range(100):
        drawn = rng.sample(particles, size)
        if len({one.label for one in drawn}) > 1:
            return drawn
    return drawn
