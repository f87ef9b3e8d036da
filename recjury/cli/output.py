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


def print_text(text: str) -> None:
    """Print text as it is on standard output."""
    sys.stdout.write(text)
    sys.stdout.flush()


def say(text: str) -> None:
    """Print a line on standard error; standard output is for scripts."""
    typer.echo(printable(text), err=True)


def show_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str | None = None,
    align: Sequence[str] = (),
) -> None:
    """Print a table on standard output; if that is not a terminal, as wide as its content.

    `align` has "left" or "right" by column; by default only the first is left-aligned. If a
    terminal is too narrow, rows and columns are swapped; if it still is, the columns are
    split over several tables, each with the first column.
    """
    from rich.console import Console

    console = Console(markup=False, highlight=False)
    lines = [[printable(cell) for cell in line] for line in (headings, *rows)]
    if not console.is_terminal:
        console.width = max(_width(lines), 1)
    for place, part in enumerate(_fitting(lines, console.width)):
        whole = len(part[0]) == len(headings)
        console.print(_table(part, title if place == 0 else None, align if whole else ()))


def show_list(rows: Iterable[tuple[str, str]]) -> None:
    """Print names with texts on standard output; long texts are wrapped."""
    from rich.console import Console
    from rich.table import Table

    console = Console(markup=False, highlight=False)
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for name, text in rows:
        grid.add_row(printable(name), printable(text))
    console.print(grid)


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

    return Console(width=10_000).measure(_table(lines, None, ())).maximum


def _table(lines: Lines, title: str | None, align: Sequence[str]) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(
        box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True, title=title, title_justify="left"
    )
    for place, heading in enumerate(lines[0]):
        is_left = place == 0 or (bool(align) and align[place] == "left")
        table.add_column(heading, justify="left" if is_left else "right", no_wrap=place == 0)
    for row in lines[1:]:
        table.add_row(*row)
    return table


def number(value: float | None, digits: int = 2) -> str:
    """A number for a table; "-" if it is None."""
    return "-" if value is None else f"{value:.{digits}f}"


def stop(code: int) -> NoReturn:
    """End the command with this exit code."""
    raise typer.Exit(code)
