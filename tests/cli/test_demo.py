"""`recjury demo` runs what is installed, and says what is not."""

import json
from pathlib import Path

import pytest

from tests.cli.front_door import recjury


@pytest.fixture(autouse=True)
def _somewhere_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_it_compares_five_systems(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = recjury(monkeypatch, capsys, "demo", "--limit", 1, "--report", "demo.html", "--json")
    assert ended.code == 0, ended.err
    shown = json.loads(ended.out)
    assert set(shown["systems"]) == {"retrieval", "kbrd", "barcor", "unicrs", "popular"}
    assert shown["conversations"]["done"] == 5
    assert "left out" not in ended.err
    assert "popular" in Path("demo.html").read_text("utf-8")
    assert Path("recjury-demo.db").exists()


def test_without_the_neural_extra_it_says_in_one_line_what_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("recjury.plugins.extras.find_spec", lambda name: None)
    ended = recjury(
        monkeypatch, capsys, "demo", "--limit", 1, "--store", "sqlite:///small.db", "--json"
    )
    assert ended.code == 0, ended.err
    assert set(json.loads(ended.out)["systems"]) == {"retrieval", "popular"}
    told = [line for line in ended.err.splitlines() if "left out" in line]
    assert len(told) == 1
    assert "kbrd, barcor, unicrs" in told[0]
    assert "pip install 'recjury[neural]'" in told[0]
    assert Path("small.db").exists()
