"""A reader of replies for tests of the judges: it sees marks in texts, not language."""

from collections.abc import Sequence

import pytest

from recjury.judges.measured import annotated_log
from recjury.language import ReplyCheck
from recjury.language.reading import Breakage
from recjury.records import Turn

MARKS: tuple[Breakage, ...] = ("garbled", "loop", "residue", "truncated", "mixed_languages")


def marked_reply(reply: str, before: Sequence[Turn] = ()) -> ReplyCheck:
    """Broken in the way that a mark in the text says ("[loop]"); doubtful at "[doubtful]"."""
    if "[other language]" in reply:
        return ReplyCheck(0.5, None, english=False)
    if "[doubtful]" in reply:
        return ReplyCheck(0.5, None)
    kind = next((kind for kind in MARKS if f"[{kind}]" in reply), None)
    return ReplyCheck(0.0, False) if kind is None else ReplyCheck(0.99, True, kind, f"[{kind}]")


@pytest.fixture(autouse=True)
def reads_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judges read replies with `marked_reply`."""
    monkeypatch.setattr(annotated_log, "read_reply", marked_reply)
