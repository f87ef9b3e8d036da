"""Systems without a model: what they say is a floor that every other system should beat."""

import heapq
import random
from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from recjury.agents.settings import SystemSettings
from recjury.corpora import Item
from recjury.records import LIST_LENGTH, Conversation, SystemReply, digest

_NAMED = 3  # items of the list that the text names


class Floor(SystemSettings):
    """Recommends `length` items that no turn has listed or named, or of all if none is left."""

    RENDERING: ClassVar[int] = 2

    length: int = Field(default=LIST_LENGTH, ge=1, le=100)

    async def respond(self, conversation: Conversation) -> SystemReply:
        """A list, and a text that names its first items."""
        catalogue = self._corpus.catalogue
        named = {
            ref.id
            for turn in conversation.turns
            for ref in (*turn.items, *catalogue.link(turn.text))
        }
        new = [item for item in catalogue if item.id not in named] or list(catalogue)
        items = tuple(item.ref for item in self._best(new, conversation))
        names = " or ".join(item.name for item in items[:_NAMED])
        return SystemReply(text=f"You may like {names}.", items=items)

    def _best(self, items: Sequence[Item], conversation: Conversation) -> Sequence[Item]:
        """At most `length` of the items, best first."""
        raise NotImplementedError


class Popular(Floor):
    """Recommends the most popular items that the conversation has neither listed nor named."""

    kind: Literal["popular"] = "popular"

    def _best(self, items: Sequence[Item], conversation: Conversation) -> Sequence[Item]:  # noqa: ARG002
        return heapq.nlargest(self.length, items, key=lambda item: item.popularity)


class Random(Floor):
    """Recommends items at random: the same ones in the same conversation."""

    kind: Literal["random"] = "random"

    def _best(self, items: Sequence[Item], conversation: Conversation) -> Sequence[Item]:
        seed = digest([turn.text for turn in conversation.turns])
        return random.Random(seed).sample(items, min(self.length, len(items)))
