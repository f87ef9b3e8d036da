"""The papers' own figures, which stand beside what is computed here."""

import json
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from recjury.tables import Column, Table, table_of


def published(paper: str) -> dict[str, Any]:
    """The figures of `papers/{paper}/published/{paper}.json` by table."""
    text = files(f"recjury.papers.{paper}").joinpath("published", f"{paper}.json")
    found: dict[str, Any] = json.loads(text.read_text("utf-8"))
    return found


def in_one_cell(values: Iterable[float | None] | None) -> str | None:
    """Figures with three decimals, such as "0.512; -"; None without any."""
    if values is None:
        return None
    return "; ".join("-" if value is None else f"{value:.3f}" for value in values)


def published_table(paper: str, source: str) -> Table:
    """A table of the paper as it is published, such as "PairEval, table 1"."""
    theirs = published(paper)[source]
    return table_of(
        f"published_{source.split()[-1]}",
        [Column(name) for name in theirs["columns"]],
        [dict(zip(theirs["columns"], row, strict=True)) for row in theirs["rows"]],
        title=f"{source}, as published",
        notes=theirs.get("notes", ()),
    )
