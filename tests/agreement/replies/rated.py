"""Rows that tests make up."""

from recjury.agreement.replies.rows import RatedRow
from recjury.corpora.dialogues import alternating
from recjury.records import Response, Speaker


def response(
    text: str, *history: str, reference: str | None = None, system: str | None = None
) -> Response:
    """A reply to `history`."""
    turns = alternating(history, Speaker.USER)
    return Response(id=text, history=turns, text=text, reference=reference, system=system)


def row(number: int, target: float, *, source: str = "a", group: str = "") -> RatedRow:
    """A row of DailyDialog-GRADE."""
    return RatedRow(
        str(number),
        "dailydialog-grade",
        (response(f"reply {number}", "Hi!"),),
        target,
        source,
        False,
        group or str(number),
    )
