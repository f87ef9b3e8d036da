"""`recjury align`, as a shell sees it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.front_door import Ended, recjury
from tests.corpora.arena import dialogue, write

Command = Callable[..., Ended]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """`recjury` with these arguments."""
    return lambda *arguments: recjury(monkeypatch, capsys, *arguments)


def _labels(folder: Path) -> str:
    every = [dialogue(f"kbrd_redial_{n}", understanding=n % 3) for n in range(6)]
    return f"crsarena-eval:{write(folder / 'labels.json', every)}"


def _scores(folder: Path, *, metrics: tuple[str, ...]) -> Path:
    rows = [
        f"kbrd_redial_{n},{name},{n % 3 + k * n / 9}"
        for n in range(6)
        for k, name in enumerate(metrics)
    ]
    path = folder / "scores.csv"
    path.write_text("\n".join(["conversation,metric,score", *rows]) + "\n", "utf-8")
    return path


def test_one_metric_stands_under_its_aspect(command: Command, tmp_path: Path) -> None:
    scores = _scores(tmp_path, metrics=("understanding",))
    ended = command("align", scores, "--labels", _labels(tmp_path), "--json", "--resamples", "100")
    assert ended.code == 0
    found = json.loads(ended.out)
    assert list(found) == ["redial"]
    own = found["redial"]["understanding"]
    assert set(own["pearson"]) == {"value", "low", "high"}
    assert own["pearson"]["value"] == pytest.approx(1)
    assert own["n"] == 6
    assert own["coverage"] == 1
    assert set(own["predictors"]) == {"length", "system_mean", "constant"}
    assert own["predictors"]["constant"]["spearman"]["value"] is None
    assert own["ceiling"] is None


def test_several_metrics_stand_side_by_side(command: Command, tmp_path: Path) -> None:
    scores = _scores(tmp_path, metrics=("a.understanding", "b.understanding"))
    labels = _labels(tmp_path)
    own = json.loads(command("align", scores, "--labels", labels, "--json").out)
    aspect = own["redial"]["understanding"]
    assert set(aspect) == {"a.understanding", "b.understanding", "predictors", "ceiling"}
    shown = command("align", scores, "--labels", labels, "--resamples", "100")
    assert shown.code == 0
    assert "b.understanding" in shown.out
    assert "constant" not in shown.out


def test_what_cannot_be_compared_is_one_line(command: Command, tmp_path: Path) -> None:
    scores = _scores(tmp_path, metrics=("core.overall",))
    missing = command("align", scores)
    assert (missing.code, missing.err.count("\n")) == (2, 1)
    assert "--labels is missing" in missing.err
    unpaired = command("align", scores, "--labels", _labels(tmp_path))
    assert unpaired.code == 2
    assert "pair them by --pair METRIC=ASPECT" in unpaired.err
    both = command("align", scores, "--labels", _labels(tmp_path), "--campaign", "x")
    assert "leave out RUNFILE" in both.err


def test_what_has_no_partner_is_listed_and_counted(command: Command, tmp_path: Path) -> None:
    scores = tmp_path / "scores.csv"
    rows = [f"c{number},quality,{number}" for number in range(2, 12)]
    scores.write_text("\n".join(["conversation,metric,score", *rows]) + "\n", "utf-8")
    labels = tmp_path / "labels.csv"
    given = [f"c{number},{aspect},1" for number in range(4) for aspect in ("quality", "other")]
    labels.write_text("\n".join(["conversation,aspect,label", *given]) + "\n", "utf-8")
    ended = command("align", scores, "--labels", f"csv:{labels}", "--json", "--resamples", "100")
    assert ended.code == 0, ended.err
    assert ended.err.splitlines() == [
        "8 scored conversations have no label: c10, c11, c4, c5, c6 and 3 more",
        "2 labelled conversations have no score: c0, c1",
        "aspects that no metric is compared with: other",
        "all, quality: all labels are 1, so nothing correlates",
    ]
    own = json.loads(ended.out)["all"]["quality"]
    assert own["pearson"]["value"] is None
    assert (own["n"], own["coverage"]) == (2, 0.5)
