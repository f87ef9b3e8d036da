"""Findings, shown as text that fits the terminal, as JSON, or in a form for other programs."""

import json
import math
import shutil
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import pandas as pd
import typer
from rich import box
from rich.console import Console
from rich.table import Table

from recjury.cli.app import printable
from recjury.results import Findings, cell_text, of_numbers, render

Form = Literal["text", "csv", "markdown", "latex", "html"]

_WIDTH = 120  # where there is no terminal
_GAP = 3  # between two columns


def show(findings: Findings, *, as_json: bool = False, form: Form = "text") -> None:
    """Print the findings. Raises typer.Exit with code 3 if something failed or has no score."""
    if as_json:
        sys.stdout.write(json.dumps(_plain(findings.data), ensure_ascii=False) + "\n")
    elif form == "text":
        _print(findings)
    else:
        sys.stdout.write(printable(render(findings, form)))
    if findings.problems:
        raise typer.Exit(3)


def _print(findings: Findings) -> None:
    width = shutil.get_terminal_size((_WIDTH, 1)).columns
    console = Console(width=width, highlight=False, markup=False, emoji=False)
    if findings.answer:
        console.print(printable(findings.answer))
    if findings.text:
        console.print(printable(findings.text), soft_wrap=True)
    for heading, frame in findings.tables.items():
        for part in _parts(frame, width):
            console.print()
            console.print(_table(heading, part, width))
    for line in (*findings.notes, *findings.problems):
        console.print(f"! {printable(line)}")


def _parts(frame: pd.DataFrame, width: int) -> Iterator[pd.DataFrame]:
    """The columns in as many tables as the width wants. Each begins with the first column."""
    first, *rest = range(len(frame.columns))
    widths = [_narrowest(frame.iloc[:, place]) for place in (first, *rest)]
    part = [first]
    for place in rest:
        if len(part) > 1 and sum(widths[each] for each in (*part, place)) > width:
            yield frame.iloc[:, part]
            part = [first]
        part.append(place)
    yield frame.iloc[:, part]


def _narrowest(column: "pd.Series[Any]") -> int:
    """The width of a column whose cells are broken at spaces, and not at no-break spaces."""
    return _GAP + max(len(word) for text in _texts(column) for word in text.split(" "))


def _widths(frame: pd.DataFrame, width: int) -> list[int]:
    """The width of each column: its texts in one line, or as much of that as there is room for."""
    columns = [frame.iloc[:, place] for place in range(len(frame.columns))]
    fewest = [min(width // 2, _narrowest(column) - _GAP) for column in columns]
    most = [max(few, *map(len, _texts(each))) for few, each in zip(fewest, columns, strict=True)]
    wanted = sum(most) - sum(fewest)
    room = max(0, width - sum(fewest) - _GAP * len(columns))
    share = min(1.0, room / wanted) if wanted else 0.0
    return [few + int(share * (all_ - few)) for few, all_ in zip(fewest, most, strict=True)]


def _texts(column: "pd.Series[Any]") -> list[str]:
    """The heading and the cells of a column."""
    return [printable(str(column.name)), *map(_cell, column)]


def _table(heading: str, frame: pd.DataFrame, width: int) -> Table:
    table = Table(
        title=printable(heading), box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False
    )
    widths = _widths(frame, width)
    for name, wide, is_number in zip(frame.columns, widths, of_numbers(frame), strict=True):
        justify: Any = "right" if is_number else "left"
        table.add_column(printable(str(name)), justify=justify, overflow="fold", width=wide)
    for row in frame.itertuples(index=False):
        table.add_row(*(_cell(value) for value in row))
    return table


def _cell(value: object) -> str:
    return printable(cell_text(value))


def _plain(value: object) -> object:
    """`value` with what JSON can hold: NaN becomes null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
