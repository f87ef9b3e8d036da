"""Names as people write them: precision, recall and speed on ReDial's marked mentions."""

from pathlib import Path

import pytest

from benchmarks.linking import measure


@pytest.fixture(scope="module")
def figures(data_folder: Path) -> dict[str, dict[str, dict[str, float]]]:
    return measure(data_folder)


@pytest.mark.slow
def test_marked_mentions_are_found_and_little_else(
    figures: dict[str, dict[str, dict[str, float]]],
) -> None:
    both, held_out = figures["name"]["both"], figures["name"]["held_out"]
    assert both["marks"] == 6320
    assert min(both["precision"], held_out["precision"]) >= 0.98
    assert min(both["recall"], held_out["recall"]) >= 0.99
    assert figures["title"]["held_out"]["recall_by_title"] >= 0.95


@pytest.mark.slow
def test_a_thousand_utterances_a_second_against_all_entities(
    figures: dict[str, dict[str, dict[str, float]]],
) -> None:
    assert figures["speed"]["entities"]["names"] == 24_630
    assert figures["speed"]["entities"]["utterances_per_second"] >= 1_000
