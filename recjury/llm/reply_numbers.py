"""A number that a model wrote: read where a person would not doubt what it is."""

import re
from typing import NamedTuple

from recjury.errors import ParseError

_NUMBER = re.compile(
    r"(?P<whole>[+-]?[0-9]{1,9})(?P<rest>\.[0-9]{1,9})?"
    r"(?:\s?(?:/|out of|of)\s?(?P<top>[0-9]{1,9})(?:\.0{1,9})?|\s?(?P<percent>%))?"
)
_EMPHASIS = " \t\r\n*_`'\"“”"
_NEAR_ONE = 10  # the highest score of a scale from which on 0.7 may stand for a share of it
_SHOWN = 40


class ReadNumber(NamedTuple):
    """A number, and what of its form was not as asked (empty for nothing)."""

    value: float
    repaired: str


def read_number(
    said: str | float, low: float, high: float, *, whole: bool, what: str = "rating"
) -> ReadNumber:
    """`said` as a number from `low` to `high`; `whole` tells whether a whole one was asked for.

    Numbers in strings, 3.0 for 3, and 3/4 on a scale that ends at 4 are read. In doubt are 3.5
    where a whole number was asked for, 3/5 on a scale that ends at 4, and on a long scale what may
    be a share of it: 0.75, 1.0. Raises ParseError, which calls the number `what`.
    """
    text = said if isinstance(said, str) else repr(said)
    plain = text.strip(_EMPHASIS)
    shown = repr(text[:_SHOWN])
    found = _NUMBER.fullmatch(plain)
    if found is None:
        wanted = "a whole number" if whole else "a number"
        raise ParseError(f"the {what} {shown} is not {wanted}")
    if found["top"] is not None and float(found["top"]) != high:
        raise ParseError(f"the {what} {shown} is of {found['top']}, not of {high:g}")
    if found["percent"] is not None and (low, high) != (0, 100):
        raise ParseError(f"the {what} {shown} is a percentage, not a number up to {high:g}")
    value = float(found["whole"] + (found["rest"] or ""))
    if whole and not value.is_integer():
        raise ParseError(f"the {what} {shown} is not a whole number")
    if not low <= value <= high:
        raise ParseError(f"the {what} {value:g} is outside {low:g} to {high:g}")
    if high > _NEAR_ONE and found["rest"] and 0 < value <= 1 and found["top"] is None:
        raise ParseError(f"the {what} {shown} may be of {low:g} to {high:g} or of 0 to 1")
    as_asked = found["whole"] if whole else f"{value:g}"
    odd = isinstance(said, str) if not whole else text.strip() != as_asked
    return ReadNumber(value, f"{shown} read as {value:g}" if odd else "")
