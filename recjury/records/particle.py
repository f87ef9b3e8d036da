"""Conversation particles (FACE, section 2.1): the pieces of a system turn."""

import math
from enum import StrEnum
from typing import NamedTuple

from pydantic import SerializerFunctionWrapHandler, model_serializer

from recjury.records.base import Record
from recjury.records.rating import Status


class DialogueAct(StrEnum):
    """What the system does with a particle."""

    GREETING = "greeting"
    PREFERENCE_ELICITATION = "preference elicitation"
    RECOMMENDATION = "recommendation"
    GOODBYE = "goodbye"
    OTHERS = "others"


class Particle(Record):
    """One piece of a system turn: its act, its words, and the user's reaction to it.

    `feedback` is from the user's next turn; None if the user gave none.
    """

    act: DialogueAct
    mention: str
    feedback: str | None = None


class TurnParticles(Record):
    """The particles of the system turn at index `turn` of the interaction, in its order.

    A turn that could not be decomposed has no particles, a status other than SCORED, and the
    reason. A decomposed turn has no particles if it has no content. `repaired` says what had to be
    repaired in the replies before they could be read.
    """

    turn: int
    particles: tuple[Particle, ...]
    status: Status = Status.SCORED
    reason: str = ""
    calls: tuple[str, ...] = ()
    repaired: str = ""

    @model_serializer(mode="wrap")
    def _without_the_default(self, content: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Leave `repaired` out if it is empty: digests are older than this field."""
        found: dict[str, object] = content(self)
        if not self.repaired:
            found.pop("repaired", None)
        return found


class Decomposition(Record):
    """All system turns of a log as particles, in order; `decomposer` names the decomposer."""

    decomposer: str
    turns: tuple[TurnParticles, ...]

    @property
    def particles(self) -> int:
        """The number of particles in all turns."""
        return sum(len(turn.particles) for turn in self.turns)


class InstructionScore(NamedTuple):
    """The score of one particle under one instruction.

    `samples` are the sampled scores; one that could not be parsed is None. With log-probabilities
    there is an `expectation` instead. `call` is the first call. `status` and `reason` say why there
    is no score.
    """

    instruction: str
    samples: tuple[int | None, ...]
    expectation: float | None = None
    call: str | None = None
    status: Status | None = None
    reason: str = ""

    @property
    def score(self) -> float | None:
        """The weighted mean of eq. 1: each score weighted by how often it was sampled."""
        if self.expectation is not None:
            return self.expectation
        read = [sample for sample in self.samples if sample is not None]
        return sum(read) / len(read) if read else None


class ParticleScore(NamedTuple):
    """One particle on one aspect: `turn` is its turn's index, `particle` its number in the turn."""

    turn: int
    particle: int
    by: tuple[InstructionScore, ...]

    @property
    def score(self) -> float | None:
        """The plain mean over the instructions that gave a score; None if none did."""
        given = [each.score for each in self.by if each.score is not None]
        return math.fsum(given) / len(given) if given else None
