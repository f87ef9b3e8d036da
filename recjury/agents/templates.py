"""Templates and paths of a campaign file, checked when the file is read."""

import functools
import re
from collections.abc import Iterator
from typing import Annotated, Any

import jmespath
from jinja2 import Environment, StrictUndefined, TemplateError, TemplateSyntaxError, Undefined, meta
from jmespath.exceptions import JMESPathError, ParseError
from pydantic import AfterValidator
from pydantic_core import to_jsonable_python

from recjury.errors import SystemFailed
from recjury.files import nearest

VARIABLES = ("id", "turn", "message", "messages", "turns", "domain", "session")
"""What a template may name: docs/how-to/systems.md says what each of them is."""

_STRICT = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701 (JSON, not HTML)
_EXPRESSION = re.compile(r"\s*\{\{((?:(?!\}\}).)*)\}\}\s*", re.DOTALL)


def _checked(value: Any) -> Any:
    for place, text in _texts(value):
        where = f"{place}: " if place else ""
        try:
            names = meta.find_undeclared_variables(_STRICT.parse(text))
        except TemplateSyntaxError as error:
            raise ValueError(
                f"{where}{error.message} (line {error.lineno} of the template)"
            ) from None
        if unknown := sorted(names - set(VARIABLES)):
            near = nearest(unknown[0], VARIABLES)
            raise ValueError(
                f"{where}there is no variable {unknown[0]!r}{near}: "
                f"variables are {', '.join(VARIABLES)}"
            )
    return value


def _texts(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """All texts in a value, each with the keys that lead to it."""
    match value:
        case str():
            yield place, value
        case dict():
            for key, each in value.items():
                yield from _texts(each, f"{place}.{key}".lstrip("."))
        case list():
            for number, each in enumerate(value):
                yield from _texts(each, f"{place}.{number}".lstrip("."))


def _compiled(path: str) -> str:
    try:
        if path:
            jmespath.compile(path)
    except ParseError as error:
        raise ValueError(
            f"{path!r} is not a JMESPath expression (character {error.lex_position + 1})"
        ) from None
    except JMESPathError as error:
        raise ValueError(f"{path!r} is not a JMESPath expression: {error}") from None
    return path


Template = Annotated[str, AfterValidator(_checked)]
"""A text with Jinja templates in it."""

Body = Annotated[Any, AfterValidator(_checked)]
"""Plain data with Jinja templates in its texts."""

Path = Annotated[str, AfterValidator(_compiled)]
"""A JMESPath expression; an empty one finds nothing."""


def filled(value: Any, variables: dict[str, Any]) -> Any:
    """The value with its templates filled in; one that is a whole text keeps its type.

    Raises SystemFailed if a template does not fit this conversation.
    """
    match value:
        case dict():
            return {key: filled(each, variables) for key, each in value.items()}
        case list():
            return [filled(each, variables) for each in value]
        case str():
            try:
                return _filled_text(value, variables)
            except (TemplateError, TypeError, ValueError) as error:
                raise SystemFailed(f"the template {value!r} cannot be filled in: {error}") from None
        case _:
            return value


def _filled_text(text: str, variables: dict[str, Any]) -> Any:
    whole = _EXPRESSION.fullmatch(text)
    if whole is None:
        return _STRICT.from_string(text).render(variables)
    result = _expression(whole[1])(**variables)
    if isinstance(result, Undefined):
        str(result)  # raises what is undefined
    return to_jsonable_python(result)


@functools.cache
def _expression(text: str) -> Any:
    return _STRICT.compile_expression(text, undefined_to_none=False)


def find(path: str, value: Any) -> Any:
    """What a path finds in a value, or None. Raises SystemFailed if it cannot be applied."""
    try:
        return jmespath.search(path, value) if path else None
    except JMESPathError as error:
        raise SystemFailed(f"the path {path!r} does not fit the answer: {error}") from None
