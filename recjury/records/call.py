"""What goes to a model and what comes back: messages, requests, completions."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

CODE, CUT = "\x1f", "\x1e"
"""Marks in rendered templates: where the code stands, and where a prompt divides into parts."""


class Message(NamedTuple):
    """One message of a prompt, in parts: a part that recurs in many prompts is stored once."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """What the model reads."""
        return "".join(self.parts)

    @property
    def shown(self) -> str:
        """The text for people: a stored prompt has no code, and says where one stood."""
        return self.text.replace(CODE, "CODE").replace(CUT, "")


class RatingShape(NamedTuple):
    """A reply with a whole number in a tag that carries the code."""

    low: int
    high: int
    logprobs: bool = False
    kind: Literal["rating"] = "rating"


class ObjectShape(NamedTuple):
    """A reply that is one JSON object; its key `code` carries the code. `schema` is JSON."""

    schema: str
    kind: Literal["object"] = "object"


class OddsShape(NamedTuple):
    """A reply that begins with one of `choices`; its log-probabilities count."""

    choices: tuple[str, ...]
    kind: Literal["odds"] = "odds"


class EmbeddingShape(NamedTuple):
    """A reply that is a vector in place of a text."""

    kind: Literal["embedding"] = "embedding"


Shape = RatingShape | ObjectShape | OddsShape | EmbeddingShape


class Request(NamedTuple):
    """What is asked of a model, before a code is drawn for it.

    `purpose` ("user", "system", "judge", "debate") is for tables and in no identity. `sample`
    numbers what is asked again on purpose (a repeat, a judging), `attempt` what is asked again
    because a reply could not be read, and `draw` the first of the replies wanted to one prompt.
    """

    messages: tuple[Message, ...]
    purpose: str = ""
    shape: Shape | None = None
    temperature: float = 0.0
    max_tokens: int | None = None
    sample: int = 0
    attempt: int = 0
    draw: int = 0


@dataclass(frozen=True, slots=True)
class Completion:
    """One reply to a request.

    `call` is its identity, `code` the one that its prompt asked for, `finish` the endpoint's reason
    ("stop", "length"). `tokens_in`, `tokens_out` and `cost` (US dollars) are None if unknown.
    `served` is the model that answered, as the endpoint names it. A `reused` one was in the store.
    """

    text: str
    call: str = ""
    code: str = ""
    finish: str = "stop"
    thoughts: str = ""
    logprobs: tuple[dict[str, Any], ...] = ()
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    served: str = ""
    dialect: str = ""
    reused: bool = False


class Unit(NamedTuple):
    """The work that a call belongs to, for its cost: an evaluation, or a conversation."""

    campaign: str = ""
    conversation: str = ""
    evaluation: str = ""
