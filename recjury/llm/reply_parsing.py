"""Readers of structured replies: what a person would read without doubt is read, nothing else is.

A prompt with an answer code (`prompts.answer_code`) gets an answer with that code. What a reply
holds of the same form without the code is a quotation of the text under test. A reader that is
given no code takes every rating or object for an answer.
"""

import re
from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from recjury.errors import ParseError
from recjury.llm.relaxed_json import ObjectInText, find_objects, has_repeated_names
from recjury.llm.spoken_text import (
    PartedText,
    Span,
    check_finished,
    part_text,
    require_speech,
)
from recjury.records import Reply

ModelT = TypeVar("ModelT", bound=BaseModel)

_QUOTE = r"(?:[\"'“”‘’`]|&quot;|&#0?39;)?"
_RATING = re.compile(
    rf"[<&](?:lt;)?rating(?:\s{{1,8}}code\s?=\s?{_QUOTE}(?P<code>[a-z0-9]{{1,12}}){_QUOTE})?\s{{0,8}}"
    r"(?:>|&gt;)(?P<value>[^<&]*)(?:</|&lt;/)rating[^<>&]{0,60}(?:>|&gt;)",
    re.IGNORECASE,
)
_LONGEST_JSON = 1_000_000
_SIGNS = re.compile(r"\W{0,200}")
_NUMBER = re.compile(
    r"(?P<whole>[+-]?[0-9]{1,9})(?P<rest>\.[0-9]{1,9})?"
    r"(?:\s?(?:/|out of|of)\s?(?P<top>[0-9]{1,9})(?:\.0{1,9})?|\s?(?P<percent>%))?"
)
_EMPHASIS = " \t\r\n*_`'\"“”"
_NEAR_ONE = 10  # the highest score of a scale from which on 0.7 may stand for a share of it
_SHOWN = 40


class RatedText(NamedTuple):
    """A rating, the reasons given for it, and what of its form was repaired (empty for nothing)."""

    score: int
    rationale: str
    repaired: str = ""


class ReadObject(NamedTuple, Generic[ModelT]):
    """What was read of a JSON object, and what of its form was repaired (empty for nothing)."""

    value: ModelT
    repaired: str


class ReadNumber(NamedTuple):
    """A number, and what of its form was not as asked (empty for nothing)."""

    value: float
    repaired: str


def parse_rating(reply: Reply, low: int, high: int, *, code: str = "") -> RatedText:
    """The one whole number from `low` to `high` between <rating> tags, and the text around it.

    With `code`, tags without it do not count. A tag without a digit (an echo of the form asked
    for) does not count either; the same rating twice counts as one. Raises ParseError for
    everything else.
    """
    check_finished(reply)
    found = [each for each in _RATING.finditer(reply.text) if _has_code(each, code)]
    parted = part_text(reply.text, [each.span() for each in found])
    text = require_speech(parted, reply)
    answers = {each["value"].strip(): each for each in found if _is_said(each.span(), parted)}
    given = [value for value in answers if any(sign.isdigit() for sign in value)]
    if not given:
        raise ParseError(_no_rating(low, high, code))
    read = [read_number(value, low, high, whole=True) for value in given]
    if len({number.value for number in read}) > 1:
        raise ParseError(f"two different ratings were given: {_quoted(given)}")
    repaired = read[0].repaired or ("escaped tag" if answers[given[0]][0][0] == "&" else "")
    for each in found:
        text = text.replace(each[0], "")
    return RatedText(int(read[0].value), text.strip(), repaired)


def _is_said(answer: Span, parted: PartedText) -> bool:
    return parted.start <= answer[0] and answer[1] <= parted.end


def _has_code(rating: re.Match[str], code: str) -> bool:
    if not code:
        return rating["code"] is None and rating[0][:2] != "&l"
    return rating["code"] is not None and rating["code"].casefold() == code


def _no_rating(low: int, high: int, code: str) -> str:
    return f"no <rating> from {low} to {high}{' with its code' if code else ''} was given"


def _quoted(values: Iterable[str]) -> str:
    return " and ".join(repr(value[:40]) for value in sorted(values)[:2])


