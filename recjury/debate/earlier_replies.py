"""How replies were read before prompts asked for a code, kept as it was.

Stored ratings and debates of the packs core-judges/1 and 2 and core-debate/1 to 3 verify under
these readers. Nothing else may use them: they take a quoted rating for the judge's own.
"""

import json
import re
from collections.abc import Iterator
from typing import Annotated

import orjson
from pydantic import BaseModel, Field, StringConstraints, ValidationError

from recjury.errors import ParseError
from recjury.records import OVERALL_SCALE, Reply

_CUT_OFF = frozenset({"length", "max_tokens", "content_filter"})
_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_RATING = re.compile(r"<rating>([^<]*)</rating>", re.IGNORECASE)
_LONGEST_JSON = 1_000_000
_MOST_STARTS = 200


class EarlierAnswer(BaseModel):
    """A role's statement and score."""

    statement: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    score: Annotated[float, Field(ge=OVERALL_SCALE[0], le=OVERALL_SCALE[1])]


def parse_earlier_rating(reply: Reply, low: int, high: int) -> tuple[int, str]:
    """The score and the reasons of a judge; raises ParseError."""
    text = _finished_text(reply)
    found = {value.strip() for value in _RATING.findall(text)}
    ratings = sorted(value for value in found if any(sign.isdigit() for sign in value))
    if not ratings:
        raise ParseError(f"no <rating> from {low} to {high} was given")
    if len(ratings) > 1:
        raise ParseError(f"two different ratings were given: {_quoted(ratings[:2])}")
    if not re.fullmatch(r"-?[0-9]{1,9}", ratings[0]):
        raise ParseError(f"the rating {_quoted(ratings)} is not a whole number")
    score = int(ratings[0])
    if not low <= score <= high:
        raise ParseError(f"the rating {score} is outside {low} to {high}")
    return score, _RATING.sub("", text).strip()


def parse_earlier_answer(reply: Reply) -> EarlierAnswer:
    """The answer of a role; raises ParseError."""
    text = _finished_text(reply)
    if len(text) > _LONGEST_JSON:
        raise ParseError(f"the reply is too long for a JSON object: {len(text)} characters")
    fitting: list[EarlierAnswer] = []
    problem = "no JSON object was given"
    for candidate in _objects(text):
        try:
            value = EarlierAnswer.model_validate_json(orjson.dumps(candidate), strict=True)
        except ValidationError as error:
            problem = _first_problem(error)
        except (TypeError, ValueError) as error:
            problem = f"the JSON object cannot be used: {error}"
        else:
            if value not in fitting:
                fitting.append(value)
    if len(fitting) > 1:
        raise ParseError("two different JSON objects were given")
    if not fitting:
        raise ParseError(problem)
    return fitting[0]


def _finished_text(reply: Reply) -> str:
    if reply.finish_reason in _CUT_OFF:
        raise ParseError(f"the reply was cut off (finish reason {reply.finish_reason})")
    text = _THOUGHT.sub("", reply.text, count=1).strip()
    if not text:
        raise ParseError("the reply is empty")
    return text


def _quoted(values: list[str]) -> str:
    return " and ".join(repr(value[:40]) for value in values)


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"])) or "the object"
    return f"the JSON object does not fit: {place}: {first['msg']}"


def _objects(text: str) -> Iterator[dict[str, object]]:
    """The outermost JSON objects in `text`, until one is cut off by its end."""
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_once_each)
    start = text.find("{")
    for _ in range(_MOST_STARTS):
        if start < 0:
            return
        try:
            value, end = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            if error.pos >= len(text) or error.msg.startswith("Unterminated"):
                return  # its inner objects are fragments of an answer, not answers
            end = start + 1
        except RecursionError:
            raise ParseError("the JSON object is nested too deeply") from None
        except ValueError:  # Python converts no integer of more than 4,300 digits
            raise ParseError("the JSON object has a number that is too long") from None
        else:
            yield value
        start = text.find("{", end)


def _once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ParseError("the JSON object names a key twice")
    return found
