"""The labelled places (turns or dialogues) with their particles, and what scores these."""

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple, Protocol

from recjury.judges.face.scorer import Target

Correlate = Callable[[Sequence[float], Sequence[float]], float | None]
"""A correlation of scores with labels, -1 to 1; None if it is undefined."""


class SupportsScore(Protocol):
    """The evaluator LLM of the paper (L1) for one aspect."""

    async def score(self, instruction: str, particle: Target) -> float | None:
        """The score (eq. 1) of one particle under one instruction; None if there is none.

        Raises UnitFailed if a call failed.
        """

    def describe(self, particle: Target) -> str:
        """The particle in its conversation, as a prompt shows it; text of others is fenced."""


class LabelledExample(NamedTuple):
    """A turn or dialogue with its label, on the aspect's scale, and its particles."""

    name: str
    label: float
    particles: tuple[Target, ...]


class Examples(NamedTuple):
    """The two sides of the training data."""

    train: Sequence[LabelledExample]
    validation: Sequence[LabelledExample]


class LabelledParticle(NamedTuple):
    """A particle with the label of its place (the l_p of eq. 2)."""

    name: str
    particle: Target
    label: float


def labelled_particles(examples: Sequence[LabelledExample]) -> list[LabelledParticle]:
    """All particles in order, named by their place and number ("AT.1/3")."""
    return [
        LabelledParticle(f"{example.name}/{number}", particle, example.label)
        for example in examples
        for number, particle in enumerate(example.particles)
    ]


def sample(particles: Sequence[LabelledParticle], size: int, rng: Random) -> list[LabelledParticle]:
    """At most `size` different particles at random, with labels that are not all equal.

    If all labels of a sample are equal, no instruction can show a correlation: it is drawn again.
    """
    size = min(size, len(particles))
    for _ in range(100):
        drawn = rng.sample(particles, size)
        if len({one.label for one in drawn}) > 1:
            return drawn
    return drawn
