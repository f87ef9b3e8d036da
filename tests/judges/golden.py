"""Rendered prompts, compared with text files that lie beside the tests."""

from collections.abc import Sequence
from pathlib import Path

from recjury.prompts import CODE
from recjury.records import Message


def shown(messages: Sequence[Message]) -> str:
    """The messages with their roles, and a line where a part ends and the next begins."""
    cut = "\n----- cut -----\n"
    text = "\n\n".join(f"===== {m.role} =====\n{cut.join(m.parts)}" for m in messages) + "\n"
    return text.replace(CODE, "CODE")


def assert_golden(messages: Sequence[Message], path: Path) -> None:
    """The prompt equals the file. After a meant change of a pack, write `shown` into it."""
    assert shown(messages) == path.read_text("utf-8")
