"""An AutoGen chat client whose calls go through the gateway.

The gateway reuses, limits, budgets and records the calls of AutoGen's agents as it does all
others. Importing this module imports autogen-core: import it late.
"""

from collections.abc import AsyncGenerator, Sequence
from typing import Any, NoReturn, cast

from autogen_core.models import (
    AssistantMessage,
    ChatCompletionClient,
    CreateResult,
    LLMMessage,
    ModelFamily,
    ModelInfo,
    RequestUsage,
    SystemMessage,
    UserMessage,
)
from autogen_core.models._model_client import ModelCapabilities

from recjury.llm import Attempt, SupportsComplete
from recjury.llm.spoken_text import part_text
from recjury.records import ChatRequest, ChatRole, Message, Reply, ReplyForm


class GatewayClient(ChatCompletionClient):
    """The client of one agent that uses no tools. `replies` has the gateway's replies, in order.

    AutoGen passes messages on as plain text. `register` returns the text of a message and remembers
    its parts, so that the gateway's request has the same parts. Other messages have one part.
    """

    def __init__(
        self,
        gateway: SupportsComplete,
        model: str,
        *,
        purpose: str,
        temperature: float = 0.0,
        schema: dict[str, object] | None = None,
        form: ReplyForm | None = None,
        attempt: Attempt | None = None,
    ):
        """`model` is an alias of the gateway's models; each call has `purpose`, `schema`, `form`.

        Each call is asked as `attempt`, without its note: a message to the agent has that.
        """
        self._gateway = gateway
        self._request = ChatRequest(
            model=model,
            messages=(),
            purpose=purpose,
            temperature=temperature,
            schema=schema,
            form=form,
        )
        self._attempt = attempt or Attempt()
        self._parts: dict[str, tuple[str, ...]] = {}
        self.replies: list[Reply] = []

    def register(self, message: Message) -> str:
        """Remember the parts of `message`, and return its text for an agent to send."""
        self._parts[message.text] = message.parts
        return message.text

    async def create(self, messages: Sequence[LLMMessage], **options: Any) -> CreateResult:
        """Make one call of the gateway; raises what `Gateway.complete` raises.

        Raises ValueError for tools, an output type, extra arguments, and what is no text.
        """
        if any(options.get(name) for name in ("tools", "json_output", "extra_create_args")):
            raise ValueError("the gateway cannot send tools, output types or extra arguments")
        sent = tuple(map(self._message, messages))
        request = self._attempt.numbered(self._request._replace(messages=sent))
        reply = await self._gateway.complete(request)
        self.replies.append(reply)
        return CreateResult(
            finish_reason="unknown",  # whoever reads `replies` looks at it
            content=part_text(reply.text).spoken,
            usage=RequestUsage(reply.usage.prompt_tokens, reply.usage.completion_tokens),
            cached=reply.reused,
        )

    async def close(self) -> None:
        """Do nothing: the gateway is closed by the code that opened it."""

    @property
    def model_info(self) -> ModelInfo:
        """Text in, text or JSON out; no tools and no images."""
        return {
            "vision": False,
            "function_calling": False,
            "json_output": True,
            "structured_output": True,
            "family": ModelFamily.UNKNOWN,
            "multiple_system_messages": True,
        }

    @property
    def capabilities(self) -> ModelCapabilities:
        """AutoGen's older name for `model_info`."""
        return cast("ModelCapabilities", self.model_info)

    # AutoGen has these abstract; an `AssistantAgent` without a stream calls none of them.

    def create_stream(self, *_: Any, **__: Any) -> AsyncGenerator[str | CreateResult, None]:
        """Raises NotImplementedError."""
        _refuse("streams")

    def actual_usage(self) -> RequestUsage:
        """Raises NotImplementedError: the gateway counts what its calls use."""
        _refuse("counts of usage")

    def total_usage(self) -> RequestUsage:
        """Raises NotImplementedError: the gateway counts what its calls use."""
        _refuse("counts of usage")

    def count_tokens(self, *_: Any, **__: Any) -> int:
        """Raises NotImplementedError."""
        _refuse("counts of tokens")

    def remaining_tokens(self, *_: Any, **__: Any) -> int:
        """Raises NotImplementedError."""
        _refuse("counts of tokens")

    def _message(self, message: LLMMessage) -> Message:
        text = _text(message)
        return Message(_role(message), self._parts.get(text, (text,)))


def _refuse(what: str) -> NoReturn:
    raise NotImplementedError(f"the gateway's client for AutoGen has no {what}")


def _role(message: LLMMessage) -> ChatRole:
    if isinstance(message, SystemMessage):
        return "system"
    return "assistant" if isinstance(message, AssistantMessage) else "user"


def _text(message: LLMMessage) -> str:
    if isinstance(message, SystemMessage | UserMessage | AssistantMessage) and isinstance(
        message.content, str
    ):
        return message.content
    raise ValueError(f"the gateway can send text only, got a {message.type} with other content")
