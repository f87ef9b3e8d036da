"""ChatCRS: a language model that recommends in conversation (CoRE, section 6.3)."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, PrivateAttr

from recjury.agents.search import Search
from recjury.agents.settings import SystemSettings
from recjury.corpora import Corpus
from recjury.errors import SystemFailed
from recjury.llm import Ask
from recjury.llm.prompts import pack
from recjury.records import (
    LIST_LENGTH,
    Conversation,
    Message,
    ModelName,
    PackName,
    SystemReply,
    Turn,
)


def _shipped(name: str) -> str:
    return f"agents/{name}" if name == "chatcrs" else name


class ChatCRS(SystemSettings):
    """A model of the campaign as a system, told which kind of item is wanted.

    With `list_source: independent`, as published, the list is made apart from the text: the items
    that fit the conversation best (the paper compares embeddings; this is BM25). With `from_text`
    it has the items that the text names.
    """

    kind: Literal["chatcrs"] = "chatcrs"
    model: ModelName = "main"
    list_source: Literal["independent", "from_text"] = "independent"
    prompts: Annotated[PackName, AfterValidator(_shipped)] = "agents/chatcrs"
    _instruction: tuple[str, ...] = PrivateAttr(default=())
    _search: Search | None = PrivateAttr(default=None)

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
            ready._search = Search(corpus.catalogue)
        return ready

    async def respond(self, conversation: Conversation, ask: Ask) -> SystemReply:
        """What the model says, and the list. Raises SystemFailed if the model says nothing."""
        said = [turn for turn in conversation.turns if turn.text.strip()]
        prompt = [Message("system", self._instruction), *map(message_of, said)]
        answer = await ask.text(prompt, model=self.model, purpose="system")
        if answer.value is None:
            raise SystemFailed(f"its model {self.model}: {answer.reason}")
        text = "\n".join(turn.text for turn in said)
        items = self._search.best(text, LIST_LENGTH) if self._search else ()
        return SystemReply(text=answer.value, items=items)


def message_of(turn: Turn) -> Message:
    """A turn as a model reads it."""
    return Message("user" if turn.speaker == "user" else "assistant", (turn.text,))
