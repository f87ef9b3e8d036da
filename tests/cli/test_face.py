"""`recjury face`, as a shell sees it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.front_door import Ended, recjury
from tests.corpora.arena import dialogue, scores, write, write_lines

Command = Callable[..., Ended]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """`recjury` with these arguments."""
    return lambda *arguments: recjury(monkeypatch, capsys, *arguments)


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Three dialogues, labelled 0, 1, 2 on understanding."""
    every = [dialogue(f"kbrd_redial_{n}", understanding=n) for n in range(3)]
    return write(tmp_path / "labels.json", every)


def _runs(folder: Path, *given: object) -> Path:
    rows = [scores(f"kbrd_redial_{n}", {1: [{"itr1": score}]}) for n, score in enumerate(given)]
    write_lines(folder / "understanding.jsonl", rows)
    return folder


def test_the_table_has_stable_keys(command: Command, labels: Path, tmp_path: Path) -> None:
    runs = _runs(tmp_path / "runs", 0, 0.4, 2)
    ended = command("face", "table", "--runs", runs, "--labels", labels, "--json")
    assert ended.code == 0
    table = json.loads(ended.out)
    assert list(table) == ["redial", "opendialkg"]
    assert table["redial"]["understanding"] == {
        "pearson": pytest.approx(0.944911182523068),
        "spearman": pytest.approx(1),
        "n": 3,
    }
    assert table["opendialkg"]["understanding"] == {"pearson": None, "spearman": None, "n": 0}
    assert ended.err == ""


def test_problems_are_told_with_their_place(command: Command, labels: Path, tmp_path: Path) -> None:
    runs = _runs(tmp_path / "runs", *[7] * 3)
    file = tmp_path / "problems.txt"
    ended = command("face", "table", "--runs", runs, "--labels", labels, "--problems", file)
    assert ended.code == 0
    assert "out of range: 3\n" in ended.err
    assert "kbrd_redial_2, turn 1, understanding: particle 0, itr1: the score 7" in ended.err
    assert len(file.read_text().splitlines()) == 3


def test_what_cannot_be_used_is_one_line(command: Command, labels: Path, tmp_path: Path) -> None:
    ended = command("face", "table", "--runs", tmp_path / "none", "--labels", labels)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.count("\n") == 1
    assert "there is no such folder" in ended.err
