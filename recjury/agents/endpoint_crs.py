"""An OpenAI-compatible endpoint that is a CRS itself: it receives the conversation and no
prompt."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from recjury.agents.chat_messages import ask_for_answer, messages
from recjury.errors import ConfigError
from recjury.knowledge import named_items
from recjury.records import JSON, LIST_LENGTH, ChatRequest, Conversation, SystemReply

if TYPE_CHECKING:
    from recjury.knowledge import Catalogue
    from recjury.llm import Gateway


class EndpointCRS:
    """A `Recommender` behind a model alias. Its list has the items that its text names, in that
    order.

    Titles that the catalogue does not have are kept by name if they are marked as titles. The list
    is empty if the text names no item.
    """

    def __init__(
        self,
        gateway: "Gateway",
        model: str,
        catalogue: "Catalogue",
        *,
        name: str,
        system_prompt: str = "",
        list_length: int = LIST_LENGTH,
    ):
        """`system_prompt`, if given, is sent before the conversation.

        Raises ConfigError for an unknown alias and for an embedding model.
        """
        spec = gateway.models.get(model)
        if spec is None:
            there = ", ".join(sorted(gateway.models)) or "none"
            raise ConfigError(f"no model {model!r} for {name}: there are {there}")
        if spec.embedding:
            raise ConfigError(
                f"model {model!r} makes embeddings: {name} needs a model that writes text"
            )
        self.name = name
        self._gateway, self._model, self._catalogue = gateway, model, catalogue
        self._prompt, self._length = system_prompt, list_length
        self.settings: Mapping[str, JSON] = {
            "kind": "openai_crs",
            "model": spec.name,
            "base_url": spec.address,
            "temperature": 0.0 if spec.temperature is None else spec.temperature,
            "max_tokens": spec.max_tokens,
            "extra": dict(spec.reply_options),
            "system_prompt": system_prompt,
            "catalogue": catalogue.digest,
            "list_length": list_length,
        }

    async def respond(self, conversation: Conversation) -> SystemReply:
        """Return the endpoint's answer.

        Raises SystemFailed if two answers are cut off or say nothing, and what the gateway raises
        for a failed call.
        """
        said = messages(conversation, self._prompt)
        request = ChatRequest(self._model, said, "system/openai_crs")
        answer = await ask_for_answer(self._gateway, request, self.name)
        items = named_items(answer.text, self._catalogue)[: self._length]
        return SystemReply(text=answer.text, items=items, calls=answer.calls)

    async def aclose(self) -> None:
        """Do nothing: the gateway is closed by the code that opened it."""
