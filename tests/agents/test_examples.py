"""The examples of systems, run as their readers would run them."""

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recjury.agents import LoadedSystem
from recjury.files import YamlFile
from recjury.records import Turn
from tests.agents.talk import loaded, run, talk, talk_with

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def port() -> Iterator[int]:
    """The port of a streaming server that has just been started."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
    command = [sys.executable, "-u", str(EXAMPLES / "streaming_server.py"), str(number)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert "Running" in server.stdout.readline()
        yield number
        server.terminate()


def systems_of(file: str, port: int = 8080) -> list[Any]:
    values: list[Any] = YamlFile(EXAMPLES / file).values["systems"]
    named = [{"kind": each} if isinstance(each, str) else each for each in values]
    result: list[Any] = json.loads(json.dumps(named).replace(":8080/", f":{port}/"))
    return result


def test_a_streaming_server_with_sessions_cards_and_tool_calls(port: int) -> None:
    (settings,) = systems_of("streaming_server.yaml", port)
    first, second = talk(settings, "Something scary.", "Seen it.")
    assert first.text.startswith("You may like The Thing (1982) or Alien (1979).")
    assert [item.name for item in first.items] == ["The Thing (1982)", "Alien (1979)"]
    assert [event.kind for event in first.events] == ["tool call", "card", "card"]
    assert first.events[0].value["genre"] == "horror"
    assert [item.name for item in second.items] == ["Heat (1995)", "Fargo (1996)"]


def test_the_server_keeps_two_open_conversations_apart(port: int) -> None:
    (settings,) = systems_of("streaming_server.yaml", port)

    async def both(system: LoadedSystem) -> list[list[Turn]]:
        return await asyncio.gather(*(talk_with(system, ["Hi.", "More."]) for _ in range(2)))

    one, other = run(settings, both)
    assert one == other
    assert one[0].items != one[1].items


def test_an_own_system_in_five_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    own, popular = systems_of("own_system.yaml")
    first, second = talk(own, "Something with cops.", "Seen it.")
    assert [item.name for item in first.items] == ["Heat (1995)"]
    assert [item.name for item in second.items] == ["Ran (1985)"]
    assert loaded(own).name == "recommend"
    assert loaded(popular).name == "popular"


def test_the_systems_of_the_example_with_a_model() -> None:
    assert [loaded(each).name for each in systems_of("model.yaml")] == [
        "popular",
        "chatcrs",
        "chatcrs-from-text",
    ]
