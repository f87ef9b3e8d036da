"""Decompose system turns into particles: a model answers several times, and a vote decides.

FACE, section 2.1.
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, field_validator

from recjury.errors import ParseError
from recjury.judges.face.face_prompts import FacePrompts, answer_to
from recjury.judges.face.voting import vote
from recjury.llm import (
    PlannedCall,
    SupportsComplete,
    gather,
    read_object,
    sample_replies,
)
from recjury.prompts import CODE
from recjury.records import (
    JSON,
    ChatRequest,
    ConversationLog,
    Decomposition,
    DialogueAct,
    Message,
    ObjectForm,
    Particle,
    Reply,
    Status,
    TurnParticles,
)

TEMPERATURE = 0.6
SAMPLES = 3
PURPOSE = "face/decompose"
_MOST_PARTICLES = 40
_LONGEST_WORDS = 1000  # characters
_REPLY = 150  # tokens, on average

_NO_FEEDBACK = {"", "none", "null", "no feedback", "no_feedback_provided", "n/a"}


class Decomposer(Protocol):
    """Turns a log into the particles of every system turn."""

    @property
    def name(self) -> str:
        """The decomposer's name in results."""

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Everything that can change the particles."""

    async def decompose(self, log: ConversationLog) -> Decomposition:
        """All system turns of the interaction; a failed turn has the reason."""


class _Particle(BaseModel):
    model_config = ConfigDict(extra="ignore")

    act: DialogueAct
    mention: str
    feedback: str | None = None

    @field_validator("act", mode="before")
    @classmethod
    def _spelling(cls, act: object) -> object:
        """The text in lower case, with spaces instead of `_` and `-`."""
        if not isinstance(act, str):
            return act
        folded = act.strip().casefold().replace("_", " ").replace("-", " ")
        return DialogueAct(folded) if folded in set(DialogueAct) else folded


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore")

    particles: list[_Particle]


class ReadSample(NamedTuple):
    """The particles in a reply, and what of its form was repaired (empty for nothing)."""

    particles: tuple[Particle, ...]
    repaired: str


class LlmDecomposer:
    """Decomposes turns with one model; `model` is the alias of a model."""

    def __init__(
        self,
        gateway: SupportsComplete,
        model: str,
        prompts: FacePrompts | None = None,
        *,
        samples: int = SAMPLES,
        temperature: float = TEMPERATURE,
        together: bool = True,
    ):
        """Draw `samples` samples of each turn, in one request if `together`."""
        self._gateway = gateway
        self._prompts = prompts or FacePrompts()
        self._samples = samples
        self._temperature = temperature
        self._together = together
        self.model = model

    @property
    def name(self) -> str:
        """The model's alias."""
        return self.model

    @property
    def settings(self) -> Mapping[str, JSON]:
        """None besides the evaluator's fields and prompts."""
        return {}

    def plan(self, log: ConversationLog) -> Iterator[PlannedCall]:
        """The calls for all system turns."""
        for turn in log.system_turn_indices:
            request = self._request(log, turn)
            yield PlannedCall(request, PURPOSE, self._samples, self._together)

    async def decompose(self, log: ConversationLog) -> Decomposition:
        """Decompose each system turn separately."""
        turns = await gather(self._turn(log, turn) for turn in log.system_turn_indices)
        return Decomposition(decomposer=self.name, turns=tuple(turns))

    def _request(self, log: ConversationLog, turn: int) -> ChatRequest:
        return ChatRequest(
            model=self.model,
            messages=self._prompts.decompose(log, turn),
            purpose=PURPOSE,
            temperature=self._temperature,
            form=particles_form(),
        )

    async def _turn(self, log: ConversationLog, turn: int) -> TurnParticles:
        request = self._request(log, turn)
        answered = answer_to(log, turn) is not None
        read = functools.partial(_read_sample, answered=answered, asked=request.messages)
        found = await sample_replies(
            self._gateway, request, self._samples, read, together=self._together, repair=True
        )
        if not found.read:
            return TurnParticles(
                turn=turn,
                particles=(),
                status=found.status,
                reason=found.reason,
                calls=found.calls,
            )
        repaired = sorted({sample.repaired for sample in found.read if sample.repaired})
        return TurnParticles(
            turn=turn,
            particles=vote([sample.particles for sample in found.read]),
            calls=found.calls,
            repaired="; ".join(repaired),
        )


def particles_form() -> ObjectForm:
    """The form of a decomposer's reply, which begins and ends with its code."""
    words: dict[str, object] = {"type": "string", "minLength": 1, "maxLength": _LONGEST_WORDS}
    fields: dict[str, object] = {
        "act": {"enum": [str(act) for act in DialogueAct]},
        "mention": words,
        "feedback": {"anyOf": [words, {"type": "null"}]},
    }
    every = {"type": "array", "maxItems": _MOST_PARTICLES, "items": _object(fields)}
    code: dict[str, object] = {"const": CODE}
    return ObjectForm(_object({"code": code, "particles": every, "end": code}), typical=_REPLY)


def _object(fields: dict[str, object]) -> dict[str, object]:
    closed = {"required": [*fields], "additionalProperties": False}
    return {"type": "object", "properties": fields, **closed}


def read_particles(
    reply: Reply, *, answered: bool, asked: Sequence[Message] = ()
) -> tuple[Particle, ...]:
    """The particles in a decomposer's reply to `asked`. Raises ParseError for anything else.

    If the user did not answer, there is no feedback, even if the reply has some.
    """
    return _read_sample(reply, answered=answered, asked=asked).particles


def _read_sample(reply: Reply, *, answered: bool, asked: Sequence[Message]) -> ReadSample:
    found = read_object(reply, _Reply, asked)
    particles = []
    for given in found.value.particles:
        if not given.mention.strip():
            raise ParseError("a particle has an empty mention")
        said = (given.feedback or "").strip()
        kept = answered and said.casefold() not in _NO_FEEDBACK
        particles.append(
            Particle(
                act=given.act, mention=given.mention, feedback=given.feedback if kept else None
            )
        )
    return ReadSample(tuple(particles), found.repaired)


class GivenDecomposer:
    """Particles that exist already, by conversation (`corpora.crsarena_particles`)."""

    def __init__(self, particles: Mapping[str, Decomposition], *, name: str = "given"):
        """`particles` maps the record of a log's scenario to its particles."""
        self._particles = particles
        self._name = name

    @property
    def name(self) -> str:
        """The name that was given to the particles."""
        return self._name

    @property
    def settings(self) -> Mapping[str, JSON]:
        """That the particles were given, and their name."""
        return {"given": self._name}

    async def decompose(self, log: ConversationLog) -> Decomposition:
        """The given particles of the log; a turn without given particles has no decomposition."""
        given = self._particles.get(log.scenario.record)
        found = {turn.turn: turn for turn in (given.turns if given else ())}
        return Decomposition(
            decomposer=self.name,
            turns=tuple(found.get(turn) or _absent(turn) for turn in log.system_turn_indices),
        )


def _absent(turn: int) -> TurnParticles:
    return TurnParticles(
        turn=turn,
        particles=(),
        status=Status.NOT_APPLICABLE,
        reason="no particles were given for this turn",
    )
