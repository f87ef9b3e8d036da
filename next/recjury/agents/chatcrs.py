"""ChatCRS: a language model that recommends in conversation (CoRE, section 6.3)."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, PrivateAttr, model_validator

from recjury.agents.search import Search
from recjury.agents.settings import SystemSettings
from recjury.agents.vectors import VectorSearch
from recjury.corpora import Corpus
from recjury.errors import SystemFailed
from recjury.llm import Ask
from recjury.llm.prompts import pack
from recjury.records import (
    LIST_LENGTH,
    Conversation,
    ItemRef,
    Message,
    ModelName,
    PackName,
    SystemReply,
    Turn,
    shipped_in,
)

_TURNS = 2  # whose text is embedded, as published


class ChatCRS(SystemSettings):
    """A model of the campaign as a system, told which kind of item is wanted.

    With `list_source: independent`, as published, the list is made apart from the text: the items
    that fit the conversation best, by the vectors of the model `embedder`, or else by BM25. With
    `from_text` it has the items that the text names.
    """

    kind: Literal["chatcrs"] = "chatcrs"
    model: ModelName = "main"
    list_source: Literal["independent", "from_text"] = "independent"
    embedder: ModelName | None = None
    prompts: Annotated[PackName, AfterValidator(shipped_in("agents", "chatcrs"))] = "agents/chatcrs"
    _instruction: tuple[str, ...] = PrivateAttr(default=())
    _search: Search | VectorSearch | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _embeds_for_a_list(self) -> "ChatCRS":
        if self.embedder and self.list_source == "from_text":
            raise ValueError("`embedder` finds lists that are `independent`: leave it out")
        return self

    @property
    def links(self) -> bool:
        """Only with `from_text`, unless `link` is set."""
        return self.list_source == "from_text" if self.link is None else self.link

    def prepared(self, corpus: Corpus) -> Self:
        """The system over a corpus."""
        ready, domain = self.model_copy(), corpus.domain
        ready._instruction = pack(self.prompts).render(
            "system",
            domain=domain,
        )
        if self.list_source == "independent":
            ready._search = (
                VectorSearch(corpus.catalogue, self.embedder)
                if self.embedder
                else Search(corpus.catalogue)
            )
        return ready

    async def respond(self, conversation: Conversation, ask: Ask) -> SystemReply:
        """What the model says, and the list. Raises SystemFailed if the model says nothing."""
        said = [turn for turn in conversation.turns if turn.text.strip()]
        prompt = [Message("system", self._instruction), *map(message_of, said)]
        answer = await ask.text(prompt, model=self.model, purpose="system")
        if answer.value is None:
            raise SystemFailed(f"its model {self.model}: {answer.reason}")
        return SystemReply(text=answer.value, items=await self._list(said, ask))

    async def _list(self, said: Sequence[Turn], ask: Ask) -> tuple[ItemRef, ...]:
        """The items for a conversation. Raises SystemFailed if there are no vectors."""
        if isinstance(self._search, VectorSearch):
            last = " ".join(f"{turn.speaker}: {turn.text}" for turn in said[-_TURNS:])
            return await self._search.best(last, LIST_LENGTH, ask)
        text = "\n".join(turn.text for turn in said)
        return self._search.best(text, LIST_LENGTH) if self._search else ()


def message_of(turn: Turn) -> Message:
    """A turn as a model reads it."""
    return Message("user" if turn.speaker == "user" else "assistant", (turn.text,))
