"""`recjury train paireval-lora` and `dialogue-quality-lora`, on a tiny model."""

import json
from pathlib import Path

import pytest

pytest.importorskip("peft")

from tests.cli.front_door import recjury
from tests.judges.paireval.sets import write_folder
from tests.tiny_llama import make_tiny_llama


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_llama(tmp_path_factory.mktemp("llama"), positions=700)


def _uss(folder: Path) -> Path:
    (folder / "uss").mkdir(parents=True)
    blocks = [
        f"USER\tFilm {number}?\t\t3,3\nSYSTEM\tYes.\t\t\nUSER\tBye {number}\t\t3,3\n"
        f"USER\tOVERALL\t\t{4 if number % 2 else 1},{5 if number % 2 else 2}\n"
        for number in range(20)
    ]
    (folder / "uss" / "CCPE.txt").write_text("\n".join(blocks), encoding="utf-8")
    return folder


def test_an_adapter_for_pairs_is_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], llama: Path
) -> None:
    data = write_folder(tmp_path / "sets", rows=4, dialogues=12)
    ended = recjury(
        monkeypatch,
        capsys,
        *("train", "paireval-lora", "--data", str(data), "--set", f"model={llama}"),
        *("--set", "pairs=8", "--set", "hard=0", "--set", "balanced=true"),
        *("--set", "test=false", "--out", str(tmp_path / "out"), "--json"),
    )
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)["report"]
    assert found["training"]["examples"] == 8
    assert "test" not in found or not found["test"]
    assert (tmp_path / "out" / "adapter_config.json").is_file()


def test_an_adapter_for_satisfaction_is_trained_and_tested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], llama: Path
) -> None:
    ended = recjury(
        monkeypatch,
        capsys,
        *("train", "dialogue-quality-lora", "--data", str(_uss(tmp_path / "data"))),
        *("--set", "subset=CCPE", "--set", "labels=binary", "--set", "level=both"),
        *("--set", f"model={llama}", "--out", str(tmp_path / "out"), "--json"),
    )
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)["report"]
    assert {"training", "test", "untuned", "test_turns", "untuned_turns"} <= set(found)
    assert found["test"]["n"] == 2
