"""A typical system, which answers in a dry run in place of one that runs outside of recjury."""

import random

from recjury.corpora import Catalogue
from recjury.records import Conversation, SystemReply, digest

_WORDS = "word " * 70  # a reply has about 90 tokens


class TypicalSystem:
    """Says a text of typical length that names two items, drawn by what was said so far."""

    def __init__(self, catalogue: Catalogue, name: str):
        """The items that it names are of the catalogue. Systems of other names say other things."""
        self._name = name
        self._items = [item.ref for item in catalogue]

    async def respond(self, conversation: Conversation) -> SystemReply:
        """Equal conversations get equal replies, as in a run."""
        seed = digest(self._name, [turn.text for turn in conversation.turns])
        items = random.Random(seed).sample(self._items, min(2, len(self._items)))
        text = f"{seed} {_WORDS}{' and '.join(item.name for item in items)}"
        return SystemReply(text=text, items=tuple(items))
