"""The filters of commands: `--system`, `--scenario`, `--where`, `--failed`, `--share`."""

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recjury.errors import ConfigError

if TYPE_CHECKING:
    from recjury.store import Selection

_Names = list[str] | None
_FILTERS = {
    "system": Annotated[
        _Names, typer.Option("--system", metavar="NAME", help="Only this system; may be repeated.")
    ],
    "scenario": Annotated[
        _Names,
        typer.Option("--scenario", metavar="ID", help="Only this scenario; may be repeated."),
    ],
    "where": Annotated[
        _Names,
        typer.Option(
            "--where",
            metavar="KEY=VALUE",
            help="Only where corpus, repeat, seed or a setting (user.user) has this value.",
        ),
    ],
    "failed": Annotated[
        bool, typer.Option("--failed", help="Only what failed, or lost a score to a failure.")
    ],
    "share": Annotated[
        float,
        typer.Option(
            "--share", metavar="S", help="A share of the scenarios (0 to 1), always the same ones."
        ),
    ],
}
_DEFAULTS: dict[str, Any] = {"failed": False, "share": 1.0}


def with_filters(command: Callable[..., None]) -> Callable[..., None]:
    """`command`, whose parameter `selection` is made of five options."""

    def wrapper(**given: Any) -> None:
        filters = {name: given.pop(name, _DEFAULTS.get(name)) for name in _FILTERS}
        command(**given, selection=selection_of(**filters))

    own = inspect.signature(command)
    kept = [each for each in own.parameters.values() if each.name != "selection"]
    added = [
        inspect.Parameter(
            name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=_DEFAULTS.get(name),
            annotation=kind,
        )
        for name, kind in _FILTERS.items()
    ]
    wrapper.__name__, wrapper.__doc__ = command.__name__, command.__doc__
    wrapper.__module__ = command.__module__
    # Typer reads both: the parameters with their defaults, and their types.
    vars(wrapper)["__signature__"] = own.replace(parameters=[*kept, *added])
    wrapper.__annotations__ = {each.name: each.annotation for each in (*kept, *added)}
    return wrapper


def selection_of(
    *,
    system: Sequence[str] | None,
    scenario: Sequence[str] | None,
    where: Sequence[str] | None,
    failed: bool,
    share: float,
) -> "Selection":
    """What the options select. Raises ConfigError for one of another form."""
    from recjury.store import Selection

    if not 0 < share <= 1:
        raise ConfigError(f"--share must be above 0 and at most 1, got {share:g}")
    pairs = [each.partition("=") for each in where or ()]
    for key, equals, value in pairs:
        if not (key and equals):
            raise ConfigError(f"--where {key}{equals}{value}: expected KEY=VALUE")
    return Selection(
        systems=tuple(system or ()),
        scenarios=tuple(scenario or ()),
        where={key: value for key, _, value in pairs},
        failed=failed,
        share=share,
    )
