"""The settings of variants as columns."""

import io

import pandas as pd

from recjury.results import render, summary
from recjury.store import Store
from tests.results.filled import fill

NAMES = ("chat/k=1/mood=calm", "chat/k=2/mood=calm", "popular")


def test_settings_are_columns(store: Store) -> None:
    fill(store, {name: {"novelty": [number, 2, 3]} for number, name in enumerate(NAMES)})
    found = summary(store)
    table = found.tables["Settings that differ"]
    assert list(table.columns) == ["system", "k", "mood", "core.novelty"]
    assert table[["system", "k", "mood"]].to_numpy().tolist() == [
        [NAMES[0], "1", "calm"],
        [NAMES[1], "2", "calm"],
        ["popular", "-", "-"],
    ]
    numbers = pd.read_csv(io.StringIO(render(found, "csv")))
    assert numbers["k"].tolist()[:2] == [1, 2]


def test_without_variants_there_are_no_such_columns(store: Store) -> None:
    fill(store, {name: {"novelty": [1, 2, 3]} for name in ("a", "b", "c")})
    assert "Settings that differ" not in summary(store).tables
