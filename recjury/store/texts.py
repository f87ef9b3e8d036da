"""Texts as a database holds them: any text comes back as it was said.

Neither SQLite's tools nor PostgreSQL hold the character NUL or a lone surrogate. Each of them is
written as U+10FFFF, which is no character, and six hex digits; so is U+10FFFF. All other texts are
stored as they are.
"""

import re
from typing import Any

from sqlalchemy import Dialect, Text, TypeDecorator

_MARK = "\U0010ffff"
_RARE = re.compile(f"[\0\ud800-\udfff{_MARK}]")
_STORED = re.compile(f"{_MARK}([0-9a-f]{{6}})")


def to_stored(text: str) -> str:
    """The text as databases can hold it."""
    if text.isascii() and "\0" not in text:
        return text
    return _RARE.sub(lambda rare: f"{_MARK}{ord(rare[0]):06x}", text)


def from_stored(text: str) -> str:
    """The text as it was said."""
    if text.isascii() or _MARK not in text:
        return text
    return _STORED.sub(lambda stored: chr(int(stored[1], 16)), text)


class AnyText(TypeDecorator[str]):
    """A column for any text."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """As it is stored."""
        return None if value is None else to_stored(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """As it was said."""
        return None if value is None else from_stored(value)
