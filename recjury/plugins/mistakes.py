"""Mistakes that pydantic finds, in one line of plain words."""

from pydantic import ValidationError
from pydantic_core import ErrorDetails

_LONGEST_INPUT = 60  # characters
_HINTS = {"ItemRef": ": use corpus.catalogue.ref(...)"}


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
            article = "an" if name[0] in "AEIOU" else "a"
            return f"expected {article} {name}, {shown_input(detail)}{_HINTS.get(name, '')}"
    return f"{detail['msg'][0].lower()}{detail['msg'][1:]}, {shown_input(detail)}"


def shown_input(detail: ErrorDetails) -> str:
    """What was given, shortened."""
    shown = repr(detail["input"])
    return f"got {shown if len(shown) <= _LONGEST_INPUT else shown[: _LONGEST_INPUT - 3] + '...'}"
