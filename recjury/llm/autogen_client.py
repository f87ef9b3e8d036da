"""The gateway as AutoGen sees it: a chat client whose calls are the gateway's own.

Reuse, limits, budget and record hold for AutoGen's agents as for everyone else. Importing this
module imports autogen-core: do so late.
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

from recjury.llm import SupportsComplete
from recjury.records import ChatRequest, ChatRole, Message, Reply

_SIGNS_PER_TOKEN = 4
_WINDOW = 128_000

FinishReason = Literal["stop", "length", "function_calls", "content_filter", "unknown"]
_FINISHES: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content_filter",
}


class GatewayClient(ChatCompletionClient):
    """One agent's way to the gateway. `replies` holds what came back, in order.

    AutoGen passes messages on as plain text; `whole` makes that text of a message and remembers
    its parts, so that the request which reaches the gateway is cut as the message was. Messages
    that were not made so are one part. A blank assistant message is left out, as endpoints
    refuse it.
    """

    def __init__(
        self,
        gateway: SupportsComplete,
        model: str,
        *,
        purpose: str,
        temperature: float = 0.0,
        schema: dict[str, object] | None = None,
    ):
        """A client for the model of that alias; every call carries `purpose` and `schema`."""
        self._gateway = gateway
        self._model = model
        self._purpose = purpose
        self._temperature = temperature
        self._schema = schema
        self._parts: dict[str, tuple[str, ...]] = {}
        self.replies: list[Reply] = []

    def whole(self, message: Message) -> str:
        """The text of `message` for an agent to send; its parts are remembered."""
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
        """One call of the gateway; raises as its `complete`, and ValueError for tools.

        A model as `json_output` takes the place of the schema. A cancelled token cancels the
        call and raises CancelledError.
        """
        if tools or extra_create_args:
            raise ValueError("the gateway sends neither tools nor extra arguments")
        schema = self._schema
        if isinstance(json_output, type):
            schema = cast("dict[str, object]", json_output.model_json_schema())
        request = ChatRequest(
            model=self._model,
            messages=tuple(self._message(m) for m in messages if not _is_blank(m)),
            purpose=self._purpose,
            temperature=self._temperature,
            schema=schema,
        )
        call = asyncio.ensure_future(self._gateway.complete(request))
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
        """Nothing to close: the gateway belongs to whoever opened it."""

    def actual_usage(self) -> RequestUsage:
        """Tokens of the calls that were sent, without reused replies."""
        return _tokens([reply for reply in self.replies if not reply.reused])

    def total_usage(self) -> RequestUsage:
        """Tokens of all replies, reused ones included."""
        return _tokens(self.replies)

    def count_tokens(
        self,
        messages: Sequence[LLMMessage],
        *,
        tools: Sequence[Tool | ToolSchema] = (),  # noqa: ARG002 (never sent)
    ) -> int:
        """A rough count, four characters to a token: no tokenizer is downloaded for it."""
        return sum(-(-len(_text(message)) // _SIGNS_PER_TOKEN) for message in messages)

    def remaining_tokens(
        self,
        messages: Sequence[LLMMessage],
        *,
        tools: Sequence[Tool | ToolSchema] = (),
    ) -> int:
        """What is left of a window of 128,000 tokens, by the rough count."""
        return max(0, _WINDOW - self.count_tokens(messages, tools=tools))

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
    raise ValueError(f"the gateway sends text only, got a {message.type} with other content")


def _is_blank(message: LLMMessage) -> bool:
    return isinstance(message, AssistantMessage) and not _text(message).strip()


def _result(reply: Reply) -> CreateResult:
    return CreateResult(
        finish_reason=_FINISHES.get(reply.finish_reason, "unknown"),
        content=reply.text,
        usage=RequestUsage(reply.usage.prompt_tokens, reply.usage.completion_tokens),
        cached=reply.reused,
    )


def _tokens(replies: Sequence[Reply]) -> RequestUsage:
    return RequestUsage(
        sum(reply.usage.prompt_tokens for reply in replies),
        sum(reply.usage.completion_tokens for reply in replies),
    )
