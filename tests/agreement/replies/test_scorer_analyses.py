"""The analyses of scorers of replies, as a user runs them."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from recjury.corpora.dialogues import read_robustness_pairs
from tests.cli.front_door import Ended, recjury

Analyse = Callable[..., Ended]

SCORERS = "scorers=[length, distinct-1]"


@pytest.fixture
def analyse(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], data_folder: Path
) -> Analyse:
    def run(name: str, *settings: str, more: Sequence[object] = ()) -> Ended:
        given = [part for each in settings for part in ("--set", each)]
        named = ("analyse", f"replies.{name}", *given, "--data", data_folder)
        return recjury(monkeypatch, capsys, *named, *more)

    return run


def _tables(ended: Ended) -> dict[str, list[dict[str, Any]]]:
    assert ended.code == 0, ended.err
    tables: dict[str, list[dict[str, Any]]] = json.loads(ended.out)["tables"]
    return tables


def test_two_sets_as_json(analyse: Analyse) -> None:
    sets = "sets=[fed-turn, fed-dialogue]"
    tables = _tables(analyse("correlations", SCORERS, sets, "resamples=10", more=["--json"]))
    assert list(tables) == ["fed-turn", "fed-dialogue", "seconds"]
    cell = next(row for row in tables["fed-turn"] if row["scorer"] == "length")
    assert (cell["subset"], cell["n"]) == ("all rows", 375)
    r, rho = cell["pearson"], cell["spearman"]
    assert (round(r["value"], 4), round(rho["value"], 4)) == (-0.0222, 0.1253)
    assert rho["low"] < rho["value"] < rho["high"]
    assert {row["scorer"] for row in tables["seconds"]} == {"length", "distinct-1"}


def test_tables_and_plots(analyse: Analyse, tmp_path: Path) -> None:
    folder = tmp_path / "plots"
    settings = (SCORERS, "sets=convai2-usr", "resamples=10", "scatter=true")
    ended = analyse("correlations", *settings, more=["--out", folder])
    assert ended.code == 0, ended.err
    assert "model outputs" in ended.out
    assert "Maintains Context" in ended.out
    assert {path.name for path in folder.glob("*.svg")} == {
        f"convai2-usr-{name}.svg"
        for name in ("length", "distinct-1", "system-mean", "system-mean-of-others")
    }


@pytest.mark.parametrize(
    ("name", "setting", "said"),
    [
        ("correlations", "sets=fed", "unknown set 'fed': expected one of dailydialog-grade, "),
        ("correlations", "scorers=bleu", "unknown scorer 'bleu': expected one of constant, "),
        ("correlations", "scorers=full", "full needs a causal language model"),
        ("robustness", "pairs=nowhere", "nowhere/robustness-pairs.jsonl: cannot be read"),
    ],
)
def test_what_is_wrong_is_one_line(analyse: Analyse, name: str, setting: str, said: str) -> None:
    ended = analyse(name, setting)
    assert ended.code == 2
    assert said in ended.err
    assert len(ended.err.strip().splitlines()) == 1


def test_pairs_that_do_not_differ_are_refused(analyse: Analyse, tmp_path: Path) -> None:
    row = {"id": "1", "attack": "pronoun", "history": [], "original": "a", "perturbed": "a"}
    (tmp_path / "robustness-pairs.jsonl").write_text(json.dumps(row), "utf-8")
    ended = analyse("robustness", SCORERS, f"pairs={tmp_path}")
    assert ended.code == 2
    assert "there is no pair of two different replies" in ended.err


def test_pairs_of_recorded_conversations(
    analyse: Analyse, data_folder: Path, tmp_path: Path
) -> None:
    arena = data_folder / "crsarena-eval" / "crs_arena_eval.json"
    out = tmp_path / "robustness-pairs.jsonl"
    making = ("worse_texts", f"files=[{arena}]", "limit=30")
    counts = {
        row["kind"]: row["pairs"]
        for row in _tables(analyse(*making, more=["--json", "--out", out]))["pairs"]
    }
    assert len(counts) == 10
    assert all(counts.values())
    assert len(list(read_robustness_pairs(tmp_path))) == sum(counts.values())
    written = out.read_bytes()
    analyse(*making, more=["--out", out])
    assert out.read_bytes() == written
    few = _tables(
        analyse("robustness", SCORERS, f"pairs={tmp_path}", "pairs_each=2", more=["--json"])
    )
    shorter = [row for row in few["robustness"] if row["scorer"] == "shorter is better"]
    assert {row["attack"]: row["n"] for row in shorter} == {
        **dict.fromkeys(counts, 2),
        "mean over attacks": None,
    }
    wrong = analyse(*making, "kinds=dull")
    assert wrong.code == 2
    assert "unknown kind 'dull'" in wrong.err
