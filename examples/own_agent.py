"""An AutoGen agent of one's own in a seat of the debate; own_agent.yaml gives it the linguist's."""

import json
import re
from collections.abc import Sequence

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_core import CancellationToken


class Counter(BaseChatAgent):
    """Wants short sentences. An agent with a model, tools or memory takes a seat likewise."""

    produced_message_types = (TextMessage,)

    async def on_messages(
        self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken
    ) -> Response:
        prompt = messages[-1].to_text()
        said = re.findall(r"<system>(.*?)</system>", prompt)
        words = sum(len(text.split()) for text in said) / max(1, len(said))
        reply = {
            "statement": f"{words:.0f} words a turn.",
            "score": round(max(0, 100 - words)),
            "code": re.findall(r'"code": "(\w+)"', prompt)[-1],
        }
        return Response(chat_message=TextMessage(content=json.dumps(reply), source=self.name))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        """It remembers nothing."""


def make_agent() -> Counter:
    """A new agent for each statement."""
    return Counter("counter", "Wants short sentences.")
