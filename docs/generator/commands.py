"""Commands and their options, as the program has them."""

import inspect
import json
from collections import Counter
from collections.abc import Container, Iterator
from typing import Any, Literal, get_args, get_origin

import typer

from docs.generator.writing import NOTE, Row, sentence, table
from recjury.cli.app import app
from recjury.cli.overview import SECTIONS

_FIRST = ("Start here", "Results")


def commands() -> tuple[list[str], list[str]]:
    """The parts of two pages: what one begins with, and the rest."""
    known = dict(_leaves(typer.main.get_command(app)))
    uses = Counter(row for command in known.values() for row in _options(command))
    shared = [row for row, number in uses.items() if number > 2]
    start = [
        NOTE.format("[running campaigns](../how-to/running.md)"),
        "Each option has a variable, which `--help` names: `RECJURY_RUN_STORE` is `--store` of "
        "`run`. There are [exit codes](../how-to/running.md#exit-codes) and "
        "[more commands](more-commands.md).",
        "## Options of several commands",
        table("option|default|meaning", shared),
    ]
    more = [NOTE.format("[the first commands](commands.md), which has the shared options")]
    for section, names in SECTIONS.items():
        page = start if section in _FIRST else more
        page.append(f"## {section}")
        for path in (path for name in names for path in known if path.split()[0] == name):
            page.extend(_command(path, known[path], shared))
    return start, more


def helps() -> str:
    """What `--help` shows of each command, for terminals of 80 columns, as JSON."""
    main = typer.main.get_command(app)
    root = main.make_context("recjury", [], resilient_parsing=True, terminal_width=78)
    found = dict(_helps(main, root))
    return json.dumps(found, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _helps(group: Any, above: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, late in group.commands.items():
        command = getattr(late, "command", late)
        own = command.make_context(name, [], parent=above, resilient_parsing=True)
        yield f"{prefix}{name}", command.get_help(own)
        if hasattr(command, "commands"):
            yield from _helps(command, own, f"{prefix}{name} ")


def _leaves(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, late in group.commands.items():
        command = getattr(late, "command", late)  # modules of commands are imported late
        if hasattr(command, "commands"):
            yield from _leaves(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def _command(path: str, command: Any, shared: Container[Row]) -> Iterator[str]:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    usage = " ".join([f"recjury {path}", *map(_usage, arguments)])
    yield f"### {path}"
    yield f"`{usage}`: {sentence(command.callback)}"
    rows = [row for row in _options(command) if row not in shared]
    if rows:
        yield table("option|default|meaning", rows)
    if also := ", ".join(row[0] for row in _options(command) if row in shared):
        yield f"Also {also}."


def _usage(argument: Any) -> str:
    name = _named(argument) + "..." * (argument.nargs == -1)
    return name if argument.required else f"[{name}]"


def _named(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _options(command: Any) -> Iterator[tuple[str, str, str]]:
    """A row for each option but `--help`."""
    typed = inspect.signature(command.callback).parameters
    for option in command.params:
        if option.param_type_name == "option" and option.name != "help":
            names = " / ".join(f"`{each}`" for each in (*option.opts, *option.secondary_opts))
            choices = _choices(typed[option.name].annotation)
            among = f" One of {', '.join(f'`{each}`' for each in choices)}." if choices else ""
            yield names, _shown(option.default), f"{option.help or ''}{among}".strip()


def _choices(annotation: Any) -> tuple[str, ...]:
    """The values of an `Annotated[Literal[...], ...]`."""
    type_ = get_args(annotation)[:1] or (annotation,)
    return get_args(type_[0]) if get_origin(type_[0]) is Literal else ()


def _shown(default: object) -> str:
    if default in ("", None) or callable(default) or default is False:
        return "-"
    return "yes" if default is True else f"`{default}`"
