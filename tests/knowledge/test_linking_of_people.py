"""Names as people write them: precision and recall on ReDial's marked mentions."""

from pathlib import Path

import pytest

from benchmarks.linking import measure


@pytest.mark.slow
def test_marked_mentions_are_found_and_little_else(data_folder: Path) -> None:
    figures = measure(data_folder)
    both, held_out = figures["name"]["both"], figures["name"]["held_out"]
    assert both["marks"] == 6320
    assert min(both["precision"], held_out["precision"]) >= 0.98
    assert min(both["recall"], held_out["recall"]) >= 0.99
    assert figures["title"]["held_out"]["recall_by_title"] >= 0.95
    title, lower = figures["title"]["both"], figures["lower"]["both"]
    assert min(title["precision_strict"] - 0.89, title["recall_by_title"] - 0.93) > 0
    assert min(lower["precision_strict"] - 0.87, lower["recall_by_title"] - 0.72) > 0
