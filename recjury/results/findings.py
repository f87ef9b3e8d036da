"""`Findings`: what every command and analysis returns, and one function shows."""

import html
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd


@dataclass(frozen=True, repr=False)
class Findings:
    """A result for people and for programs: `print` shows it as text, a notebook as HTML.

    `answer` is one or two lines. `tables` are frames by their headings, `text` is a document such
    as a debate, `notes` say what is not to be trusted, `problems` what failed or has no score.
    `data` has the stable keys of `--json`. `numbers` is the frame behind the tables, unrounded: it
    is written as CSV, and drawn.
    """

    title: str
    answer: str
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    text: str = ""
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    numbers: pd.DataFrame | None = None

    def __repr__(self) -> str:
        """The answer, the tables and what is not to be trusted."""
        tables = [
            f"{heading}\n{frame.to_string(index=False)}" for heading, frame in self.tables.items()
        ]
        notes = "\n".join(f"! {line}" for line in (*self.notes, *self.problems))
        return "\n\n".join(filter(None, (self.answer, self.text, *tables, notes)))

    def _repr_html_(self) -> str:
        lines = [f"<p>{html.escape(line)}</p>" for line in self.answer.splitlines()]
        text = [f"<pre>{html.escape(self.text)}</pre>"] if self.text else []
        tables = [_table(heading, frame) for heading, frame in self.tables.items()]
        notes = [f"<li>{html.escape(line)}</li>" for line in (*self.notes, *self.problems)]
        below = ["<ul>", *notes, "</ul>"] if notes else []
        return "\n".join((*lines, *text, *tables, *below))


def cell_text(value: object) -> str:
    """A cell as tables show it."""
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.2f}"
    return "-" if value is None else str(value)


def of_numbers(frame: pd.DataFrame) -> list[bool]:
    """Which columns hold numbers, and stand at the right."""
    return [kind.kind in "fi" for kind in frame.dtypes]


def _table(heading: str, frame: pd.DataFrame) -> str:
    ends = [" style='text-align: right'" if right else "" for right in of_numbers(frame)]
    rows = [_row("th", map(str, frame.columns), ends)]
    rows += [_row("td", map(cell_text, row), ends) for row in frame.itertuples(index=False)]
    caption = f"<caption style='text-align: left'>{html.escape(heading)}</caption>"
    return "\n".join(("<table>", caption, *rows, "</table>"))


def _row(tag: str, cells: Any, ends: list[str]) -> str:
    texts = (html.escape(cell).replace("\n", "<br>") for cell in cells)
    inner = "".join(f"<{tag}{end}>{cell}</{tag}>" for cell, end in zip(texts, ends, strict=True))
    return f"<tr>{inner}</tr>"
