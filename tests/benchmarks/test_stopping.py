"""The benchmark of stopping early, on a few replays."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.stopping import main, of_scores, planted, replay


def test_what_is_far_apart_is_decided_rightly_and_early() -> None:
    found = replay(planted({"a": 3.5, "b": 2.0, "c": 0.5}), 5)
    assert (found["wrong"], found["decided"], found["undecided"]) == (0, 3, 0)
    assert found["saved"] > 0.5
    assert found["conversations"] > 0.5


def test_equal_systems_are_played_to_the_end() -> None:
    scores = {name: np.full(40, 2.0) for name in "ab"}
    outcomes = of_scores("known", scores, high=4)
    assert list(outcomes) == ["known", "known, drawn", "known, equal"]
    for each in outcomes.values():
        found = replay(each, 5)
        assert found["conversations"] == 0
        assert found["decided"] == 0
    assert replay(outcomes["known"], 2)["places"] == 40


def test_the_labels_are_replayed(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not (data_folder / "crsarena-eval").is_dir():
        pytest.skip("needs CRSArena-Eval")
    arguments = ["stopping", "--data", str(data_folder), "--replays", "1"]
    monkeypatch.setattr("sys.argv", arguments)
    main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" places")[0] for line in lines[-3:]] == [
        "opendialkg",
        "opendialkg, drawn",
        "opendialkg, equal",
    ]