def read_object(reply: Reply, model: type[ModelT], *, code: str = "") -> ReadObject[ModelT]:
    """The one JSON object in the reply that is a `model`, strictly typed.

    With `code`, objects do not count that lack it as the value of "code". Code fences, text around
    the object and slips of form (see `relaxed_json`) are tolerated; an object that names a key
    twice, one that is cut off, and two different fitting ones are not. Raises ParseError.
    """
    check_finished(reply)
    text = reply.text
    if len(text) > _LONGEST_JSON:
        raise ParseError(f"the reply is too long for a JSON object: {len(text)} characters")
    every = list(find_objects(text))
    found = [each for each in every if _is_answer(each, text, code)]
    parted = part_text(text, [(each.start, each.end) for each in found])
    require_speech(parted, reply)
    others = (each.start for each in every if each.start >= parted.start and not _names_code(each))
    first_other = next(others, len(text)) if code else len(text)
    fitting: list[ReadObject[ModelT]] = []
    problem = f"no JSON object{' with its code' if code else ''} was given"
    for each in found:
        if not _is_said((each.start, each.end), parted):
            continue
        try:
            if first_other < each.start and not _ends_with_a_number(each):
                raise ParseError("the JSON object may be a part of another one")
            value = _validated(each, model)
        except ParseError as error:
            problem = str(error)
        else:
            if all(value != other.value for other in fitting):
                fitting.append(ReadObject(value, each.repaired))
    if len(fitting) > 1:
        raise ParseError("two different JSON objects were given")
    if not fitting:
        raise ParseError(problem)
    return fitting[0]


def _is_answer(found: ObjectInText, text: str, code: str) -> bool:
    """Whether an object has the code: last, or with nothing but signs after the object.

    A model may quote without escaping, so that the quotation ends a text, and the object. What has
    the code behind that is whole.
    """
    if found.value is None or not code:
        return found.value is not None
    given = [(name, value) for name, value in found.value.items() if name.casefold() == "code"]
    if not any(isinstance(value, str) and value.strip().casefold() == code for _, value in given):
        return False
    if next(reversed(found.value)).casefold() == "code":
        return True
    return _SIGNS.fullmatch(text, found.end) is not None


def _ends_with_a_number(found: ObjectInText) -> bool:
    """Whether no text stands last before the code.

    If an object begins inside a quotation, the model's own one begins before it. The text of that
    one ends after the quotation, and the code follows: what the quotation puts before the code
    holds the quotation mark that ended the text, and is no number.
    """
    values = found.value or {}
    *_, last = [value for name, value in values.items() if name.casefold() != "code"] or [""]
    return not isinstance(last, str | list | dict)


def _names_code(found: ObjectInText) -> bool:
    return found.value is not None and any(name.casefold() == "code" for name in found.value)


def _validated(found: ObjectInText, model: type[ModelT]) -> ModelT:
    if has_repeated_names(found.value):
        raise ParseError("the JSON object names a key twice")
    try:
        return model.model_validate_json(orjson.dumps(found.value), strict=True)
    except ValidationError as error:
        raise ParseError(_first_problem(error)) from None
    except (TypeError, ValueError) as error:
        raise ParseError(f"the JSON object cannot be used: {error}") from None


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"])) or "the object"
    return f"the JSON object does not fit: {place}: {first['msg']}"


def read_number(
    written: str | float, low: float, high: float, *, whole: bool, what: str = "rating"
) -> ReadNumber:
    """`written` as a number from `low` to `high`; `whole` tells whether a whole one was asked for.

    Numbers in strings, 3.0 for 3, and 3/4 on a scale that ends at 4 are read. In doubt are 3.5
    where a whole number was asked for, 3/5 on a scale that ends at 4, and on a long scale what may
    be a share of it: 0.75, 1.0. Raises ParseError, which calls the number `what`.
    """
    text = written if isinstance(written, str) else repr(written)
    plain = text.strip(_EMPHASIS)
    shown = repr(text[:_SHOWN])
    match = _NUMBER.fullmatch(plain)
    if match is None:
        wanted = "a whole number" if whole else "a number"
        raise ParseError(f"the {what} {shown} is not {wanted}")
    if match["top"] is not None and float(match["top"]) != high:
        raise ParseError(f"the {what} {shown} is of {match['top']}, not of {high:g}")
    if match["percent"] is not None and (low, high) != (0, 100):
        raise ParseError(f"the {what} {shown} is a percentage, not a number up to {high:g}")
    value = float(match["whole"] + (match["rest"] or ""))
    if whole and not value.is_integer():
        raise ParseError(f"the {what} {shown} is not a whole number")
    if not low <= value <= high:
        raise ParseError(f"the {what} {value:g} is outside {low:g} to {high:g}")
    if high > _NEAR_ONE and match["rest"] and 0 < value <= 1 and match["top"] is None:
        raise ParseError(f"the {what} {shown} may be of {low:g} to {high:g} or of 0 to 1")
    as_asked = match["whole"] if whole else f"{value:g}"
    odd = isinstance(written, str) if not whole else text.strip() != as_asked
    return ReadNumber(value, f"{shown} read as {value:g}" if odd else "")
