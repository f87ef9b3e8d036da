"""What is shown is read off declarations: nothing above the judges knows the twelve factors."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import recjury
from recjury.records import Factor

ROOT = Path(recjury.__file__).parent
ROOMS = ("campaign", "cli", "report", "results")
_NAMED = re.compile(
    r"\b(" + "|".join(re.sub("[ _]", "[ _]", factor.value) for factor in Factor) + r")\b",
    re.IGNORECASE,
)


def _sources(room: str) -> Iterator[Path]:
    return (
        path
        for path in sorted((ROOT / room).rglob("*"))
        if path.suffix in {".py", ".j2", ".css", ".html"}
    )


@pytest.mark.parametrize("room", ROOMS)
def test_the_twelve_factors_are_named_nowhere(room: str) -> None:
    named = {
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in _sources(room)
        for found in _NAMED.finditer(path.read_text("utf-8"))
    }
    assert named == set()


@pytest.mark.parametrize("room", ROOMS)
def test_the_twelve_factors_are_imported_nowhere(room: str) -> None:
    importing = [
        str(path.relative_to(ROOT))
        for path in _sources(room)
        if path.suffix == ".py"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
        and any(name.name in {"Factor", "FACTOR_SCALE"} for name in node.names)
    ]
    assert importing == []
