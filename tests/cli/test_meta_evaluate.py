"""`recjury meta-evaluate` and `recjury manipulate`, as a user runs them."""

import json
from pathlib import Path

import pytest

from recjury.corpora.dialogues import read_robustness_pairs
from tests.cli.front_door import recjury

SCRIPTED = (*("--scorer", "length"), *("--scorer", "distinct-1"), *("--resamples", 10))


def test_two_sets_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], data_folder: Path
) -> None:
    ended = recjury(
        *(monkeypatch, capsys, "meta-evaluate", "--data", data_folder, *SCRIPTED),
        *("--set", "fed-turn", "--set", "fed-dialogue", "--json"),
    )
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert list(found["sets"]) == ["fed-turn", "fed-dialogue"]
    cell = found["sets"]["fed-turn"]["all rows"]["scorers"]["length"]
    assert (cell["n"], cell["r"], cell["rho"]) == (375, -0.0222, 0.1253)
    assert cell["rho_interval"][0] < cell["rho"] < cell["rho_interval"][1]
    assert found["averages"] == {}
    assert found["maintains_context"] is None
    assert found["robustness"]["scorers"]["shorter is better"]["attacks"]["speaker"]["n"] == 920
    assert set(found["seconds"]) == {"length", "distinct-1"}


def test_tables_and_plots(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    data_folder: Path,
    tmp_path: Path,
) -> None:
    folder = tmp_path / "plots"
    ended = recjury(
        *(monkeypatch, capsys, "meta-evaluate", "--data", data_folder, *SCRIPTED),
        *("--set", "convai2-usr", "--no-robustness", "--scatter", folder),
    )
    assert ended.code == 0, ended.err
    assert "model outputs (n = 180)" in ended.out
    assert "Maintains Context, convai2-usr" in ended.out
    assert "original preferred" not in ended.out
    assert {path.name for path in folder.iterdir()} == {
        f"convai2-usr-{name}.svg"
        for name in ("length", "distinct-1", "system-mean", "system-mean-of-others")
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--set", "fed"), "unknown set 'fed': expected one of dailydialog-grade, "),
        (("--scorer", "bleu"), "unknown scorer 'bleu': expected one of constant, "),
        (("--scorer", "full"), "full needs a causal language model"),
        (("--scorer", "learned", "--replies", "nowhere"), "nowhere"),
        (("--scatter", __file__), "test_meta_evaluate.py is not a folder"),
        (("--pairs", "nowhere"), "nowhere/robustness-pairs.jsonl: cannot be read"),
    ],
)
def test_what_is_wrong_is_one_line(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    data_folder: Path,
    arguments: tuple[str, ...],
    said: str,
) -> None:
    ended = recjury(monkeypatch, capsys, "meta-evaluate", "--data", data_folder, *arguments)
    assert ended.code == 2
    assert said in ended.err
    assert len(ended.err.strip().splitlines()) == 1


def test_pairs_that_do_not_differ_are_refused(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    data_folder: Path,
    tmp_path: Path,
) -> None:
    row = {"id": "1", "attack": "pronoun", "history": [], "original": "a", "perturbed": "a"}
    (tmp_path / "robustness-pairs.jsonl").write_text(json.dumps(row), "utf-8")
    ended = recjury(
        *(monkeypatch, capsys, "meta-evaluate", "--data", data_folder, *SCRIPTED),
        *("--set", "fed-turn", "--pairs", tmp_path),
    )
    assert ended.code == 2
    assert "there is no pair of two different replies" in ended.err


def test_pairs_of_recorded_conversations(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    data_folder: Path,
    tmp_path: Path,
) -> None:
    arena = data_folder / "crsarena-eval" / "crs_arena_eval.json"
    command = (monkeypatch, capsys, "manipulate", arena, "--out", tmp_path, "--limit", 30)
    ended = recjury(*command, "--json")
    assert ended.code == 0, ended.err
    counts = json.loads(ended.out)
    assert len(counts) == 10
    assert all(counts.values())
    assert len(list(read_robustness_pairs(tmp_path))) == sum(counts.values())
    written = (tmp_path / "robustness-pairs.jsonl").read_bytes()
    recjury(*command, "--json")
    assert (tmp_path / "robustness-pairs.jsonl").read_bytes() == written
    used = recjury(
        *(monkeypatch, capsys, "meta-evaluate", "--data", data_folder, *SCRIPTED),
        *("--set", "convai2-usr", "--pairs", tmp_path),
    )
    assert used.code == 0, used.err
    assert "vocabulary_diversity" in used.out
    few = recjury(
        *(monkeypatch, capsys, "meta-evaluate", "--data", data_folder, *SCRIPTED),
        *("--set", "convai2-usr", "--pairs", tmp_path, "--pairs-each", 2, "--json"),
    )
    attacks = json.loads(few.out)["robustness"]["scorers"]["shorter is better"]["attacks"]
    assert {name: each["n"] for name, each in attacks.items()} == dict.fromkeys(counts, 2)
    wrong = recjury(*command, "--attack", "dull")
    assert wrong.code == 2
    assert "unknown kind 'dull'" in wrong.err
