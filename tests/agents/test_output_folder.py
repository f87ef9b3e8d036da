"""Where a checkpoint is written to: folders that are there already keep what is not replaced."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from recjury.agents.neural.description import METADATA
from recjury.agents.training.output_folder import check_place, whole_folder
from recjury.agents.training.systems import TrainingOptions, train
from recjury.cli.app import app
from recjury.corpora import Corpus, open_corpus
from recjury.errors import ConfigError, DataError
from recjury.tables import WorkProgress


def write(out: Path, said: str, *, conv: bool = True) -> None:
    with whole_folder(out) as folder:
        for part in ("rec_model", *(["conv_model"] if conv else [])):
            (folder / part).mkdir()
            (folder / part / "model.pt").write_text(said, "utf-8")
        (folder / METADATA).write_text(said, "utf-8")


def held(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text("utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("way", ["itself", "current", "link"])
def test_a_folder_that_is_there_is_filled_by_whatever_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    place = tmp_path / "disk"
    place.mkdir()
    monkeypatch.chdir(place)
    (tmp_path / "link").symlink_to(place)
    out = {"itself": place, "current": Path(), "link": tmp_path / "link"}[way]
    node = place.stat().st_ino
    for said in ("once", "again"):
        write(out, said)
        names = {"rec_model/model.pt", "conv_model/model.pt", METADATA}
        assert held(place) == dict.fromkeys(names, said)
    # It was filled, not replaced: it may be a disk that is mounted there.
    assert place.stat().st_ino == node
    assert (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk", "link"]


def test_what_lies_beside_a_checkpoint_stays_and_the_old_one_goes_altogether(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    write(out, "old")
    (out / "notes.md").write_text("mine", "utf-8")
    write(out, "new", conv=False)
    assert held(out) == {METADATA: "new", "rec_model/model.pt": "new", "notes.md": "mine"}


def test_what_a_killed_training_left_is_no_reason_to_refuse(tmp_path: Path) -> None:
    (tmp_path / ".out.123.partial").mkdir()
    check_place(tmp_path)
    write(tmp_path, "new")
    assert (tmp_path / METADATA).is_file()


def test_a_place_that_cannot_be_is_refused_before_anything_is_trained(
    few: Corpus, tmp_path: Path
) -> None:
    class TooLate(WorkProgress):
        def say(self, line: str) -> None:
            raise AssertionError(line)

    (tmp_path / "file").write_text("", "utf-8")
    for out in (tmp_path / "file" / "out", Path("/proc/nowhere/out")):
        with pytest.raises(ConfigError, match="cannot be written to: "):
            train(
                "kbrd",
                few,
                out,
                TrainingOptions(generator=False, epochs=1),
                progress=TooLate(),
            )


def test_half_precision_leaves_files_beside_the_checkpoint_alone(
    few: Corpus, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    write(out, "old")
    (out / "mine.pt").write_text("no checkpoint", "utf-8")
    train("kbrd", few, out, TrainingOptions(generator=False, epochs=1, half=True))
    assert (out / "mine.pt").read_text("utf-8") == "no checkpoint"


@pytest.mark.parametrize("seed", ["-1", "9223372036854775808"])
def test_a_seed_that_cannot_be_is_refused(tmp_path: Path, seed: str) -> None:
    out = tmp_path / "out"
    said = CliRunner().invoke(
        app,
        ["train", "kbrd", "--set", "dataset=sample", "--out", str(out), "--set", f"seed={seed}"],
    )
    assert isinstance(said.exception, ConfigError)
    assert "seed" in str(said.exception)
    assert not out.exists()


def test_seeds_reach_as_far_as_the_command_takes_them(few: Corpus, tmp_path: Path) -> None:
    report = train(
        "kbrd", few, tmp_path / "out", TrainingOptions(generator=False, epochs=1, seed=2**63 - 1)
    )
    assert report.seed == 2**63 - 1


def test_a_corpus_without_splits_to_stop_and_to_test_by_says_so(tmp_path: Path) -> None:
    own, out = tmp_path / "own", tmp_path / "out"
    own.mkdir()
    (own / "films.jsonl").write_text(
        "".join(
            json.dumps({"id": name, "title": name, "year": 1995}) + "\n" for name in ("Heat", "Ran")
        ),
        "utf-8",
    )
    turns = [
        {"role": "user", "text": "I liked Heat.", "films": ["Heat"]},
        {"role": "system", "text": "Try Ran.", "films": ["Ran"]},
    ]
    path = own / "dialogues.jsonl"
    path.write_text(json.dumps({"id": "d", "split": "train", "turns": turns}), "utf-8")
    command = [
        "train",
        "kbrd",
        "--set",
        f"dataset={own}",
        "--out",
        str(out),
        "--set",
        "generator=false",
    ]
    said = CliRunner().invoke(app, command)
    assert said.exit_code == 0, said.output
    assert "stopped on what it was trained on (there is nothing else to stop by)" in said.output
    assert "not evaluated: no test split" in said.output
    path.write_text(json.dumps({"id": "d", "split": "train", "turns": turns[:1]}), "utf-8")
    with pytest.raises(DataError, match="no system turn of a train or validation split names"):
        train("kbrd", open_corpus(str(own)), out)
