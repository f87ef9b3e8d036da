"""The gateway behind AutoGen's chat client: parts, reuse, cancellation, and what is refused."""

import asyncio

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import TextMessage
from autogen_core import CancellationToken, Image
from autogen_core.models import (
    AssistantMessage,
    CreateResult,
    LLMMessage,
    SystemMessage,
    UserMessage,
)
from autogen_core.tools import FunctionTool
from pydantic import BaseModel

from recjury.errors import CallFailed
from recjury.llm import Completion, EndpointSpec, Gateway, Retryable, ScriptedModel
from recjury.llm.autogen_client import GatewayClient
from recjury.llm.scripted import Line
from recjury.records import CallRecord, ChatRequest, Message, Reply

SPEC = EndpointSpec(base_url="http://127.0.0.1:9/v1", name="scripted", retries=0)


class MemoryRecorder:
    def __init__(self) -> None:
        self.calls: dict[str, CallRecord] = {}

    async def recall(self, identity: str) -> Reply | None:
        kept = self.calls.get(identity)
        return None if kept is None else kept.reply

    async def record(self, call: CallRecord) -> None:
        self.calls[call.identity] = call


def client_of(*lines: Line) -> tuple[GatewayClient, ScriptedModel]:
    model = ScriptedModel(lines)
    gateway = Gateway({"m": SPEC}, MemoryRecorder(), providers={"m": model})
    return GatewayClient(gateway, "m", purpose="test"), model


def user(text: str) -> UserMessage:
    return UserMessage(content=text, source="user")


def test_an_agent_speaks_through_the_gateway_and_parts_survive() -> None:
    client, model = client_of("Hello.", "Again.")
    system = Message("system", ("You are ", "kind."))
    question = Message("user", ("Say ", "hello."))

    async def talk() -> list[str]:
        agent = AssistantAgent("a", client, system_message=client.register(system))
        said = []
        for text in (client.register(question), "And again."):
            message = TextMessage(content=text, source="user")
            response = await agent.on_messages([message], CancellationToken())
            assert isinstance(response.chat_message, TextMessage)
            said.append(response.chat_message.content)
        return said

    assert asyncio.run(talk()) == ["Hello.", "Again."]
    first, second = model.requests
    assert first.messages == (system, question)
    assert second.messages[:2] == (system, question)
    assert second.messages[2:] == (
        Message("assistant", ("Hello.",)),
        Message("user", ("And again.",)),
    )
    assert (first.model, first.purpose) == ("m", "test")
    assert [reply.text for reply in client.replies] == ["Hello.", "Again."]


def test_usage_tells_sent_from_reused() -> None:
    client, _ = client_of(Completion("Hi.", prompt_tokens=7, completion_tokens=2))

    async def twice() -> list[CreateResult]:
        return [await client.create([user("Hi")]) for _ in range(2)]

    results = asyncio.run(twice())
    assert [result.cached for result in results] == [False, True]
    assert (client.actual_usage().prompt_tokens, client.total_usage().prompt_tokens) == (7, 14)
    assert client.total_usage().completion_tokens == 4


def test_finish_reasons_are_passed_on() -> None:
    client, _ = client_of(Completion("Hi", finish_reason="length"), Completion("x", "odd"))

    async def reasons() -> list[str]:
        return [(await client.create([user(text)])).finish_reason for text in "ab"]

    assert asyncio.run(reasons()) == ["length", "unknown"]


def test_a_stream_is_the_text_and_then_the_result() -> None:
    client, _ = client_of("Hello.")

    async def streamed() -> list[str | CreateResult]:
        return [chunk async for chunk in client.create_stream([user("Hi")])]

    text, result = asyncio.run(streamed())
    assert text == "Hello."
    assert isinstance(result, CreateResult)


def test_a_cancelled_token_cancels_the_call() -> None:
    class Waiting:
        def __init__(self) -> None:
            self.cancelled = False

        async def complete(self, request: ChatRequest) -> Reply:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled = True
                raise
            raise AssertionError

    waiting = Waiting()
    client = GatewayClient(waiting, "m", purpose="test")
    token = CancellationToken()

    async def cancelled() -> None:
        call = asyncio.ensure_future(client.create([user("Hi")], cancellation_token=token))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        token.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(cancelled())
    assert waiting.cancelled
    assert client.replies == []


def test_a_failed_call_reaches_whoever_asked_the_agent() -> None:
    client, _ = client_of(Retryable("HTTP 500"))

    async def talk() -> None:
        agent = AssistantAgent("a", client)
        await agent.on_messages([TextMessage(content="Hi", source="user")], CancellationToken())

    with pytest.raises(CallFailed, match="HTTP 500"):
        asyncio.run(talk())


def test_blank_assistant_messages_are_left_out() -> None:
    client, model = client_of("Yes.")
    blank = AssistantMessage(content=" ", source="a")
    messages: list[LLMMessage] = [user("Hi"), blank, user("Well?")]
    asyncio.run(client.create(messages))
    assert [message.text for message in model.requests[0].messages] == ["Hi", "Well?"]


def test_a_model_as_output_asks_for_its_schema() -> None:
    class Shape(BaseModel):
        score: int

    client, model = client_of("{}", "{}")
    asyncio.run(client.create([user("Hi")], json_output=Shape))
    assert model.requests[0].schema == Shape.model_json_schema()


def test_tools_and_images_are_refused() -> None:
    def add(a: int) -> int:
        return a

    client, _ = client_of()
    with pytest.raises(ValueError, match="cannot send tools"):
        asyncio.run(client.create([user("Hi")], tools=[FunctionTool(add, "adds")]))
    pixel = Image.from_base64(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
        "rkJggg=="
    )
    with pytest.raises(ValueError, match="text only"):
        asyncio.run(client.create([UserMessage(content=[pixel], source="u")]))


def test_tokens_are_counted_without_a_download() -> None:
    client, _ = client_of()
    messages: list[LLMMessage] = [SystemMessage(content="a" * 40), user("b" * 3)]
    assert client.count_tokens(messages) == 11
    assert client.remaining_tokens(messages) == 128_000 - 11
    assert client.model_info["function_calling"] is False
