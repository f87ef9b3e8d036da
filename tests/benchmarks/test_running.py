"""What the user of a benchmark can fix is told in one line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.crs_recall import main as recall
from benchmarks.crs_talking import main as talking
from benchmarks.running import run


def test_a_missing_folder_of_data_is_one_line_and_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["crs_recall", "--data", str(tmp_path / "nowhere")])
    with pytest.raises(SystemExit) as ended:
        run(recall)
    (line,) = capsys.readouterr().err.splitlines()
    assert (ended.value.code, "nowhere" in line) == (2, True)


@pytest.mark.parametrize("main", [recall, talking])
def test_a_folder_without_checkpoints_is_said(
    main: Callable[[], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["benchmark", "--checkpoints", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        run(main)
    assert ended.value.code == 2
    assert f"{tmp_path} has no folder named barcor or kbrd or unicrs" in capsys.readouterr().err
