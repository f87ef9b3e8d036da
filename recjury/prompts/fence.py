"""Text of others inside a prompt, marked as data to prevent prompt injection.

The text of a person or a system under test is put between tags, with `&`, `<` and `>` escaped as
entities, so that it can neither close its own tag nor open another. An entry of a list, such as an
item's name, is also put on one line, so that it cannot add rows.
"""

import html
from collections.abc import Iterable, Sequence
from typing import Protocol

from recjury.records import ConversationLog, ItemRef, Turn

LINKED_LIST_NOTE = (
    "The system gave no lists. A program found these items by their names in what the system said, "
    "and they stand in the order of the text. It may have missed a name or taken it for another "
    "item, and the system may have named an item without recommending it."
)


class ItemFacts(Protocol):
    """What is known of items."""

    @property
    def digest(self) -> str:
        """The identity of all that the facts are taken from."""

    def __call__(self, item: ItemRef) -> str:
        """What is known of an item, on one line; empty if nothing is."""


def fence(text: str) -> str:
    """`text` with the characters `&`, `<` and `>` escaped."""
    return html.escape(text, quote=False)


def fence_line(text: str) -> str:
    """`text` fenced and on one line, for a row of a list: a line break would begin a new row."""
    return fence(" ".join(text.splitlines()))


def turns_block(tag: str, turns: Sequence[Turn]) -> str:
    """Turns as one tagged block, one line for each; a failed system turn is marked as failed."""
    return _block(tag, (_turn_line(turn) for turn in turns))


def items_block(tag: str, items: Sequence[ItemRef], facts: ItemFacts | None = None) -> str:
    """Items as one tagged block, numbered from 1 in the list's order.

    A row ends with what `facts` knows of the item, in <facts>.
    """
    return _block(tag, (_row(number, item, facts) for number, item in enumerate(items, start=1)))


def list_block(log: ConversationLog, facts: ItemFacts | None = None) -> str:
    """The list of a whole session as `items_block`, with a note if it was made of the texts."""
    block = items_block("recommendation_list", log.session_list(), facts)
    return f"{block}\n{LINKED_LIST_NOTE}" if log.items_linked else block


def places_of(targets: Sequence[ItemRef], items: Sequence[ItemRef]) -> str:
    """The numbers of the `items` that are one of `targets`, as `items_block` counts ("3, 7")."""
    places = (
        str(number)
        for number, item in enumerate(items, start=1)
        if any(map(item.same_item, targets))
    )
    return ", ".join(places)


def wishes_block(wishes: Sequence[str]) -> str:
    """The wishes of a user as one block in <wishes>, one line for each."""
    return _block("wishes", map(fence_line, wishes))


def _row(number: int, item: ItemRef, facts: ItemFacts | None) -> str:
    known = facts(item) if facts else ""
    row = f"{number}. {fence_line(item.name)}"
    return f"{row} <facts>{fence_line(known)}</facts>" if known else row


def _turn_line(turn: Turn) -> str:
    if turn.failure is not None:
        return f'<{turn.speaker} failed="true"></{turn.speaker}>'
    return f"<{turn.speaker}>{fence(turn.text)}</{turn.speaker}>"


def _block(tag: str, lines: Iterable[str]) -> str:
    return "\n".join((f"<{tag}>", *lines, f"</{tag}>"))
