"""From an aspect's score down to the turns, particles and instructions that pulled it.

A score is a plain mean, so it can be taken apart without a rest: a part of n of the N scores
with mean m moves it by n/N x (m - reference), and these pulls add up to score - reference. The
reference is what the same aspect scores elsewhere: the mean over all conversations at hand.
"""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from recjury.judges.face.pooling import pool
from recjury.records import JSON, Aspect, InstructionScore, Particle, ParticleScore, Record


class Part(NamedTuple):
    """A part of a score: its own mean, how many scores it has, and how far it pulls the whole."""

    score: float | None
    scores: int
    pull: float


class ParticlePart(Record):
    """One particle: its words, and what each instruction made of them."""

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

    `instructions` are by name, over all particles. Whatever has no score pulls nothing.
    """

    conversation: str
    aspect: Aspect
    turn: int | None
    score: float | None
    reference: float
    turns: tuple[TurnPart, ...]
    instructions: Mapping[str, Part]

    def strongest(self, count: int) -> tuple[tuple[TurnPart, ParticlePart], ...]:
        """The particles that pull most, either way, with their turns."""
        every = [(turn, particle) for turn in self.turns for particle in turn.particles]
        every.sort(key=lambda pair: -abs(pair[1].part.pull))
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
            "instructions": {name: part._asdict() for name, part in self.instructions.items()},
        }


def explain(
    conversation: str,
    aspect: Aspect,
    scores: Iterable[ParticleScore],
    particles: Mapping[int, tuple[Particle, ...]],
    texts: Mapping[int, str],
    *,
    reference: float,
    turn: int | None = None,
) -> Explanation:
    """Take one score apart: of the conversation or, with `turn`, of that turn alone.

    `particles` and `texts` are by turn; a particle that has scores and is not there raises
    KeyError or IndexError.
    """
    chosen = [score for score in scores if turn is None or score.turn == turn]
    values = [value for score in chosen for value in _values(score)]
    total = len(values)

    def part(own: list[float]) -> Part:
        pull = math.fsum(value - reference for value in own) / total if total else 0.0
        return Part(pool(own), len(own), pull)

    by_turn: dict[int, list[ParticleScore]] = {}
    by_instruction: dict[str, list[float]] = {}
    for score in sorted(chosen, key=lambda each: (each.turn, each.particle)):
        by_turn.setdefault(score.turn, []).append(score)
        for by in score.by:
            by_instruction.setdefault(by.instruction, [])
            if by.score is not None:
                by_instruction[by.instruction].append(by.score)
    return Explanation(
        conversation=conversation,
        aspect=aspect,
        turn=turn,
        score=pool(values),
        reference=reference,
        turns=tuple(
            TurnPart(
                turn=number,
                text=texts[number],
                part=part([value for score in own for value in _values(score)]),
                particles=tuple(
                    ParticlePart(
                        number=score.particle,
                        particle=particles[number][score.particle],
                        part=part(_values(score)),
                        by=score.by,
                    )
                    for score in own
                ),
            )
            for number, own in by_turn.items()
        ),
        instructions={name: part(own) for name, own in by_instruction.items()},
    )


def _values(score: ParticleScore) -> list[float]:
    return [by.score for by in score.by if by.score is not None]


def _turn_json(turn: TurnPart) -> dict[str, JSON]:
    return {
        "turn": turn.turn,
        "text": turn.text,
        **turn.part._asdict(),
        "particles": [
            {
                "particle": each.number,
                **each.particle.model_dump(mode="json"),
                **each.part._asdict(),
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
