"""A place that cannot be written is named, and nothing is made to find that out."""

from pathlib import Path

import pytest

from recjury.corpora.writing import check_writable, write_file
from recjury.errors import DataError


def test_a_file_is_written_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "file"
    check_writable(path)
    assert list(tmp_path.iterdir()) == []
    write_file(path, [b"one ", b"two"])
    check_writable(path)
    assert path.read_bytes() == b"one two"


@pytest.mark.parametrize(
    ("place", "why"), [("folder", "it is a folder"), ("file/x/y", "FOLDER/file is not a folder")]
)
def test_a_place_that_cannot_be_written_is_told_before(
    tmp_path: Path, place: str, why: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(DataError) as caught:
        check_writable(tmp_path / place)
    assert str(caught.value).replace(str(tmp_path), "FOLDER") == (
        f"FOLDER/{place}: cannot be written: {why}"
    )
    with pytest.raises(DataError, match=r"cannot be written: (Is|Not) a directory"):
        write_file(tmp_path / place, [b"x"])


def test_what_shows_only_when_it_is_written_is_told_then() -> None:
    # Not even root can make a folder there.
    with pytest.raises(DataError, match=r"^/proc/none/x: cannot be written: No such file"):
        write_file(Path("/proc/none/x"), [b"x"])
