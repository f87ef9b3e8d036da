"""What commands print and write, without what changes from run to run.

Identities become `<id 1>`, `<id 2>` and so on, in the order in which they first occur; times, the
version, ports and folders become a word; numbers have nine digits.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.answers import without_code

# Digests of 12 digits and more, and the short ones in "core@1a2b".
_ID = re.compile(r"(?<![0-9a-zA-Z])[0-9a-f]{12,64}(?![0-9a-zA-Z])|(?<=[a-z]@)[0-9a-f]{4,}\b")
_PORT = re.compile(r"127\.0\.0\.1:\d+")
_TIMES = re.compile(
    r"(outcome\.)?seconds_per_turn|seconds|begun|latency|waited|started_at|p50|p90|p99|created_at"
)
_WIDTH = 110
_ZERO = 1e-12


class Normal:
    """One set of names for identities, for the outputs that belong together."""

    def __init__(self, folders: Mapping[str, str]):
        """`folders` are words for paths: {"/tmp/x": "<folder>"}."""
        self._folders = dict(folders)
        self._names: dict[str, str] = {}

    def text(self, value: str) -> str:
        """A text without ids, ports and paths."""
        for path, word in self._folders.items():
            value = value.replace(path, word)
        value = without_code(_PORT.sub("127.0.0.1:<port>", value))
        return _ID.sub(lambda found: self._name(found[0]), value)

    def _name(self, identity: str) -> str:
        return self._names.setdefault(identity, f"<id {len(self._names) + 1}>")

    def unnamed(self, value: str) -> str:
        """A text in which identities that have no name yet are all alike."""
        return _ID.sub(lambda found: self._names.get(found[0], "<id>"), value)

    def json(self, value: Any, key: str = "") -> Any:
        """A JSON value; what stands under a key that a clock decides is "<time>"."""
        if _TIMES.fullmatch(key) and value is not None:
            return "<time>"
        if key == "recjury":
            return "<version>"
        if isinstance(value, dict):
            return {self.text(name): self.json(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.json(inner) for inner in value]
        if isinstance(value, float):
            return rounded(value)
        return self.text(value) if isinstance(value, str) else value

    def rows(self, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Rows of a table, in an order that does not depend on their identities."""
        plain = (without_code(json.dumps(_rounded(row), ensure_ascii=False)) for row in rows)
        return [self.json(json.loads(row)) for row in sorted(plain, key=self.unnamed)]


def rounded(value: float) -> float:
    """Nine digits; what is left of a zero is zero."""
    return float(f"{value:.9g}") if abs(value) > _ZERO else 0.0


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    timeless = {name: "<time>" if _TIMES.fullmatch(name) else row[name] for name in row}
    return {
        name: rounded(value) if isinstance(value, float) else value
        for name, value in timeless.items()
    }


def pretty(value: object) -> str:
    """JSON with as few lines as fit, for a file that people read and compare."""
    return "".join(_lines(value, "")) + "\n"


def _lines(value: object, indent: str) -> Iterator[str]:
    plain = json.dumps(value, ensure_ascii=False)
    if len(plain) + len(indent) <= _WIDTH or not isinstance(value, dict | list) or not value:
        yield plain
        return
    inner = indent + " "
    is_mapping = isinstance(value, dict)
    entries = (
        [(f"{json.dumps(name, ensure_ascii=False)}: ", each) for name, each in value.items()]
        if isinstance(value, dict)
        else [("", each) for each in value]
    )
    yield "{\n" if is_mapping else "[\n"
    for place, (name, each) in enumerate(entries):
        end = ",\n" if place + 1 < len(entries) else "\n"
        yield f"{inner}{name}{''.join(_lines(each, inner))}{end}"
    yield indent + ("}" if is_mapping else "]")
