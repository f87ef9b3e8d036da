"""Mistakes of users in one line of plain words: names that nothing has, and what pydantic finds."""

from collections.abc import Iterable
from difflib import get_close_matches

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from recjury.safe_text import without_secrets

_LONGEST_INPUT = 60  # characters
_HINTS = {"ItemRef": ": use corpus.catalogue.ref(...)"}


def did_you_mean(name: object, known: Iterable[str], *, least: float = 0.6) -> str:
    """The end of a message about an unknown name: "; did you mean 'x'?", with the most similar one.

    Empty if none of the `known` names has a similarity of at least `least` (0 to 1, as difflib
    computes it).
    """
    near = get_close_matches(str(name), list(known), n=1, cutoff=least)
    return f"; did you mean {near[0]!r}?" if near else ""


def first_mistake(error: ValidationError) -> str:
    """The first mistake: the field, what was expected, and what was given."""
    detail = error.errors(include_url=False)[0]
    place = ".".join(map(str, detail["loc"]))
    message = mistake(detail)
    return f"{place}: {message}" if place else message


def mistake(detail: ErrorDetails) -> str:
    """What is wrong, without the place."""
    match detail["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is not a known key"
        case "value_error":
            return str(detail["ctx"]["error"])
        case "model_type" | "dataclass_type":
            name = detail["ctx"]["class_name"]
            if name.startswith("_"):
                return f"expected an object, {shown_input(detail)}"
            article = "an" if name[0] in "AEIOU" else "a"
            return f"expected {article} {name}, {shown_input(detail)}{_HINTS.get(name, '')}"
        case "list_type" | "tuple_type":
            return f"expected a list, {shown_input(detail)}"
        case "dict_type":
            return f"expected a mapping, {shown_input(detail)}"
    return f"{detail['msg'][0].lower()}{detail['msg'][1:]}, {shown_input(detail)}"


def shown_input(detail: ErrorDetails) -> str:
    """What was given, shortened; it may be a key, or a URL with one, in a wrong place."""
    shown = without_secrets(repr(detail["input"]))
    return f"got {shown if len(shown) <= _LONGEST_INPUT else shown[: _LONGEST_INPUT - 3] + '...'}"
