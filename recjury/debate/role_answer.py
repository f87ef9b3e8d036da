"""What a role answers: one JSON object with its statement, its score, and the code asked for."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pydantic import BaseModel, StringConstraints

from recjury.llm import read_number, read_object
from recjury.prompts import CODE
from recjury.records import OVERALL_SCALE, Message, ObjectForm, Reply

ANSWER_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "statement": {"type": "string"},
        "score": {"type": "number"},
        "code": {"type": "string"},
    },
    "required": ["statement", "score", "code"],
    "additionalProperties": False,
}


_LONGEST_STATEMENT = 2000  # characters: 150 words are asked for


def answer_form() -> ObjectForm:
    """The form of an answer with its code.

    The score is a whole number, because 0.75 could be of 0 to 1, or of 0 to 100.
    """
    low, high = OVERALL_SCALE
    fields: dict[str, object] = {
        "statement": {"type": "string", "minLength": 1, "maxLength": _LONGEST_STATEMENT},
        "score": {"type": "integer", "minimum": low, "maximum": high},
        "code": {"const": CODE},
    }
    return ObjectForm({**ANSWER_SCHEMA, "properties": fields})


class _Answer(BaseModel):
    """The object; other fields are ignored, as some models add their name."""

    statement: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    score: int | float | str


class RoleAnswer(NamedTuple):
    """A role's statement and score, and what of its form was repaired (empty for nothing)."""

    statement: str
    score: float
    repaired: str


def parse_answer(reply: Reply, asked: Sequence[Message] = ()) -> RoleAnswer:
    """The answer in a reply to `asked`; raises ParseError if there is none."""
    answer, repaired = read_object(reply, _Answer, asked)
    number = read_number(answer.score, *OVERALL_SCALE, whole=False, what="score")
    every = ", ".join(filter(None, (repaired, number.repaired)))
    return RoleAnswer(answer.statement, number.value, every)
