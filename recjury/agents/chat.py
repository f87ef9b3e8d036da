"""Systems that are a model of the campaign: ChatCRS, and an endpoint that is a recommender."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, PrivateAttr, model_validator

from recjury.agents.search import Search, VectorSearch
from recjury.agents.settings import SystemSettings
from recjury.corpora import Corpus
from recjury.errors import SystemFailed, Unreadable
from recjury.llm import Ask
from recjury.llm.prompts import pack
from recjury.records import (
    LIST_LENGTH,
    Completion,
    Conversation,
    ItemRef,
    Message,
    ModelName,
    PackName,
    SystemReply,
    Turn,
    shipped_in,
)

_TOOL_CALLS = ("tool_calls", "function_call")  # reasons why a reply ends
_TURNS = 2  # whose text is embedded, as published


class ChatModel(SystemSettings):
    """A model that gets the conversation."""

    model: ModelName = "main"

    async def _says(
        self, instructions: tuple[str, ...], conversation: Conversation, ask: Ask
    ) -> str:
        """Its reply. Raises SystemFailed for a tool call, or if it says nothing."""
        prompt = [Message("system", instructions)] if instructions else []
        for turn in spoken(conversation):
            role: Literal["user", "assistant"] = "user" if turn.speaker == "user" else "assistant"
            prompt.append(Message(role, (turn.text,)))
        answer = await ask.text(prompt, model=self.model, purpose="system", read=self._read)
        if answer.value is None:
            raise SystemFailed(f"its model {self.model}: {answer.reason}")
        return answer.value

    def _read(self, reply: Completion) -> str:
        if reply.finish in _TOOL_CALLS:
            raise SystemFailed(
                f"its model {self.model} calls a tool, which nobody runs here: connect the agent "
                "that runs its tools, as `http` or as `module:name`"
            )
        if not reply.text.strip():
            raise Unreadable("it says nothing")
        return reply.text


class OpenAIEndpoint(ChatModel):
    """A model of the campaign that gets the conversation and, if there are any, `instructions`.

    Its list has the items that its text names.
    """

    kind: Literal["openai"] = "openai"
    instructions: str = ""

    async def respond(self, conversation: Conversation, ask: Ask) -> str:
        """What the endpoint says. Raises SystemFailed."""
        instructions = (self.instructions,) if self.instructions else ()
        return await self._says(instructions, conversation, ask)


class ChatCRS(ChatModel):
    """ChatCRS (CoRE, section 6.3): a model that is told which kind of item is wanted.

    With `list_source: independent`, as published, the list is made apart from the text: the items
    that fit the conversation best, by the vectors of the model `embedder`, or else by BM25. With
    `from_text` it has the items that the text names.
    """

    kind: Literal["chatcrs"] = "chatcrs"
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

    def prepared(self, corpus: Corpus) -> Any:
        """The system over a corpus."""
        ready, items = super().prepared(corpus), corpus.catalogue
        ready._instruction = pack(self.prompts).render("system", domain=corpus.domain)
        if self.list_source == "independent":
            ready._search = VectorSearch(items, self.embedder) if self.embedder else Search(items)
        return ready

    async def respond(self, conversation: Conversation, ask: Ask) -> SystemReply:
        """What the model says, and the list. Raises SystemFailed if the model says nothing."""
        text = await self._says(self._instruction, conversation, ask)
        return SystemReply(text=text, items=await self._list(spoken(conversation), ask))

    async def _list(self, said: Sequence[Turn], ask: Ask) -> tuple[ItemRef, ...]:
        """The items for a conversation. Raises SystemFailed if there are no vectors."""
        if isinstance(self._search, VectorSearch):
            last = " ".join(f"{turn.speaker}: {turn.text}" for turn in said[-_TURNS:])
            return await self._search.best(last, LIST_LENGTH, ask)
        text = "\n".join(turn.text for turn in said)
        return self._search.best(text, LIST_LENGTH) if self._search else ()


def spoken(conversation: Conversation) -> list[Turn]:
    """The turns with a text, which a model reads."""
    return [turn for turn in conversation.turns if turn.text.strip()]
