"""Table 2: systems ranked by FACE, by other evaluators, and by what they say."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recjury.papers.face.system_means import RankedMeans, SystemMeans, distinct
from recjury.papers.published import published
from recjury.records import ConversationLog, Ending, Scenario, ScoreTarget, Speaker, Turn
from tests.cli.front_door import Command

Row = dict[str, Any]


@pytest.fixture(scope="module")
def asked(data_folder: Path) -> tuple[object, ...]:
    folder = data_folder / "crsarena-eval"
    labels = f"crsarena-eval:{folder / 'crs_arena_eval.json'}"
    return ("--labels", labels, "--set", f"runs={folder / 'face-runs'}", "--set", "resamples=100")


def _rows(command: Command, asked: tuple[object, ...]) -> dict[tuple[str, str, str], Row]:
    ended = command("analyse", "face.table2", *asked, "--json")
    assert ended.code == 0, ended.err
    rows: list[Row] = json.loads(ended.out)["tables"]["table2"]
    return {(row["method"], row["subset"], row["aspect"]): row for row in rows}


def test_faces_rankings_are_the_published_ones(command: Command, asked: tuple[object, ...]) -> None:
    rows = _rows(command, asked)
    for aspects, theirs in published("face")["table2"]["FACE"].items():
        row = rows["FACE", "all", aspects]
        assert [row["pearson"]["value"], row["spearman"]["value"]] == pytest.approx(
            theirs, abs=0.009
        )
        assert row["systems"] == 9
    assert rows["FACE", "redial", "dialogue_overall"]["spearman"]["value"] == 1
    recall = rows["R@10", "all", "mean of all aspects"]
    assert (recall["pearson"], recall["published"]) == (None, "-0.134; 0.064")


def test_distinct_ranks_all_systems_better_than_those_of_redial(
    command: Command, asked: tuple[object, ...]
) -> None:
    rows = _rows(command, asked)
    found = {
        subset: rows["Distinct-3", subset, "mean of all aspects"]["spearman"]
        for subset in ("all", "redial", "opendialkg")
    }
    assert found["all"]["value"] == pytest.approx(0.798, abs=0.01), "as published"
    assert found["redial"]["value"] == pytest.approx(0.32, abs=0.03)
    assert found["opendialkg"]["value"] == pytest.approx(0.94, abs=0.03)
    for each in found.values():
        assert each["low"] < each["value"] < each["high"]


def test_length_and_scores_of_systems_go_together(
    command: Command, asked: tuple[object, ...]
) -> None:
    ended = command("analyse", "face.length", *asked, "--json")
    assert ended.code == 0, ended.err
    rows = json.loads(ended.out)["tables"]["length"]
    assert [row["who"] for row in rows] == ["FACE", "people"]
    for row in rows:
        assert row["pearson"]["value"] == pytest.approx(row["published"], abs=0.005)
        assert row["systems"] == 9


def test_draws_are_within_systems() -> None:
    systems = {f"{system}{n}": system for system in "abc" for n in range(5)}
    means = SystemMeans.drawn(systems, resamples=50, seed=1)
    assert np.all(means.weights @ means.member == 5)
    values = {
        ScoreTarget(name): float(ord(system) + int(name[1])) for name, system in systems.items()
    }
    own = means.of(values)
    assert own[0] == pytest.approx([ord(system) + 2 for system in "abc"])
    assert own.std(axis=0).min() > 0
    same = means.correlation([RankedMeans(own, own)])
    assert same is not None
    assert same.pearson[:3] == pytest.approx((1, 1, 1))
    gone = means.of({ScoreTarget("a1"): 1.0})
    assert gone[0, 0] == 1
    assert np.isnan(gone[0, 1:]).all()
    assert SystemMeans.drawn({"x": "a", "y": "b"}, resamples=3, seed=0).correlation([]) is None


def test_distinct_counts_what_the_system_said() -> None:
    def log(*said: str) -> ConversationLog:
        turns = [(Speaker.USER, "one two three four"), *((Speaker.SYSTEM, text) for text in said)]
        return ConversationLog(
            system="s",
            scenario=Scenario(corpus="c", record="r"),
            interaction=tuple(Turn(speaker=who, text=text) for who, text in turns),
            ending=Ending.RECORDED,
        )

    # a b c, b c d, and A B C again: two distinct in three turns
    assert distinct([log("a b c d"), log("A B C"), log("a")], 3) == pytest.approx(2 / 3)
    assert distinct([], 3) == 0
