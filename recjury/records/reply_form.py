"""The form that a reply is asked for in, so that a server that can will write nothing else.

A form repeats what the prompt says. It is sent only to servers that can restrict what a model
writes (vLLM), changes no prompt, and is no part of a call's identity. A model in this process
scores each choice of a `ChoiceForm` if log-probabilities are asked for. `typical` is the number of
tokens that such a reply has on average; estimates of costs are made of it.
"""

from dataclasses import dataclass

REASONS = 4000
"""The most characters of the reasons before a rating."""


@dataclass(frozen=True, slots=True)
class RatingForm:
    """A whole number from `low` to `high` in a tag with its code, after the reasons for it, or, if
    it is `rating_first`, before them.

    `reasons` is the largest number of characters besides the tag.
    """

    code: str
    low: int
    high: int
    reasons: int = REASONS
    rating_first: bool = False
    typical: int = 250


@dataclass(frozen=True, slots=True)
class ObjectForm:
    """A JSON object of this JSON schema.

    Each of its strings should have a `maxLength`: a model may otherwise write without an end.
    """

    schema: dict[str, object]
    typical: int = 250


@dataclass(frozen=True, slots=True)
class TextForm:
    """Plain text of at most `longest` characters, on one line or on `several_lines`."""

    longest: int
    several_lines: bool = False
    typical: int = 60


@dataclass(frozen=True, slots=True)
class ChoiceForm:
    """One of `choices`, and nothing else. None of them begins with another one.

    A prompt must name its choices: they are no part of the call's identity.
    """

    choices: tuple[str, ...]
    typical: int = 2


ReplyForm = RatingForm | ObjectForm | TextForm | ChoiceForm
