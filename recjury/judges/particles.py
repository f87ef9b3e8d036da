"""Particles: pieces of what a system says, each with the user's reaction (FACE, section 2.1)."""

import re
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator

from recjury.judges.evaluator import not_applicable
from recjury.judges.subjects import Subject
from recjury.llm import Answer, Ask
from recjury.llm.prompts import Pack
from recjury.records import Message

Act = Literal["greeting", "preference elicitation", "recommendation", "goodbye", "others"]
"""What a particle does in the dialogue."""

_NO_FEEDBACK = frozenset({"", "none", "null", "n/a", "no feedback", "no feedback provided"})


class Particle(BaseModel):
    """A piece of a system turn: its act, its words, and the words of the user that react to it."""

    model_config = ConfigDict(frozen=True)

    act: Act
    mention: str = Field(min_length=1)
    feedback: str | None = None

    @field_validator("act", mode="before")
    @classmethod
    def _spelling(cls, act: Any) -> Any:
        """In small letters, with spaces for `_` and `-`."""
        return re.sub(r"[\s_-]+", " ", act).strip().lower() if isinstance(act, str) else act

    @field_validator("feedback")
    @classmethod
    def _nothing_is_none(cls, feedback: str | None) -> str | None:
        said = (feedback or "").strip()
        return None if said.lower().replace("_", " ") in _NO_FEEDBACK else said

    def span(self, text: str) -> tuple[int, int] | None:
        """Where its words stand in the turn's text; None if a model has changed them."""
        words = r"\s+".join(map(re.escape, self.mention.split()))
        found = re.search(words, text, re.IGNORECASE)
        return found.span() if found and words else None


class _Particles(BaseModel):
    particles: list[Particle]


async def particles_of(
    subject: Subject, ask: Ask, *, model: str, pack: Pack, temperature: float
) -> Answer[tuple[Particle, ...]]:
    """The particles of a system turn; where the user says nothing more, none has feedback."""
    if subject.lacks:
        return not_applicable(subject.lacks)
    asked = pack.render("decompose", acts=[f'"{act}"' for act in get_args(Act)], **subject.blocks)
    said = await ask.object(
        [Message("user", asked)],
        _Particles,
        model=model,
        purpose="judge",
        temperature=temperature,
    )
    no_answer = {} if subject.answer else {"feedback": None}
    return said.mapped(
        lambda found: tuple(each.model_copy(update=no_answer) for each in found.particles)
    )
