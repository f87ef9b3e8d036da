"""The training data: labelled places (turns or dialogues), their particles, and the scorer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Generic, NamedTuple, Protocol, TypeVar

P = TypeVar("P")
P_contra = TypeVar("P_contra", contravariant=True)

Correlate = Callable[[Sequence[float], Sequence[float]], float | None]
"""A correlation of scores with labels, -1 to 1; None if it is undefined."""


class SupportsScore(Protocol[P_contra]):
    """The evaluator LLM of the paper (L1) for one aspect."""

    async def score(self, instruction: str, particle: P_contra) -> float | None:
        """The score (eq. 1) of one particle under one instruction; None if there is none.

        Raises UnitFailed if a call failed.
        """

    def describe(self, particle: P_contra) -> str:
        """The particle in its conversation, as a prompt shows it; text of others is fenced."""


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
    """A particle with the label of its place (the l_p of eq. 2)."""

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

    If all labels of a sample are equal, no instruction can show a correlation: it is drawn again.
    """
    size = min(size, len(particles))
    for _ in range(100):
        drawn = rng.sample(particles, size)
        if len({one.label for one in drawn}) > 1:
            return drawn
    return drawn
