"""An OpenAI-compatible endpoint that is itself a recommender."""

from typing import Literal, Self

from recjury.agents.chatcrs import message_of
from recjury.agents.settings import SystemSettings
from recjury.corpora import Corpus
from recjury.errors import SystemFailed, Unreadable
from recjury.llm import Ask
from recjury.records import Completion, Conversation, Message, ModelName

_TOOL_CALLS = ("tool_calls", "function_call")  # reasons why a reply ends


class OpenAIEndpoint(SystemSettings):
    """A model of the campaign that gets the conversation and, if there are any, `instructions`.

    Its list has the items that its text names.
    """

    kind: Literal["openai"] = "openai"
    model: ModelName = "main"
    instructions: str = ""

    def prepared(self, corpus: Corpus) -> Self:  # noqa: ARG002 (all systems get it)
        """The system: it is the same over all corpora."""
        return self

    async def respond(self, conversation: Conversation, ask: Ask) -> str:
        """What the endpoint says. Raises SystemFailed for a tool call, or if it says nothing."""
        prompt = [Message("system", (self.instructions,))] if self.instructions else []
        prompt += [message_of(turn) for turn in conversation.turns if turn.text.strip()]
        answer = await ask.text(prompt, model=self.model, purpose="system", read=self._said)
        if answer.value is None:
            raise SystemFailed(f"its model {self.model}: {answer.reason}")
        return answer.value

    def _said(self, reply: Completion) -> str:
        if reply.finish in _TOOL_CALLS:
            raise SystemFailed(
                f"its model {self.model} calls a tool, which nobody runs here: connect the agent "
                "that runs its tools, as `http` or as `module:name`"
            )
        if not reply.text.strip():
            raise Unreadable("it says nothing")
        return reply.text
