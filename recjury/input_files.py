"""All files that come from outside are opened here: JSON, JSON lines and text, plain or gzipped.

Only regular files are read, within the limits below. Errors name the file and the line.
"""

import contextlib
import gzip
import hashlib
import math
import os
import re
import stat
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

import orjson
from pydantic import BaseModel, TypeAdapter, ValidationError

from recjury.errors import DataError
from recjury.mistakes import first_mistake

MAX_LINE = 64 * 2**20
"""Bytes of a line."""
MAX_FILE = 256 * 2**20
"""Bytes, unpacked, of a file that is read at once."""
MAX_UNPACKED = 4 * 2**30
"""Bytes of the lines of a gzipped file. Of a plain file, the disk shows how large it is."""
MAX_BLANK = 100_000
"""Blank lines one after the other."""

_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_START = 2**16
_LONGEST_SPACE = 2**20
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
_OBJECT = TypeAdapter(dict[str, Any])


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
    number, last, unpacked = 0, 0, 0
    try:
        with _open(path) as file:
            most = MAX_UNPACKED if isinstance(file, gzip.GzipFile) else math.inf
            while content := file.readline(MAX_LINE + 1):
                number += 1
                unpacked += len(content)
                if len(content) > MAX_LINE:
                    raise _too_much("a line of", MAX_LINE, path, number)
                if unpacked > most:
                    raise _too_much("unpacked", MAX_UNPACKED, path, number)
                content = content.removeprefix(_BOM) if number == 1 else content
                if content.strip():
                    last = number
                    yield NumberedLine(number, content)
                elif number - last > MAX_BLANK:
                    reason = f"more than {MAX_BLANK:,} blank lines one after the other"
                    raise DataError(reason, path=path, line=number)
    except _READ_ERRORS as error:
        raise _read_error(error, path, number + 1) from None


def read_start(path: Path) -> bytes:
    """The first 64 kB of a file, without leading white space; empty for a blank file."""
    try:
        with _open(path) as file:
            content = file.read(_LONGEST_SPACE)
    except _READ_ERRORS as error:
        raise _read_error(error, path) from None
    start = content.removeprefix(_BOM).lstrip()[:_START]
    if len(content) == _LONGEST_SPACE and not start:
        raise DataError("begins with 1 MB of white space", path=path)
    return start


def read_bytes(path: Path, most: int = MAX_FILE) -> bytes:
    """A whole file, unpacked, without a byte-order mark; DataError for more than `most` bytes."""
    try:
        with _open(path) as file:
            content = file.read(most + 1)
    except _READ_ERRORS as error:
        raise _read_error(error, path) from None
    if len(content) > most:
        raise _too_much("holds", most, path)
    return content.removeprefix(_BOM)


def read_text(path: Path, most: int = MAX_FILE) -> str:
    """As `read_bytes`, as UTF-8 text."""
    try:
        return read_bytes(path, most).decode()
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 text (byte {error.start})", path=path) from None


def readable_name(path: Path) -> str:
    """The file's name as valid Unicode; invalid bytes are replaced."""
    return path.name.encode(errors="replace").decode()


def readable_stem(path: Path) -> str:
    """The file's name up to its first dot."""
    name = readable_name(path)
    return name.split(".")[0] or name


def read_json_object(path: Path) -> dict[str, Any] | None:
    """The object in a JSON file; None if the file is missing. Raises DataError for anything
    else."""
    return read_json_file(path, _OBJECT) if path.exists() else None


def read_record(path: Path, form: type[Row], what: str) -> Row:
    """A model from a file that recjury wrote. Raises DataError: it "is not `what`"."""
    content = read_bytes(path)
    try:
        orjson.loads(content)  # stricter than pydantic about numbers and depth
        return form.model_validate_json(content)
    except orjson.JSONDecodeError as error:
        reason = f"not JSON: {error}"
    except ValidationError as error:
        reason = first_mistake(error)
    raise DataError(f"is not {what}, or was altered: {reason}", path=path)


def read_json_file(path: Path, form: TypeAdapter[Content]) -> Content:
    """A whole JSON file as `form`. Raises DataError, with the file, if it does not fit."""
    return _formed(path, read_bytes(path), form)


def read_json_file_with_nan(path: Path, form: TypeAdapter[Content]) -> Content:
    """As `read_json_file`, but a file with NaN, Infinity or a number that is too large is accepted.

    JSON has no such numbers. Each is replaced by a string with its file and line. A form that
    expects a number there rejects the string.
    """

    content = read_bytes(path)
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


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, as hex digits. Raises DataError if it cannot be read."""
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _read_error(error, path) from None


def open_regular(path: Path) -> BufferedReader:
    """Open a file for reading. Raises OSError, and DataError for a pipe or a device."""
    if "\0" in str(path):
        raise DataError("a file's name cannot hold the character NUL", path=path)
    # Otherwise, opening a pipe would wait for its writer.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise DataError("cannot be read: it is not a regular file", path=path)
    return file


@contextlib.contextmanager
def _open(path: Path) -> Iterator[BinaryIO | gzip.GzipFile]:
    with open_regular(path) as file:
        is_packed = path.suffix == ".gz" or file.peek(len(_GZIP))[: len(_GZIP)] == _GZIP
        yield gzip.GzipFile(fileobj=file) if is_packed else file


def _too_much(what: str, most: int, path: Path, line: int | None = None) -> DataError:
    return DataError(f"{what} more than {most // 2**20} MB", path=path, line=line)


def _read_error(error: Exception, path: Path, line: int | None = None) -> DataError:
    if isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile):
        return DataError(f"cannot be read: {error.strerror or error}", path=path)
    return DataError(f"damaged gzip file: {error}", path=path, line=line)
