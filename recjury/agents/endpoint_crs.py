"""An OpenAI-compatible endpoint that is a CRS itself: it receives the conversation and no
prompt."""

from collections.abc import Mapping
from typing import Literal

from recjury.agents.chat_system import ChatSystem
from recjury.knowledge import named_items
from recjury.records import JSON, Conversation, SystemReply


class EndpointCRS(ChatSystem):
    """An OpenAI-compatible endpoint that is a CRS itself. `system_prompt` is sent first, if given.

    Its list has the items that its text names, in that order. Titles that the catalogue does not
    have are kept by name if they are marked as titles. The list is empty if the text names no item.
    """

    kind: Literal["openai_crs"] = "openai_crs"
    model: str
    system_prompt: str = ""

    @property
    def settings(self) -> Mapping[str, JSON]:
        """The endpoint's model, and the prompt."""
        return {**self._chat_settings, "system_prompt": self.system_prompt}

    async def respond(self, conversation: Conversation) -> SystemReply:
        """Return the endpoint's answer.

        Raises SystemFailed if two answers are cut off or say nothing, and what the gateway raises
        for a failed call.
        """
        answer = await self._ask(conversation, self.system_prompt)
        items = named_items(answer.text, self._catalogue)[: self._context.list_length]
        return SystemReply(text=answer.text, items=items, calls=answer.calls)
