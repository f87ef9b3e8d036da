"""Options that stand together: one parameter of a command gets what becomes of several options."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, get_args


class OptionsOf(NamedTuple):
    """Marks a parameter, `Annotated[X, OptionsOf(make)]`, that stands for the options of `make`.

    The command has these options in its place, and gets what `make` returns for them.
    """

    make: Callable[..., Any]


def expanded(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with the options themselves as parameters, as Typer wants them."""
    makers, parameters = dict[str, Callable[..., Any]](), list[inspect.Parameter]()
    for each in inspect.signature(command, eval_str=True).parameters.values():
        marks = (mark for mark in get_args(each.annotation) if isinstance(mark, OptionsOf))
        if mark := next(marks, None):
            makers[each.name] = expanded(mark.make)
            parameters += inspect.signature(makers[each.name]).parameters.values()
        else:
            parameters.append(each.replace(kind=each.KEYWORD_ONLY))

    @functools.wraps(command)
    def call(**given: Any) -> Any:
        made = {
            name: make(
                **{option: given.pop(option) for option in inspect.signature(make).parameters}
            )
            for name, make in makers.items()
        }
        return command(**given, **made)

    call.__annotations__ = {each.name: each.annotation for each in parameters}
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return call
