"""What a role answers: one JSON object with its statement, its score, and the code asked for."""

from typing import Annotated, NamedTuple

from pydantic import BaseModel, StringConstraints

from recjury.llm import read_number, read_object
from recjury.records import OVERALL_SCALE, Reply

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


class _Answer(BaseModel):
    """The object; other fields are ignored, as some models add their name."""

    statement: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    score: int | float | str


class RoleAnswer(NamedTuple):
    """A role's statement and score, and what of its form was repaired (empty for nothing)."""

    statement: str
    score: float
    repaired: str


def parse_answer(reply: Reply, code: str) -> RoleAnswer:
    """The answer with that code in a reply; raises ParseError if there is none."""
    answer, repaired = read_object(reply, _Answer, code=code)
    number = read_number(answer.score, *OVERALL_SCALE, whole=False, what="score")
    every = ", ".join(filter(None, (repaired, number.repaired)))
    return RoleAnswer(answer.statement, number.value, every)
