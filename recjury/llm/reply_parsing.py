"""Strict parsers of structured replies: a reply that cannot be parsed never becomes a score."""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from recjury.errors import ParseError
from recjury.llm.spoken_text import finished_text
from recjury.records import Reply

ModelT = TypeVar("ModelT", bound=BaseModel)

_RATING = re.compile(r"<rating>([^<]*)</rating>", re.IGNORECASE)
_LONGEST_JSON = 1_000_000
_MOST_STARTS = 200


class RatedText(NamedTuple):
    """A rating and the reasons given for it."""

    score: int
    rationale: str


def parse_rating(reply: Reply, low: int, high: int) -> RatedText:
    """The only integer between <rating> tags, `low` to `high`, and the text around it.

    A tag without any digit (a copy of the requested form) is ignored; the same rating twice counts
    once. Raises ParseError for everything else.
    """
    text = finished_text(reply)
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
    return RatedText(score, _RATING.sub("", text).strip())


def _quoted(values: list[str]) -> str:
    return " and ".join(repr(value[:40]) for value in values)


def parse_json(reply: Reply, model: type[ModelT]) -> ModelT:
    """The only JSON object in the reply that fits `model`, with strict types.

    Code fences, text around the object and raw control characters inside strings are accepted. An
    object with a repeated key, a truncated object, and two different objects that fit are not.
    Raises ParseError.
    """
    text = finished_text(reply)
    if len(text) > _LONGEST_JSON:
        raise ParseError(f"the reply is too long for a JSON object: {len(text)} characters")
    fitting: list[ModelT] = []
    problem = "no JSON object was given"
    for candidate in _objects(text):
        try:
            value = model.model_validate_json(orjson.dumps(candidate), strict=True)
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
