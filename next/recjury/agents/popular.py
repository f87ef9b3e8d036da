"""Systems without a model: what they say is a floor that every other system should beat."""

import random
from typing import Literal, Self

from pydantic import Field, PrivateAttr

from recjury.agents.settings import SystemSettings
from recjury.corpora import Corpus, Item
from recjury.records import LIST_LENGTH, Conversation, SystemReply, digest

_NAMED = 3  # items of the list that the text names


class Popular(SystemSettings):
    """Recommends the most popular items that the conversation has not named."""

    kind: Literal["popular"] = "popular"
    length: int = Field(default=LIST_LENGTH, ge=1, le=100)
    _ranked: tuple[Item, ...] = PrivateAttr(default=())

    def prepared(self, corpus: Corpus) -> Self:
        """The system over a corpus."""
        ready = self.model_copy()
        ready._ranked = tuple(sorted(corpus.catalogue, key=lambda item: -item.popularity))
        return ready

    async def respond(self, conversation: Conversation) -> SystemReply:
        """The next items of the ranking."""
        return _recommend(_new(self._ranked, conversation)[: self.length])


class Random(SystemSettings):
    """Recommends items at random: the same ones in the same conversation."""

    kind: Literal["random"] = "random"
    length: int = Field(default=LIST_LENGTH, ge=1, le=100)
    _items: tuple[Item, ...] = PrivateAttr(default=())

    def prepared(self, corpus: Corpus) -> Self:
        """The system over a corpus."""
        ready = self.model_copy()
        ready._items = tuple(corpus.catalogue)
        return ready

    async def respond(self, conversation: Conversation) -> SystemReply:
        """Items drawn by what was said so far."""
        new = _new(self._items, conversation)
        seed = digest([turn.text for turn in conversation.turns])
        return _recommend(random.Random(seed).sample(new, min(self.length, len(new))))


def _new(items: tuple[Item, ...], conversation: Conversation) -> list[Item]:
    """The items that no turn has listed; all of them if none is left."""
    listed = {item.id for turn in conversation.turns for item in turn.items}
    return [item for item in items if item.id not in listed] or list(items)


def _recommend(items: list[Item]) -> SystemReply:
    names = [item.ref.name for item in items[:_NAMED]]
    return SystemReply(
        text=f"You may like {' or '.join(names)}.", items=tuple(item.ref for item in items)
    )
