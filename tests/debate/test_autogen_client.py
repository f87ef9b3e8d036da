"""The gateway behind AutoGen's chat client: parts, failures, and what is refused."""

import asyncio

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import TextMessage
from autogen_core import CancellationToken, Image
from autogen_core.models import (
    UserMessage,
)
from autogen_core.tools import FunctionTool

from recjury.debate.autogen_client import GatewayClient
from recjury.errors import CallFailed
from recjury.llm import EndpointSpec, Gateway, Retryable, ScriptedModel
from recjury.llm.scripted import Line
from recjury.records import Message
from tests.llm.doubles import MemoryRecorder

SPEC = EndpointSpec(base_url="http://127.0.0.1:9/v1", name="scripted", retries=0)


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


def test_a_failed_call_reaches_whoever_asked_the_agent() -> None:
    client, _ = client_of(Retryable("HTTP 500"))

    async def talk() -> None:
        agent = AssistantAgent("a", client)
        await agent.on_messages([TextMessage(content="Hi", source="user")], CancellationToken())

    with pytest.raises(CallFailed, match="HTTP 500"):
        asyncio.run(talk())


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
