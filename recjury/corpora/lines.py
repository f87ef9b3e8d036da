"""Strict reading of JSON and JSON lines, plain or gzipped: what is wrong is named by its place."""

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

MAX_LINE = 64 * 2**20
_OWN_WORDS = {"missing": "is missing", "extra_forbidden": "is no known field"}
_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_START = 2**16
# A NUL that is written out, and not the five characters behind a backslash.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
# Texts, so that what stands in them is passed over; and numbers, those that JSON has not included.
# A text that never ends is taken whole: looking for one at each of its quotes would take the
# square of its length.
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

    One line is held at a time. Raises DataError with file and line for what is not there,
    cannot be read, is not JSON (NaN is not), or is not of the model's form.
    """
    adapter = TypeAdapter(model)
    for number, content in read_lines(path):
        try:
            yield number, adapter.validate_python(_parsed(content))
        except orjson.JSONDecodeError as error:
            raise DataError(f"not JSON: {error}", path=path, line=number) from None
        except ValidationError as error:
            raise DataError(what_is_wrong(error), path=path, line=number) from None


def read_lines(path: Path) -> Iterator[NumberedLine]:
    """The lines of a file that are not blank; `.gz` files are unpacked on the way."""
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
    """The first 64 kB of a file from what is not blank on; empty where all of it is."""
    try:
        with _open(path) as file:
            start = file.read(_START).removeprefix(_BOM).lstrip()
            while not start and (more := file.read(_START)):
                start = more.lstrip()
            return start
    except _READ_ERRORS as error:
        raise _read_error(error, path) from None


def readable_name(path: Path) -> str:
    """The file's name in Unicode, whatever its bytes are."""
    return path.name.encode(errors="replace").decode()


def readable_stem(path: Path) -> str:
    """The file's name up to its first dot."""
    name = readable_name(path)
    return name.split(".")[0] or name


def read_json_file(path: Path, form: TypeAdapter[Content]) -> Content:
    """A whole JSON file as `form`. Raises DataError with the file for what is not so."""
    return _formed(path, _whole(path), form)


def read_json_file_with_nan(path: Path, form: TypeAdapter[Content]) -> Content:
    """As `read_json_file`, but NaN, Infinity or a number too large does not refuse the file.

    JSON has no such numbers. Each is read as a text that names it with its file and line, which a
    form that wants a number there refuses.
    """

    content = _whole(path)
    line, counted = 1, 0

    def told(found: re.Match[bytes]) -> bytes:
        nonlocal line, counted
        token = found[0]
        if token.startswith(b'"') or math.isfinite(float(token)):
            return token
        # From where it was last counted to: a file may have one on every line.
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
        raise DataError(what_is_wrong(error), path=path) from None


def what_is_wrong(error: ValidationError) -> str:
    """The first thing that is wrong, in one line: the field, what was expected, what came."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    message = _OWN_WORDS.get(first["type"])
    if message is None:
        came = repr(first["input"])
        came = came if len(came) <= 60 else came[:57] + "..."
        message = f"{first['msg'].removeprefix('Value error, ')}, got {came}"
    return f"{place}: {message}" if place else message


def _parsed(content: bytes) -> object:
    """What JSON says; not every store can keep a NUL in a text."""
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
