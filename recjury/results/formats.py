"""Findings as Markdown, CSV, HTML and LaTeX: for notes, spreadsheets, web pages and papers."""

import html
import re
from collections.abc import Iterable
from typing import Literal

import pandas as pd

from recjury.results.export import for_spreadsheets
from recjury.results.findings import Findings, cell_text, of_numbers

Format = Literal["markdown", "csv", "html", "latex"]

_SPACE = "\N{NO-BREAK SPACE}"
_MARKDOWN = re.compile(r"[\\`*|<>]|(?<!\w)_|_(?!\w)|\](?=\()")
_LATEX = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        _SPACE: "~",
    }
)


def render(findings: Findings, form: Format) -> str:
    """The findings as a text in this form, which ends with a line's end.

    CSV has the numbers behind the tables, unrounded; where there are none, the tables. HTML is a
    whole page. In LaTeX, tables want the package booktabs, and all else is comments.
    """
    if form == "csv":
        return _csv(findings)
    if form == "html":
        head = f'<meta charset="utf-8">\n<title>{html.escape(findings.title)}</title>'
        return f"<!doctype html>\n{head}\n{findings._repr_html_()}\n"
    parts = _markdown(findings) if form == "markdown" else _latex(findings)
    return "\n\n".join(filter(None, parts)) + "\n"


def _csv(findings: Findings) -> str:
    """One table; several stand below their headings, with an empty line between them."""
    if findings.numbers is not None:
        return _one_csv(findings.numbers)
    tables = {name: _one_csv(table) for name, table in findings.tables.items()}
    if len(tables) == 1:
        return next(iter(tables.values()))
    return "\n".join(f"{name}\n{table}" for name, table in tables.items())


def _one_csv(frame: pd.DataFrame) -> str:
    table = for_spreadsheets(frame).map(lambda v: v.replace(_SPACE, " ") if _is_text(v) else v)
    return str(table.to_csv(index=False, lineterminator="\n"))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _markdown(findings: Findings) -> list[str]:
    lines = [_for_markdown(line) for line in findings.answer.splitlines()]
    text = f"~~~~text\n{findings.text}\n~~~~" if findings.text else ""
    tables = [f"### {_for_markdown(name)}\n\n{_rows(t)}" for name, t in findings.tables.items()]
    notes = (f"- {_for_markdown(line)}" for line in (*findings.notes, *findings.problems))
    return [*lines, text, *tables, "\n".join(notes)]


def _rows(frame: pd.DataFrame) -> str:
    ends = ["---:" if right else "---" for right in of_numbers(frame)]
    rows = [map(_for_markdown, map(str, frame.columns)), ends]
    rows += [map(_for_markdown, map(cell_text, row)) for row in frame.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _for_markdown(text: str) -> str:
    return "<br>".join(_MARKDOWN.sub(r"\\\g<0>", text.replace(_SPACE, " ")).splitlines())


def _latex(findings: Findings) -> list[str]:
    lines = (*findings.answer.splitlines(), *findings.text.splitlines())
    notes = (f"! {line}" for line in (*findings.notes, *findings.problems))
    above, below = ("\n".join(f"% {_one_line(line)}" for line in part) for part in (lines, notes))
    return [above, *(_tabular(name, table) for name, table in findings.tables.items()), below]


def _tabular(heading: str, frame: pd.DataFrame) -> str:
    ends = "".join("r" if right else "l" for right in of_numbers(frame))
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_for_latex(heading)}}}",
        rf"\label{{tab:{'-'.join(re.findall('[a-z0-9]+', heading.lower()))}}}",
        rf"\begin{{tabular}}{{{ends}}}",
        r"\toprule",
        _latex_row(map(str, frame.columns)),
        r"\midrule",
        *(_latex_row(map(cell_text, row)) for row in frame.itertuples(index=False)),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines)


def _latex_row(cells: Iterable[str]) -> str:
    r"""A row; what follows `\\` must not be taken for its argument."""
    row = " & ".join(map(_for_latex, cells))
    return f"{'{}' if row.startswith(('[', '*')) else ''}{row} \\\\"


def _for_latex(text: str) -> str:
    return _one_line(text).translate(_LATEX)


def _one_line(text: str) -> str:
    """The text without line ends: what follows one would be no comment, or no row, any more."""
    return " ".join(text.splitlines())
