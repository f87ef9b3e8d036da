"""The benchmark of scorers: the tables of the docs from several runs."""

from pathlib import Path

import pytest

from benchmarks.meta_evaluation import measure
from benchmarks.meta_evaluation_tables import markdown
from benchmarks.reply_evaluation import MetaEvaluationPlan


@pytest.mark.slow
def test_the_tables_have_the_scorers_of_all_runs(data_folder: Path) -> None:
    first, second = (
        measure(
            MetaEvaluationPlan(data_folder / "dialogue-eval", scorers=[name], resamples=10),
            own_pairs=5,
        )
        for name in ("length", "distinct-1")
    )
    tables = markdown([first, second])
    rows = [line for line in tables.splitlines() if line.startswith("| distinct-1 |")]
    assert len(rows) == len([line for line in tables.splitlines() if line.startswith("| length")])
    assert "| length | -20.8/-24.4 | -12.6/-17.5 | 0.7/1.5 | 30.1/30.9 |" in tables
    assert "vocabulary_diversity, 5" in tables
