"""What is wrong with a file is said in one line, with its place."""

import gzip
import json
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict, StrictFloat, TypeAdapter

from recjury import input_files
from recjury.errors import DataError
from recjury.input_files import read_json_file, read_json_file_with_nan, read_rows
from tests.growth import grows_linearly


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)

    name: str
    count: int


def _read(path: Path) -> list[tuple[int, _Row]]:
    return list(read_rows(path, _Row))


def _fault(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        _read(path)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < len(str(path)) + 250
    return message.replace(str(path), "FILE")


def _file(tmp_path: Path, *content: bytes) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n".join(content))
    return path


GOOD = b'{"name": "a", "count": 1}'


def test_rows_come_with_their_line_numbers_and_blank_lines_are_skipped(tmp_path: Path) -> None:
    path = _file(tmp_path, b"\xef\xbb\xbf" + GOOD, b"", b"  ", GOOD, b"")
    assert _read(path) == [(1, _Row(name="a", count=1)), (4, _Row(name="a", count=1))]


def test_gzipped_files_read_the_same(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(GOOD + b"\n" + GOOD))
    assert [number for number, _ in _read(path)] == [1, 2]


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (b'{"name": "a", "cou', "not JSON"),
        (b'{"name": "a", "count": NaN}', "not JSON"),
        (b'{"name": "\xff", "count": 1}', "not JSON"),
        (b'{"name": "\\ud800", "count": 1}', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"name": "a", "count": "1"}', "count: input should be a valid integer, got '1'"),
        (b'{"name": "a", "count": true}', "count: input should be a valid integer, got True"),
        (b'{"name": "a", "count": 1.0}', "count: input should be a valid integer, got 1.0"),
        (b'{"name": "a"}', "count: is missing"),
        (b'{"name": ["' + b"x" * 9999 + b'"], "count": 1}', "name: input should be a valid string"),
        (b"[1]", "expected an object"),
        (b"null", "expected an object"),
    ],
)
def test_a_bad_line_is_named_by_file_and_line(tmp_path: Path, bad: bytes, told: str) -> None:
    fault = _fault(_file(tmp_path, GOOD, bad, GOOD))
    assert fault.startswith("FILE:2: ")
    assert told in fault


def test_a_line_too_long_is_refused_before_it_is_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_files, "MAX_LINE", 2**20)
    path = _file(tmp_path, GOOD, b'"' + b"x" * 2**21)
    assert _fault(path) == "FILE:2: a line of more than 1 MB"


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    assert _fault(tmp_path / "none.jsonl").endswith("cannot be read: No such file or directory")
    assert "cannot be read" in _fault(tmp_path)


@pytest.mark.parametrize("keep", [slice(0, 40), slice(5, None)])
def test_damaged_gzip_files_are_named(tmp_path: Path, keep: slice) -> None:
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(GOOD * 50)[keep])
    assert "damaged gzip file" in _fault(path)


def test_a_corrupt_json_file_is_named_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "numbers.json"
    form = TypeAdapter(dict[str, int])
    for before in ("", "ü" * 50):
        path.write_text(f'{{"a{before}": 1,\n "b": oops}}', "utf-8")
        with pytest.raises(DataError, match=r"numbers\.json:2: not JSON"):
            read_json_file(path, form)
    path.write_text('{"a": "one"}')
    with pytest.raises(DataError, match=r"numbers\.json: a: input should be a valid integer"):
        read_json_file(path, form)
    with pytest.raises(DataError, match="cannot be read"):
        read_json_file(tmp_path / "none.json", form)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1E+400", "9" * 400])
def test_a_number_that_json_has_not_is_told_with_its_line_and_refuses_nothing_else(
    tmp_path: Path, number: str
) -> None:
    path = tmp_path / "numbers.json"
    said = 'NaN "Infinity" \\'
    path.write_text(f'{{"a": 1.5e3,\n "b": {json.dumps(said)}, "c": [\n-2, {number}]}}')
    assert read_json_file_with_nan(path, TypeAdapter(dict[str, object])) == {
        "a": 1500.0,
        "b": said,
        "c": [-2, f"{number} ({path}:3)"],
    }
    path.write_text(f'{{"a": {number}}}')
    with pytest.raises(DataError, match=r"numbers\.json: a: input should be a valid number"):
        read_json_file_with_nan(path, TypeAdapter(dict[str, StrictFloat]))


@pytest.mark.parametrize("bad", ["nan", "--1", "NaNs", '"open', "1.2.3", "Infinity Infinity"])
def test_whatever_else_is_no_json_still_refuses_the_file(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "numbers.json"
    path.write_text(f'{{"a": NaN,\n "b": {bad}}}')
    with pytest.raises(DataError, match=r"numbers\.json:2: not JSON"):
        read_json_file_with_nan(path, TypeAdapter(dict[str, object]))


def test_a_nan_on_every_line_takes_linear_time(tmp_path: Path) -> None:
    path, row = tmp_path / "numbers.json", b'"' + b"x" * 200 + b'", NaN'

    def read(times: int) -> list[str]:
        path.write_bytes(b"[" + b",\n".join([row] * 2_000 * times) + b"]")
        return read_json_file_with_nan(path, TypeAdapter(list[str]))

    assert grows_linearly(read)
    assert read(2)[-1] == f"NaN ({path}:4000)"


@pytest.mark.parametrize("end", [b"", b"\\"])
def test_a_text_that_never_ends_takes_linear_time(tmp_path: Path, end: bytes) -> None:
    path = tmp_path / "numbers.json"

    def read(times: int) -> None:
        path.write_bytes(b'["' + b'\\"' * 5_000 * times + end)
        with pytest.raises(DataError, match=r"numbers\.json:1: not JSON"):
            read_json_file_with_nan(path, TypeAdapter(list[str]))

    assert grows_linearly(read)
