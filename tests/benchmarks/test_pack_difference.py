"""The table of docs/core.md is what the command prints."""

from pathlib import Path

from benchmarks.pack_difference import table

PAGE = Path(__file__).parents[2] / "docs" / "core.md"


def test_the_page_has_the_table() -> None:
    assert f"\n{table()}\n" in PAGE.read_text("utf-8"), "run python -m benchmarks.pack_difference"
