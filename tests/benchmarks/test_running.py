"""What the user of a benchmark can fix is told in one line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.checkpoints import checkpoints_in
from benchmarks.crs_recall import main as recall
from benchmarks.crs_talking import main as talking
from benchmarks.running import run
from recjury.errors import ConfigError


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
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"no checkpoint folder named barcor, kbrd, unicrs in {tmp_path}"


def test_a_checkpoint_that_is_asked_for_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "kbrd").mkdir()
    assert checkpoints_in(tmp_path) == {"kbrd": tmp_path / "kbrd"}
    with pytest.raises(ConfigError, match="named barcor in"):
        checkpoints_in(tmp_path, ["kbrd", "barcor"])
