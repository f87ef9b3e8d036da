"""An AutoGen chat client whose calls go through the gateway.

The gateway reuses, limits, budgets and records the calls of AutoGen's agents as it does all
others. Importing this module imports autogen-core: import it late.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Literal, cast

from autogen_core import CancellationToken
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
from autogen_core.tools import Tool, ToolSchema
from pydantic import BaseModel

from recjury.llm import Attempt, SupportsComplete
from recjury.llm.spoken_text import part_text
from recjury.records import ChatRequest, ChatRole, Message, Reply, ReplyForm

_CHARACTERS_PER_TOKEN = 4
_CONTEXT_WINDOW = 128_000  # tokens

FinishReason = Literal["stop", "length", "function_calls", "content_filter", "unknown"]
_FINISH_REASONS: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content_filter",
}


class GatewayClient(ChatCompletionClient):
    """The client of one agent. `replies` has the gateway's replies, in order.

    AutoGen passes messages on as plain text. `register` returns the text of a message and remembers
    its parts, so that the gateway's request has the same parts. Other messages have one part.
    A blank assistant message is left out, because endpoints refuse it.
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
        self._model = model
        self._purpose = purpose
        self._temperature = temperature
        self._schema = schema
        self._form = form
        self._attempt = attempt or Attempt()
        self._parts: dict[str, tuple[str, ...]] = {}
        self.replies: list[Reply] = []

    def register(self, message: Message) -> str:
        """Remember the parts of `message`, and return its text for an agent to send."""
        self._parts[message.text] = message.parts
        return message.text

    async def create(
        self,
        messages: Sequence[LLMMessage],
        *,
        tools: Sequence[Tool | ToolSchema] = (),
        tool_choice: Tool | Literal["auto", "required", "none"] = "auto",  # noqa: ARG002
        json_output: bool | type[BaseModel] | None = None,
        extra_create_args: Mapping[str, Any] | None = None,
        cancellation_token: CancellationToken | None = None,
    ) -> CreateResult:
        """Make one call of the gateway; raises what `Gateway.complete` raises.

        If `json_output` is a pydantic model, its schema replaces the client's. If the token is
        cancelled, the call is cancelled and CancelledError is raised. Raises ValueError for tools
        and for extra arguments.
        """
        if tools or extra_create_args:
            raise ValueError("the gateway cannot send tools or extra arguments")
        schema = self._schema
        if isinstance(json_output, type):
            schema = cast("dict[str, object]", json_output.model_json_schema())
        request = ChatRequest(
            model=self._model,
            messages=tuple(self._message(m) for m in messages if not _is_blank(m)),
            purpose=self._purpose,
            temperature=self._temperature,
            schema=schema,
            form=self._form,
        )
        numbered = self._attempt.numbered(request)
        call = asyncio.ensure_future(self._gateway.complete(numbered))
        if cancellation_token is not None:
            cancellation_token.link_future(call)
        reply = await call
        self.replies.append(reply)
        return _result(reply)

    async def create_stream(
        self,
        messages: Sequence[LLMMessage],
        *,
        tools: Sequence[Tool | ToolSchema] = (),
        tool_choice: Tool | Literal["auto", "required", "none"] = "auto",
        json_output: bool | type[BaseModel] | None = None,
        extra_create_args: Mapping[str, Any] | None = None,
        cancellation_token: CancellationToken | None = None,
    ) -> AsyncGenerator[str | CreateResult, None]:
        """As `create`: the whole text as one chunk, then the result."""
        result = await self.create(
            messages,
            tools=tools,
            tool_choice=tool_choice,
            json_output=json_output,
            extra_create_args=extra_create_args,
            cancellation_token=cancellation_token,
        )
        yield cast("str", result.content)
        yield result

    async def close(self) -> None:
        """Do nothing: the gateway is closed by the code that opened it."""

    def actual_usage(self) -> RequestUsage:
        """Tokens of the calls that were sent; reused replies are not counted."""
        return _tokens([reply for reply in self.replies if not reply.reused])

    def total_usage(self) -> RequestUsage:
        """Tokens of all replies; reused ones are counted."""
        return _tokens(self.replies)

    def count_tokens(
        self,
        messages: Sequence[LLMMessage],
        *,
        tools: Sequence[Tool | ToolSchema] = (),  # noqa: ARG002 (never sent)
    ) -> int:
        """An estimate of four characters per token, which needs no tokenizer."""
        return sum(-(-len(_text(message)) // _CHARACTERS_PER_TOKEN) for message in messages)

    def remaining_tokens(
        self,
        messages: Sequence[LLMMessage],
        *,
        tools: Sequence[Tool | ToolSchema] = (),
    ) -> int:
        """The tokens left of a context window of 128,000, by the estimate of `count_tokens`."""
        return max(0, _CONTEXT_WINDOW - self.count_tokens(messages, tools=tools))

    @property
    def capabilities(self) -> ModelCapabilities:
        """AutoGen's older name for `model_info`."""
        return cast("ModelCapabilities", self.model_info)

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

    def _message(self, message: LLMMessage) -> Message:
        text = _text(message)
        return Message(_role(message), self._parts.get(text, (text,)))


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


def _is_blank(message: LLMMessage) -> bool:
    return isinstance(message, AssistantMessage) and not _text(message).strip()


def _result(reply: Reply) -> CreateResult:
    return CreateResult(
        finish_reason=_FINISH_REASONS.get(reply.finish_reason, "unknown"),
        content=part_text(reply.text).spoken,
        usage=RequestUsage(reply.usage.prompt_tokens, reply.usage.completion_tokens),
        cached=reply.reused,
    )


def _tokens(replies: Sequence[Reply]) -> RequestUsage:
    return RequestUsage(
        sum(reply.usage.prompt_tokens for reply in replies),
        sum(reply.usage.completion_tokens for reply in replies),
    )
