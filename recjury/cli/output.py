"""What commands print: one JSON object on standard output, or tables for people."""

import sys
from collections.abc import Iterable, Sequence
from typing import NoReturn

import orjson
import typer


def emit_json(value: object) -> None:
    """Print one JSON object on one line; keys keep their order."""
    sys.stdout.write(orjson.dumps(value).decode() + "\n")
    sys.stdout.flush()


def say(text: str) -> None:
    """A line for people on standard error, where it does not disturb what scripts read."""
    typer.echo(text, err=True)


def show_table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "") -> None:
    """A table on standard output, as wide as its content where that is no terminal."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title or None, box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for number, heading in enumerate(headings):
        first = number == 0
        table.add_column(heading, justify="left" if first else "right", no_wrap=first)
    for row in rows:
        table.add_row(*row)
    console = Console(markup=False, highlight=False)
    if not console.is_terminal:
        console.width = Console(width=10_000).measure(table).maximum
    console.print(table)


def number(value: float | None, digits: int = 2) -> str:
    """A number for a table; "-" for one that is not there."""
    return "-" if value is None else f"{value:.{digits}f}"


def stop(code: int) -> NoReturn:
    """End the command with this exit code."""
    raise typer.Exit(code)
