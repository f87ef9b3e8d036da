"""The journal of an optimisation: one line for each finished step, so that a killed run continues.

The store has the calls; the journal has the decisions made from them. If a kill leaves the last
line incomplete, that line is removed when the journal is opened.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from recjury.corpora.writing import write_file
from recjury.errors import ConfigError, DataError
from recjury.input_files import MAX_LINE, open_regular, read_bytes
from recjury.records import JSON, digest

VERSION = 1


class Journal:
    """Finished steps by name, in order; a step is durable when `keep` returns."""

    def __init__(self, path: Path, settings: Mapping[str, JSON]):
        """Open or begin the journal at `path` of a run with `settings`.

        Raises ConfigError if it belongs to a run with other settings, and DataError if it cannot be
        read or written.
        """
        self.path = path
        self.settings = settings
        self._steps: dict[str, Any] = {}
        head = {"version": VERSION, "settings": settings, "identity": digest(settings)}
        if path.exists() and self._read():
            return
        write_file(path, [])
        self._append(head)

    def find(self, step: str) -> Any | None:
        """The stored result of `step`; None if the step was not finished."""
        return self._steps.get(step)

    def keep(self, step: str, content: Mapping[str, Any]) -> Any:
        """Append a finished step, and return it as it will be read: plain JSON."""
        line = {"step": step, **content}
        self._append(line)
        self._steps[step] = orjson.loads(orjson.dumps(line))
        return self._steps[step]

    @property
    def steps(self) -> Mapping[str, Any]:
        """All finished steps, in order."""
        return self._steps

    def _read(self) -> bool:
        """Read the existing lines; return whether the first line was complete."""
        content = read_bytes(self.path)
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            with _opened(self.path):
                os.truncate(self.path, len(whole))
        for number, line in enumerate(whole.splitlines(), start=1):
            with _told(self.path, number):
                row = orjson.loads(line)
                if number == 1:
                    _check(self.path, row, self.settings, {*row["settings"], *self.settings})
                else:
                    self._steps[row["step"]] = row
        return bool(whole)

    def _append(self, line: Mapping[str, Any]) -> None:
        with _opened(self.path), self.path.open("ab") as file:
            file.write(orjson.dumps(line) + b"\n")
            file.flush()
            os.fsync(file.fileno())


def check_journal(path: Path, settings: Mapping[str, JSON]) -> None:
    """Raise ConfigError if the journal was begun with other settings; raises as `Journal`.

    `settings` may be a part of them; nothing is written, and a missing file is accepted. Raises
    DataError if the file cannot be read.
    """
    if not path.exists():
        return
    with _opened(path), open_regular(path) as file:
        head = file.readline(MAX_LINE)
    if head.endswith(b"\n"):
        with _told(path, 1):
            _check(path, orjson.loads(head), settings, settings)


def _check(
    path: Path, head: Mapping[str, Any], settings: Mapping[str, JSON], keys: Iterable[str]
) -> None:
    """Compare the first line of a journal with `settings`, as far as `keys` go."""
    if head["version"] != VERSION:
        raise DataError(f"a journal of version {head['version']}: expected {VERSION}", path=path)
    mine, begun = orjson.loads(orjson.dumps(dict(settings))), head["settings"]
    other = [key for key in sorted(keys) if mine.get(key) != begun.get(key)]
    if other:
        raise ConfigError(
            f"{path}: begun with other settings ({', '.join(other)}): use those, or another folder"
        )


@contextmanager
def _opened(path: Path) -> Iterator[None]:
    """Raise DataError with the path for a file that cannot be read or written."""
    try:
        yield
    except OSError as error:
        why = error.strerror or error
        raise DataError(f"cannot be read or written: {why}", path=path) from None


@contextmanager
def _told(path: Path, line: int) -> Iterator[None]:
    """Raise DataError with the path for a line that has another format."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"is not a journal: {error}", path=path, line=line) from None
