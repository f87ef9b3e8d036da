"""The filters of commands, `--system` to `--share`, and `--shard`."""

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
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


Shard = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="I/N",
        help="Only part I of N (from 1), with a store of its own; or slurm, slurm:N or k8s:N, to "
        "take it from the scheduler's variables. `recjury store merge` puts the parts together.",
    ),
]


def with_shard(
    selection: "Selection", named: str | None, variables: Mapping[str, str] = os.environ
) -> "Selection":
    """The part of a selection that --shard names. Raises ConfigError for another form."""
    from recjury.store import Shard

    if named is None:
        return selection
    number, of = _shard(named, variables)
    if not 1 <= number <= of:
        raise ConfigError(f"--shard {named}: part {number} of {of} does not exist")
    return selection._replace(shard=Shard(number, of))


def _shard(named: str, variables: Mapping[str, str]) -> tuple[int, int]:
    if named == "slurm":
        named = f"slurm:{_whole_array(variables)}"
    start, colon, of = named.partition(":") if ":" in named else named.partition("/")
    is_scheduled = colon == ":" and start in ("slurm", "k8s")
    if not (_is_number(of) and (is_scheduled or (colon == "/" and _is_number(start)))):
        raise ConfigError(f"--shard {named}: expected I/N (2/8), slurm, slurm:N or k8s:N")
    if start == "k8s":
        return _variable("JOB_COMPLETION_INDEX", variables) + 1, int(of)
    if start == "slurm":  # from 0 or from 1: every task has another part, whoever is started again
        return _variable("SLURM_ARRAY_TASK_ID", variables) or int(of), int(of)
    return int(start), int(of)


def _whole_array(variables: Mapping[str, str]) -> int:
    """The number of tasks, if they may be all: whoever starts some again has another array."""
    first, last, count = (
        _variable(f"SLURM_ARRAY_TASK_{n}", variables) for n in ("MIN", "MAX", "COUNT")
    )
    if first > 1 or count < 2 or last - first + 1 != count:
        raise ConfigError(
            "--shard slurm: the array must be all tasks from 0 or 1 on, such as --array=0-31: "
            "name their number, as in --shard slurm:32, to start some of them"
        )
    return count


def _variable(name: str, variables: Mapping[str, str]) -> int:
    value = variables.get(name, "")
    if not _is_number(value):
        raise ConfigError(f"--shard: expected a number in the variable {name}, got {value!r}")
    return int(value)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10
