"""The journal of an optimisation: a line for each finished step, so that a killed run goes on.

Calls are the store's to keep; the journal holds what was decided from them. A line is written
whole or not at all: a last line that a kill has torn is cut off when the journal is opened.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from recjury.errors import ConfigError, DataError
from recjury.records import JSON, digest

VERSION = 1


class Journal:
    """Finished steps by name, in order, durable once `keep` returns."""

    def __init__(self, path: Path, settings: Mapping[str, JSON]):
        """Open or begin the journal at `path` of a run with `settings`.

        Raises ConfigError where it is of a run with other settings, and DataError where it
        cannot be read.
        """
        self.path = path
        self.settings = settings
        self._steps: dict[str, Any] = {}
        head = {"version": VERSION, "settings": settings, "identity": digest(settings)}
        if path.exists() and self._read():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        self._append(head)

    def find(self, step: str) -> Any | None:
        """What was kept of `step`; None where it was not finished."""
        return self._steps.get(step)

    def keep(self, step: str, content: Mapping[str, Any]) -> Any:
        """Append a finished step, and give it back as it will be read: plain JSON."""
        line = {"step": step, **content}
        self._append(line)
        self._steps[step] = orjson.loads(orjson.dumps(line))
        return self._steps[step]

    @property
    def steps(self) -> Mapping[str, Any]:
        """All finished steps, in order."""
        return self._steps

    def _read(self) -> bool:
        """Take what is there; whether there was a whole head."""
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            os.truncate(self.path, len(whole))
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                row = orjson.loads(line)
                if number == 1:
                    self._check(row)
                else:
                    self._steps[row["step"]] = row
            except (orjson.JSONDecodeError, KeyError, TypeError) as error:
                raise DataError(f"is no journal: {error}", path=self.path, line=number) from None
        return bool(whole)

    def _check(self, head: Mapping[str, Any]) -> None:
        if head["version"] != VERSION:
            raise DataError(
                f"a journal of version {head['version']}: expected {VERSION}", path=self.path
            )
        if head["identity"] == digest(self.settings):
            return
        mine = orjson.loads(orjson.dumps(dict(self.settings)))
        keys = sorted(mine.keys() | head["settings"].keys())
        other = [key for key in keys if mine.get(key) != head["settings"].get(key)]
        raise ConfigError(
            f"{self.path}: begun with other settings ({', '.join(other)}): "
            "use those, or another folder"
        )

    def _append(self, line: Mapping[str, Any]) -> None:
        with self.path.open("ab") as file:
            file.write(orjson.dumps(line) + b"\n")
            file.flush()
            os.fsync(file.fileno())
