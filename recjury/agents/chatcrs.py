"""ChatCRS: a language model that recommends in conversation (CoRE, section 6.3)."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
from pydantic import PrivateAttr

from recjury.agents.chat_system import ROLES, ChatSystem
from recjury.agents.embedding import make_embedder
from recjury.agents.item_vectors import ItemVectors, best
from recjury.knowledge import BOOK, FILM, named_items
from recjury.prompts import Pack, load_pack
from recjury.records import (
    JSON,
    Conversation,
    Domain,
    ExpectedCalls,
    ItemRef,
    SystemReply,
    Turn,
    digest,
)

_COMPARED_TURNS = 2
EMBEDDING_OF_CONVERSATION = "embedding/conversation"


class ChatCRS(ChatSystem):
    """An LLM as CRS. `embeddings`: tfidf, minilm, or the alias of an embedding model.

    `list_source` says where its list comes from. With "independent", as published, the list has the
    items whose texts are nearest to the last two messages by cosine; the model does not see it.
    With "from_text" it has the items that the text names, in the text's order. Titles that the
    catalogue does not have are kept by name. If the text names no item, the list is empty.

    The model is told which kind of item is wanted ("a book to read"), and an independent list has
    items of that kind alone.
    """

    kind: Literal["chatcrs"] = "chatcrs"
    name: str = "chatcrs"
    list_source: Literal["independent", "from_text"] = "independent"
    embeddings: str = "tfidf"

    _vectors: ItemVectors = PrivateAttr()
    _pack: Pack = PrivateAttr()

    @property
    def aliases(self) -> list[tuple[str, str]]:
        """Its model, and the embedding model if it has one."""
        embedder = [(f"system {self.name} (embeddings)", self.embeddings)]
        return super().aliases + (embedder if self._asks_embedder else [])

    def expected(self, answers: int) -> list[ExpectedCalls]:
        """One or two calls for each answer, and one for its vector if a model makes it."""
        vector = ExpectedCalls(self.embeddings, EMBEDDING_OF_CONVERSATION, answers, answers, 80, 0)
        asked = self.list_source == "independent" and self._asks_embedder
        return super().expected(answers) + ([vector] if asked else [])

    @property
    def settings(self) -> Mapping[str, JSON]:
        """The model, the prompts, the catalogue's domains, and how lists are made."""
        independent = self.list_source == "independent"
        return {
            **self._chat_settings,
            "pack": self._pack.digest,
            "domains": [digest(domain) for domain in self._catalogue.domains],
            "list_source": self.list_source,
            "embedder": dict(self._vectors.embedder.settings) if independent else None,
        }

    async def respond(self, conversation: Conversation) -> SystemReply:
        """Answer the conversation so far.

        Raises SystemFailed if two replies are cut off or say nothing, and what the gateway raises
        for a failed call.
        """
        domain = self._catalogue.domain_named(conversation.domain)
        items: tuple[ItemRef, ...] = ()
        if self.list_source == "independent":
            items = await self._nearest(conversation, domain)
        answer = await self._ask(conversation, *self._pack.render("system", **_words(domain)))
        if self.list_source == "from_text":
            items = named_items(answer.text, self._catalogue)[: self._context.list_length]
        return SystemReply(text=answer.text, items=items, calls=answer.calls)

    async def aclose(self) -> None:
        """Release the embedder; the gateway is closed by the code that opened it."""
        await self._vectors.embedder.aclose()

    def _prepare(self) -> None:
        super()._prepare()
        embedder = make_embedder(self.embeddings, self._catalogue, self._gateway)
        self._vectors = ItemVectors(self._catalogue, embedder, self._context.cache)
        self._pack = load_pack("chatcrs")

    @property
    def _asks_embedder(self) -> bool:
        """Whether a model of the campaign makes the vectors, and not this machine."""
        return self.embeddings not in ("tfidf", "minilm")

    async def _nearest(self, conversation: Conversation, wanted: Domain) -> tuple[ItemRef, ...]:
        spoken = [turn for turn in conversation.turns if turn.text.strip()]
        text = "".join(_with_role(turn) for turn in spoken[-_COMPARED_TURNS:])
        similarities = await self._vectors.similarities(text)
        items = tuple(self._catalogue)
        others = [self._catalogue.domain_of(item) != wanted for item in items]
        similarities[others] = -np.inf
        rows = best(similarities, self._context.list_length)
        return tuple(items[row].ref for row in rows if not others[row])


def _words(domain: Domain) -> dict[str, object]:
    """What the prompt says of the domain, besides its own words."""
    makers, cast = domain.of_kind("maker"), domain.of_kind("cast")
    people = (*cast, *makers)
    categories = domain.of_kind("category") or domain.attributes
    *others, last = (each.word for each in domain.attributes)
    about = f"its {' and '.join(filter(None, (', '.join(others), last)))}, where you know them"
    if domain.name in {FILM, BOOK}:
        made = "who made it, who is in it" if domain.name == FILM else "who wrote it"
        about = f"{made}, and what it is about, without giving the ending away"
    return {
        "domain": domain,
        "an": _with_article,
        "category": categories[0].word,
        "person": people[0].word if people else "",
        "dated": bool(domain.of_kind("era")),
        "about": about,
    }


def _with_article(word: str) -> str:
    return f"{'an' if word[:1] in 'aeiou' else 'a'} {word}"


def _with_role(turn: Turn) -> str:
    return f"{ROLES[turn.speaker]}: {turn.text} "
