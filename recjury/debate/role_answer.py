"""The answer of a role: one JSON object with its statement and its score."""

from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from recjury.llm import parse_json
from recjury.records import OVERALL_SCALE, Reply

ANSWER_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"statement": {"type": "string"}, "score": {"type": "number"}},
    "required": ["statement", "score"],
    "additionalProperties": False,
}


class RoleAnswer(BaseModel):
    """A role's answer; other fields are ignored, as some models add their name."""

    statement: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    score: Annotated[float, Field(ge=OVERALL_SCALE[0], le=OVERALL_SCALE[1])]


def parse_answer(reply: Reply) -> RoleAnswer:
    """The answer in a reply. Raises ParseError if there is none."""
    return parse_json(reply, RoleAnswer)
