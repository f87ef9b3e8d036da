"""What commands print: one JSON object on standard output, or tables for people."""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NoReturn

import orjson
import typer

from recjury.cli.plain_text import printable

if TYPE_CHECKING:
    from rich.table import Table


def emit_json(value: object) -> None:
    """Print one JSON object on one line; keys keep their order."""
    sys.stdout.write(orjson.dumps(value).decode() + "\n")
    sys.stdout.flush()


def say(text: str) -> None:
    """A line for people on standard error, where it does not disturb what scripts read."""
    typer.echo(printable(text), err=True)


def show_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, title: str | None = None
) -> None:
    """A table on standard output, as wide as its content where that is no terminal.

    Where a terminal is too narrow for it, rows and columns change places.
    """
    from rich.console import Console

    content = [[printable(cell) for cell in row] for row in rows]
    console = Console(markup=False, highlight=False)
    headings = [printable(heading) for heading in headings]
    table = _table(headings, content, title)
    width = Console(width=10_000).measure(table).maximum
    if not console.is_terminal:
        console.width = max(width, 1)
    elif width > console.width and content:
        turned = list(zip(headings, *content, strict=True))
        table = _table(turned[0], turned[1:], title)
    console.print(table)


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]], title: str | None) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(
        box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True, title=title, title_justify="left"
    )
    for place, heading in enumerate(headings):
        first = place == 0
        table.add_column(heading, justify="left" if first else "right", no_wrap=first)
    for row in rows:
        table.add_row(*row)
    return table


def number(value: float | None, digits: int = 2) -> str:
    """A number for a table; "-" for one that is not there."""
    return "-" if value is None else f"{value:.{digits}f}"


def stop(code: int) -> NoReturn:
    """End the command with this exit code."""
    raise typer.Exit(code)
