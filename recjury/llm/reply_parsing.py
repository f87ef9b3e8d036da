"""Readers of structured replies: what a person would read without doubt is read, nothing else is.

A prompt with an answer code (`prompts.answer_code`) gets an answer with that code, which nobody but
the model knows. What a reply holds of the same form without the code is a quotation of the text
under test, and no mark of that text invalidates what has the code. If a prompt asks for no code,
every rating or object is an answer.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from recjury.errors import ParseError
from recjury.llm.relaxed_json import (
    ObjectInText,
    begins_object,
    find_objects,
    has_repeated_names,
    objects_with,
)
from recjury.llm.spoken_text import (
    Span,
    check_finished,
    part_text,
    quotes_mark,
    require_speech,
)
from recjury.records import Message, Reply

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


def parse_rating(reply: Reply, low: int, high: int, asked: Sequence[Message] = ()) -> RatedText:
    """The one whole number from `low` to `high` between <rating> tags, and the text around it.

    If the call had a code, tags without it do not count. A tag without a digit (an echo of the form
    asked for) does not count either; the same rating twice counts as one. `asked` is the prompt.
    Raises ParseError for everything else.
    """
    check_finished(reply)
    found = [each for each in _RATING.finditer(reply.text) if _has_code(each, reply.code)]
    text, counted = _counted(reply, [each.span() for each in found], asked)
    answers = {each["value"].strip(): each for each in found if each.span() in counted}
    given = [value for value in answers if any(sign.isdigit() for sign in value)]
    if not given:
        raise ParseError(_no_rating(low, high, reply.code))
    read = [read_number(value, low, high, whole=True) for value in given]
    if len({number.value for number in read}) > 1:
        raise ParseError("two different ratings were given", _quoted(given))
    repaired = read[0].repaired or ("escaped tag" if answers[given[0]][0][0] == "&" else "")
    for each in found:
        text = text.replace(each[0], "")
    return RatedText(int(read[0].value), text.strip(), repaired)


def _counted(
    reply: Reply, answers: Sequence[Span], asked: Sequence[Message]
) -> tuple[str, Sequence[Span]]:
    """What was said in a reply, and those of its answers that count: the ones that were said.

    If the prompt shows a mark of thoughts or turns that the reply has, too, nothing tells whose it
    is, and the last answer with the code counts. Raises ParseError.
    """
    if reply.code and answers and quotes_mark(reply.text, asked):
        return reply.text.strip(), answers[-1:]
    parted = part_text(reply.text, answers)
    said = [each for each in answers if parted.start <= each[0] and each[1] <= parted.end]
    return require_speech(parted, reply), said


def _has_code(rating: re.Match[str], code: str) -> bool:
    if not code:
        return rating["code"] is None and rating[0][:2] != "&l"
    return rating["code"] is not None and rating["code"].casefold() == code


def _no_rating(low: int, high: int, code: str) -> str:
    return f"no <rating> from {low} to {high}{' with its code' if code else ''} was given"


def _quoted(values: Iterable[str]) -> str:
    return " and ".join(repr(value[:40]) for value in sorted(values)[:2])


def read_object(
    reply: Reply, model: type[ModelT], asked: Sequence[Message] = ()
) -> ReadObject[ModelT]:
    """The one JSON object in the reply to `asked` that is a `model`, strictly typed.

    If the call had a code, objects do not count that lack it as a value. Code fences, text around
    the object and slips of form (see `relaxed_json`) are tolerated; an object that names a key
    twice, one that is cut off, and two different fitting ones are not. Raises ParseError.
    """
    check_finished(reply)
    text = reply.text
    if len(text) > _LONGEST_JSON:
        raise ParseError(f"the reply is too long for a JSON object: {len(text)} characters")
    found = list(objects_with(text, reply.code) if reply.code else find_objects(text))
    _, counted = _counted(reply, [(each.start, each.end) for each in found], asked)
    fitting: list[ReadObject[ModelT]] = []
    problem = ParseError(f"no JSON object{' with its code' if reply.code else ''} was given")
    for each in found:
        if (each.start, each.end) not in counted:
            continue
        try:
            if reply.code:
                _check_ends(each, text, reply.code)
            value = _validated(each, model)
        except ParseError as error:
            problem = error
        else:
            if all(value != other.value for other in fitting):
                fitting.append(ReadObject(value, each.repaired))
    if len(fitting) > 1:
        raise ParseError("two different JSON objects were given")
    if not fitting:
        raise problem
    return fitting[0]


def _check_ends(found: ObjectInText, text: str, code: str) -> None:
    """Raise ParseError if an object with the code may be a part of the model's object.

    A model may quote without escaping, so that the quotation ends a text. It may end the object,
    too: the code has to come last, or nothing but signs after the object. It may begin another one:
    the code has to come first, or a number before it. What the quotation puts there holds the
    quotation mark that ended the text, and is no number.
    """
    values = list((found.value or {}).values())
    has_code = [isinstance(value, str) and value.strip().casefold() == code for value in values]
    if not has_code[-1] and _SIGNS.fullmatch(text, found.end) is None:
        raise ParseError("the JSON object does not end with its code")
    before_code = [value for value, is_code in zip(values, has_code, strict=True) if not is_code]
    ends_with_number = not isinstance(before_code[-1] if before_code else "", str | list | dict)
    if not has_code[0] and not ends_with_number and begins_object(text[: found.start]):
        raise ParseError("the JSON object may be a part of another one")


def _validated(found: ObjectInText, model: type[ModelT]) -> ModelT:
    if has_repeated_names(found.value):
        raise ParseError("the JSON object names a key twice")
    try:
        return model.model_validate_json(orjson.dumps(found.value), strict=True)
    except ValidationError as error:
        raise ParseError("the JSON object does not fit", _first_problem(error)) from None
    except (TypeError, ValueError) as error:
        raise ParseError("the JSON object cannot be used", str(error)) from None


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"])) or "the object"
    return f"{place}: {first['msg']}"


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
        raise ParseError(f"the {what} is not {wanted}", shown)
    if match["top"] is not None and float(match["top"]) != high:
        raise ParseError(f"the {what} is not of {high:g}", shown)
    if match["percent"] is not None and (low, high) != (0, 100):
        raise ParseError(f"the {what} is a percentage, not a number up to {high:g}", shown)
    value = float(match["whole"] + (match["rest"] or ""))
    if whole and not value.is_integer():
        raise ParseError(f"the {what} is not a whole number", shown)
    if not low <= value <= high:
        raise ParseError(f"the {what} is outside {low:g} to {high:g}", f"{value:g}")
    if high > _NEAR_ONE and match["rest"] and 0 < value <= 1 and match["top"] is None:
        raise ParseError(f"the {what} may be of {low:g} to {high:g} or of 0 to 1", shown)
    as_asked = match["whole"] if whole else f"{value:g}"
    odd = isinstance(written, str) if not whole else text.strip() != as_asked
    return ReadNumber(value, f"{shown} read as {value:g}" if odd else "")
