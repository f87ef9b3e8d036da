"""How much turns, particles and instructions contribute to an aspect's score.

A score is a plain mean, so it is fully explained by its parts. A part with n of the N scores and
mean m contributes n/N x (m - reference), and the contributions add up to score - reference. The
reference is the mean of the same aspect over all given conversations.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from recjury.judges.aspects import pool
from recjury.records import ParticleScore

Key = TypeVar("Key", bound=Hashable)


class Part(NamedTuple):
    """A part of a score: its mean, its number of scores, and its contribution to the whole."""

    score: float | None
    scores: int
    contribution: float


class Contributions(NamedTuple):
    """A score and its parts: by turn, by turn and number of the particle, and by instruction.

    A part without a score contributes 0.
    """

    score: float | None
    reference: float
    turns: Mapping[int, Part]
    particles: Mapping[tuple[int, int], Part]
    instructions: Mapping[str, Part]


def explain_score(
    scores: Iterable[ParticleScore], *, reference: float, turn: int | None = None
) -> Contributions:
    """The contributions to the score of a conversation or, with `turn`, of that turn alone."""
    chosen = sorted(
        (score for score in scores if turn is None or score.turn == turn),
        key=lambda score: (score.turn, score.particle),
    )
    by_particle = {(score.turn, score.particle): _values(score) for score in chosen}
    values = [value for own in by_particle.values() for value in own]
    whole = _Whole(reference, len(values))
    return Contributions(
        pool(values),
        reference,
        whole.parts((turn, own) for (turn, _), own in by_particle.items()),
        whole.parts(by_particle.items()),
        whole.parts(
            (by.instruction, [] if by.score is None else [by.score])
            for score in chosen
            for by in score.by
        ),
    )


class _Whole(NamedTuple):
    """The values that parts are compared with: the reference, and the number of all scores."""

    reference: float
    total: int

    def parts(self, values: Iterable[tuple[Key, Sequence[float]]]) -> dict[Key, Part]:
        """The parts that consist of the scores under each key."""
        grouped: dict[Key, list[float]] = {}
        for key, own in values:
            grouped.setdefault(key, []).extend(own)
        return {key: self._part(own) for key, own in grouped.items()}

    def _part(self, own: Sequence[float]) -> Part:
        gap = math.fsum(value - self.reference for value in own)
        return Part(pool(own), len(own), gap / self.total if self.total else 0.0)


def _values(score: ParticleScore) -> list[float]:
    return [by.score for by in score.by if by.score is not None]
