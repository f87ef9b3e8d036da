"""What commands print: one JSON object on standard output, or tables to read."""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NoReturn

import orjson
import typer

from recjury.safe_text import printable

if TYPE_CHECKING:
    from rich.table import Table

SOME_FAILED = 3
"""The exit code of a command that has done its work, but a part of it failed."""

INTERRUPTED = 130
"""The exit code after an interrupt: 128 + SIGINT, as in shells."""

# A table's headings, then its rows.
Lines = Sequence[Sequence[str]]


def emit_json(value: object) -> None:
    """Print one JSON object on one line; keys keep their order."""
    sys.stdout.write(orjson.dumps(value).decode() + "\n")
    sys.stdout.flush()


def say(text: str) -> None:
    """Print a line on standard error; standard output is for scripts."""
    typer.echo(printable(text), err=True)


def show_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, title: str | None = None
) -> None:
    """Print a table on standard output; if that is not a terminal, as wide as its content.

    If a terminal is too narrow, rows and columns are swapped; if it still is, the columns are
    split over several tables, each with the first column.
    """
    from rich.console import Console

    console = Console(markup=False, highlight=False)
    lines = [[printable(cell) for cell in line] for line in (headings, *rows)]
    if not console.is_terminal:
        console.width = max(_width(lines), 1)
    for place, part in enumerate(_fitting(lines, console.width)):
        console.print(_table(part, title if place == 0 else None))


def _fitting(lines: Lines, room: int) -> list[Lines]:
    """A table, headings first, as one or more that are not wider than `room`, if possible."""
    turned = list(zip(*lines, strict=True))
    if _width(lines) <= room or len(lines) == 1:
        return [lines]
    if _width(turned) <= room:
        return [turned]
    first, *columns = turned
    parts = [[first]]
    for column in columns:
        if len(parts[-1]) > 1 and _width(list(zip(*parts[-1], column, strict=True))) > room:
            parts.append([first])
        parts[-1].append(column)
    return [list(zip(*part, strict=True)) for part in parts]


def _width(lines: Lines) -> int:
    from rich.console import Console

    return Console(width=10_000).measure(_table(lines, None)).maximum


def _table(lines: Lines, title: str | None) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(
        box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True, title=title, title_justify="left"
    )
    for place, heading in enumerate(lines[0]):
        first = place == 0
        table.add_column(heading, justify="left" if first else "right", no_wrap=first)
    for row in lines[1:]:
        table.add_row(*row)
    return table


def number(value: float | None, digits: int = 2) -> str:
    """A number for a table; "-" if it is None."""
    return "-" if value is None else f"{value:.{digits}f}"


def stop(code: int) -> NoReturn:
    """End the command with this exit code."""
    raise typer.Exit(code)
