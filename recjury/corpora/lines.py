"""Strict reading of JSON and JSON lines, plain or gzipped; errors name the file and the line."""

import gzip
import math
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar, cast

import orjson
from pydantic import BaseModel, TypeAdapter, ValidationError

from recjury.errors import DataError
from recjury.mistakes import first_mistake

MAX_LINE = 64 * 2**20
_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_START = 2**16
# An escaped NUL, but not a backslash (itself escaped) followed by "u0000".
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
# Strings, so that their content is skipped, and numbers, including those that JSON does not have.
# A string without an end is matched to the end of the file: searching again from each of its
# quotes would take quadratic time.
_TEXT_OR_NUMBER = re.compile(
    rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|-?(?:NaN|Infinity|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)', re.DOTALL
)

_READ_ERRORS = (OSError, EOFError, zlib.error)

Row = TypeVar("Row", bound=BaseModel)
Content = TypeVar("Content")


class NumberedLine(NamedTuple):
    """A line's number, from 1, and its bytes."""

    number: int
    content: bytes


def read_rows(path: Path, model: type[Row]) -> Iterator[tuple[int, Row]]:
    """Each line of a JSON-lines file as a `model`, with its number; blank lines are skipped.

    Only one line is in memory at a time. Raises DataError, with file and line, if the file does
    not exist or cannot be read, or if a line is not JSON (NaN is not JSON) or does not fit the
    model.
    """
    adapter = TypeAdapter(model)
    for number, content in read_lines(path):
        try:
            yield number, adapter.validate_python(_parsed(content))
        except orjson.JSONDecodeError as error:
            raise DataError(f"not JSON: {error}", path=path, line=number) from None
        except ValidationError as error:
            raise DataError(first_mistake(error), path=path, line=number) from None


def read_lines(path: Path) -> Iterator[NumberedLine]:
    """The lines of a file that are not blank; gzipped files are decompressed."""
    number = 0
    try:
        with _open(path) as file:
            while content := file.readline(MAX_LINE + 1):
                number += 1
                if len(content) > MAX_LINE:
                    raise DataError(
                        f"a line of more than {MAX_LINE // 2**20} MB", path=path, line=number
                    )
                content = content.removeprefix(_BOM) if number == 1 else content
                if content.strip():
                    yield NumberedLine(number, content)
    except _READ_ERRORS as error:
        raise _read_error(error, path, number + 1) from None


def read_start(path: Path) -> bytes:
    """The first 64 kB of a file, without leading white space; empty for a blank file."""
    try:
        with _open(path) as file:
            start = file.read(_START).removeprefix(_BOM).lstrip()
            while not start and (more := file.read(_START)):
                start = more.lstrip()
            return start
    except _READ_ERRORS as error:
        raise _read_error(error, path) from None


def readable_name(path: Path) -> str:
    """The file's name as valid Unicode; invalid bytes are replaced."""
    return path.name.encode(errors="replace").decode()


def readable_stem(path: Path) -> str:
    """The file's name up to its first dot."""
    name = readable_name(path)
    return name.split(".")[0] or name


def read_json_file(path: Path, form: TypeAdapter[Content]) -> Content:
    """A whole JSON file as `form`. Raises DataError, with the file, if it does not fit."""
    return _formed(path, _whole(path), form)


def read_json_file_with_nan(path: Path, form: TypeAdapter[Content]) -> Content:
    """As `read_json_file`, but a file with NaN, Infinity or a number that is too large is accepted.

    JSON has no such numbers. Each is replaced by a string with its file and line. A form that
    expects a number there rejects the string.
    """

    content = _whole(path)
    line, counted = 1, 0

    def told(found: re.Match[bytes]) -> bytes:
        nonlocal line, counted
        token = found[0]
        if token.startswith(b'"') or math.isfinite(float(token)):
            return token
        # Count on from the last match: a file may have a match on every line.
        line, counted = line + content.count(b"\n", counted, found.start()), found.start()
        return orjson.dumps(f"{token.decode()} ({path}:{line})")

    return _formed(path, _TEXT_OR_NUMBER.sub(told, content), form)


def _whole(path: Path) -> bytes:
    try:
        with _open(path) as file:
            return file.read().removeprefix(_BOM)
    except _READ_ERRORS as error:
        raise _read_error(error, path) from None


def _formed(path: Path, content: bytes, form: TypeAdapter[Content]) -> Content:
    try:
        return form.validate_python(_parsed(content))
    except orjson.JSONDecodeError as error:
        raise DataError(f"not JSON: {error}", path=path, line=error.lineno) from None
    except ValidationError as error:
        raise DataError(first_mistake(error), path=path) from None


def _parsed(content: bytes) -> object:
    """The parsed JSON. NUL in a string is rejected, because not every store can keep it."""
    value: object = orjson.loads(content)
    if b"\\u0000" in content and (found := _NUL.search(content)):
        raise orjson.JSONDecodeError(
            "a text holds the character NUL", content.decode(), len(content[: found.end()].decode())
        )
    return value


def _open(path: Path) -> BinaryIO:
    with path.open("rb") as file:
        packed = path.suffix == ".gz" or file.read(len(_GZIP)) == _GZIP
    return cast("BinaryIO", gzip.open(path, "rb")) if packed else path.open("rb")


def _read_error(error: Exception, path: Path, line: int | None = None) -> DataError:
    if isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile):
        return DataError(f"cannot be read: {error.strerror or error}", path=path)
    return DataError(f"damaged gzip file: {error}", path=path, line=line)
