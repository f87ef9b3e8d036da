"""Tables, docstrings, and what keys and metrics mean: all of it as Markdown."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import yaml

NOTE = "Written from the code by `make docs`; see also {}."

Row = Sequence[str]

_MEANINGS: Mapping[str, Mapping[str, str]] = yaml.safe_load(
    (Path(__file__).parent / "meanings.yaml").read_text("utf-8")
)
_used: set[tuple[str, str]] = set()


def table(head: str, rows: Iterable[Row]) -> str:
    """A table without spaces around its marks, so that its words can be counted."""
    columns = head.split("|")
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"|{'|'.join(_cell(each) for each in line)}|" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def sentence(value: object) -> str:
    """The first paragraph of a docstring."""
    return " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())


def whole(value: object) -> str:
    """A whole docstring on one line."""
    return " ".join((inspect.getdoc(value) or "").split())


def meaning(key: str, *groups: str) -> str:
    """What meanings.yaml says in the first of these groups that has the key. Raises LookupError."""
    group = next((each for each in groups if key in _MEANINGS.get(each, ())), "")
    if not group:
        raise LookupError(f"meanings.yaml has no {key} in {' or '.join(groups)}")
    _used.add((group, key))
    return _MEANINGS[group][key]


def meanings_of_nothing() -> list[tuple[str, str]]:
    """The groups and keys that nobody asked for so far."""
    return sorted({(group, key) for group in _MEANINGS for key in _MEANINGS[group]} - _used)
