"""How much turns, particles and instructions contribute to an aspect's score.

A score is a plain mean, so it is fully explained by its parts. A part with n of the N scores and
mean m contributes n/N x (m - reference), and the contributions add up to score - reference. The
reference is the mean of the same aspect over all given conversations.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from recjury.judges.aspects import pool
from recjury.records import JSON, Aspect, InstructionScore, Particle, ParticleScore, Record


class Part(NamedTuple):
    """A part of a score: its mean, its number of scores, and its contribution to the whole."""

    score: float | None
    scores: int
    contribution: float

    def as_json(self) -> dict[str, JSON]:
        """Plain data with stable keys."""
        return {"score": self.score, "scores": self.scores, "pull": self.contribution}


class ParticlePart(Record):
    """One particle, and its score under each instruction."""

    number: int
    particle: Particle
    part: Part
    by: tuple[InstructionScore, ...]


class TurnPart(Record):
    """One system turn (index in the interaction), its text, and its particles, in order."""

    turn: int
    text: str
    part: Part
    particles: tuple[ParticlePart, ...]


class Explanation(Record):
    """One aspect of one conversation, or of one of its turns.

    `instructions` are by name, over all particles. A part without a score contributes 0.
    """

    conversation: str
    aspect: Aspect
    turn: int | None
    score: float | None
    reference: float
    turns: tuple[TurnPart, ...]
    instructions: Mapping[str, Part]

    def strongest(self, count: int) -> tuple[tuple[TurnPart, ParticlePart], ...]:
        """The particles with the largest absolute contributions, with their turns."""
        every = [(turn, particle) for turn in self.turns for particle in turn.particles]
        every.sort(key=lambda pair: -abs(pair[1].part.contribution))
        return tuple(every[:count])

    def as_json(self) -> dict[str, JSON]:
        """Plain data with stable keys."""
        return {
            "conversation": self.conversation,
            "aspect": self.aspect.value,
            "turn": self.turn,
            "score": self.score,
            "reference": self.reference,
            "turns": [_turn_json(turn) for turn in self.turns],
            "instructions": {name: part.as_json() for name, part in self.instructions.items()},
        }


def explain_score(
    conversation: str,
    aspect: Aspect,
    scores: Iterable[ParticleScore],
    particles: Mapping[int, tuple[Particle, ...]],
    texts: Mapping[int, str],
    *,
    reference: float,
    turn: int | None = None,
) -> Explanation:
    """Explain the score of a conversation or, with `turn`, of that turn alone.

    `particles` and `texts` are by turn. Raises KeyError or IndexError if they lack a scored
    particle.
    """
    chosen = sorted(
        (score for score in scores if turn is None or score.turn == turn),
        key=lambda score: (score.turn, score.particle),
    )
    values = [value for score in chosen for value in _values(score)]
    whole = _Whole(reference, len(values))
    return Explanation(
        conversation=conversation,
        aspect=aspect,
        turn=turn,
        score=pool(values),
        reference=reference,
        turns=tuple(
            _turn_part(number, texts[number], particles[number], list(own), whole)
            for number, own in groupby(chosen, key=lambda score: score.turn)
        ),
        instructions=_by_instruction(chosen, whole),
    )


class _Whole(NamedTuple):
    """The values that parts are compared with: the reference, and the number of all scores."""

    reference: float
    total: int

    def part(self, own: Sequence[float]) -> Part:
        """The part that consists of `own` scores."""
        gap = math.fsum(value - self.reference for value in own)
        return Part(pool(own), len(own), gap / self.total if self.total else 0.0)


def _turn_part(
    number: int,
    text: str,
    particles: Sequence[Particle],
    own: Sequence[ParticleScore],
    whole: _Whole,
) -> TurnPart:
    return TurnPart(
        turn=number,
        text=text,
        part=whole.part([value for score in own for value in _values(score)]),
        particles=tuple(
            ParticlePart(
                number=score.particle,
                particle=particles[score.particle],
                part=whole.part(_values(score)),
                by=score.by,
            )
            for score in own
        ),
    )


def _by_instruction(scores: Iterable[ParticleScore], whole: _Whole) -> dict[str, Part]:
    found: dict[str, list[float]] = {}
    for score in scores:
        for by in score.by:
            own = found.setdefault(by.instruction, [])
            if by.score is not None:
                own.append(by.score)
    return {name: whole.part(own) for name, own in found.items()}


def _values(score: ParticleScore) -> list[float]:
    return [by.score for by in score.by if by.score is not None]


def _turn_json(turn: TurnPart) -> dict[str, JSON]:
    return {
        "turn": turn.turn,
        "text": turn.text,
        **turn.part.as_json(),
        "particles": [
            {
                "particle": each.number,
                **each.particle.model_dump(mode="json"),
                **each.part.as_json(),
                "by": {
                    by.instruction: {
                        "score": by.score,
                        "samples": list(by.samples),
                        "call": by.call,
                    }
                    for by in each.by
                },
            }
            for each in turn.particles
        ],
    }
