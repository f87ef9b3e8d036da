"""ChatCRS: a language model that recommends in conversation (CoRE, section 6.3)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np

from recjury.agents.chat_messages import ROLES, ask_for_answer, messages
from recjury.agents.item_vectors import ItemVectors, best
from recjury.errors import ConfigError
from recjury.knowledge import BOOK, FILM, named_items
from recjury.prompts import load_pack
from recjury.records import (
    JSON,
    LIST_LENGTH,
    ChatRequest,
    Conversation,
    Domain,
    ItemRef,
    SystemReply,
    Turn,
    digest,
)

if TYPE_CHECKING:
    from recjury.llm import Gateway

ListSource = Literal["independent", "from_text"]

_COMPARED_TURNS = 2


class ChatCRS:
    """A `Recommender` whose text is written by a model.

    `list_source` says where its list comes from. With "independent", as published, the list has the
    items whose texts are nearest to the last two messages by cosine; the model does not see it.
    With "from_text" it has the items that the text names, in the text's order. Titles that the
    catalogue does not have are kept by name. If the text names no item, the list is empty.

    The model is told which kind of item is wanted ("a book to read"), and an independent list has
    items of that kind alone.
    """

    def __init__(
        self,
        gateway: "Gateway",
        model: str,
        vectors: ItemVectors,
        *,
        name: str = "chatcrs",
        list_source: ListSource = "independent",
        list_length: int = LIST_LENGTH,
        temperature: float = 0.0,
    ):
        """`model` is an alias of the gateway's; `vectors` are those of the items to recommend.

        Raises ConfigError for an unknown alias and for a `list_length` below 1.
        """
        if list_length < 1:
            raise ConfigError(f"list_length must be at least 1, got {list_length}")
        if model not in gateway.models:
            there = ", ".join(sorted(gateway.models)) or "none"
            raise ConfigError(f"no model {model!r} for {name}: there are {there}")
        spec = gateway.models[model]
        self.name = name
        self._gateway, self._model, self._temperature = gateway, model, temperature
        self._vectors = vectors
        self._items = tuple(vectors.catalogue)
        self._list_source, self._length = list_source, list_length
        self._pack = load_pack("chatcrs")
        self.settings: Mapping[str, JSON] = {
            "kind": "chatcrs",
            "model": spec.name,
            "base_url": spec.address,
            "temperature": temperature if spec.temperature is None else spec.temperature,
            "max_tokens": spec.max_tokens,
            "extra": dict(spec.reply_options),
            "pack": self._pack.digest,
            "catalogue": vectors.catalogue.digest,
            "domains": [digest(domain) for domain in vectors.catalogue.domains],
            "list_source": list_source,
            "list_length": list_length,
            "embedder": dict(vectors.embedder.settings) if list_source == "independent" else None,
        }

    async def respond(self, conversation: Conversation) -> SystemReply:
        """Answer the conversation so far.

        Raises SystemFailed if two replies are cut off or say nothing, and what the gateway raises
        for a failed call.
        """
        items: tuple[ItemRef, ...] = ()
        if self._list_source == "independent":
            items = await self._nearest(conversation)
        said = await ask_for_answer(self._gateway, self._request(conversation), self.name)
        if self._list_source == "from_text":
            items = named_items(said.text, self._vectors.catalogue)[: self._length]
        return SystemReply(text=said.text, items=items, calls=said.calls)

    async def aclose(self) -> None:
        """Release the embedder; the gateway is closed by the code that opened it."""
        await self._vectors.embedder.aclose()

    async def _nearest(self, conversation: Conversation) -> tuple[ItemRef, ...]:
        spoken = [turn for turn in conversation.turns if turn.text.strip()]
        text = "".join(_with_role(turn) for turn in spoken[-_COMPARED_TURNS:])
        similarities = await self._vectors.similarities(text)
        catalogue, wanted = self._vectors.catalogue, self._wanted(conversation)
        others = [catalogue.domain_of(item) != wanted for item in self._items]
        similarities[others] = -np.inf
        rows = [row for row in best(similarities, self._length) if not others[row]]
        return tuple(self._items[row].ref for row in rows)

    def _request(self, conversation: Conversation) -> ChatRequest:
        prompt = self._pack.render("system", **_words(self._wanted(conversation)))
        said = messages(conversation, prompt)
        return ChatRequest(self._model, said, "system/chatcrs", temperature=self._temperature)

    def _wanted(self, conversation: Conversation) -> Domain:
        return self._vectors.catalogue.domain_named(conversation.domain)


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
