"""Addresses, keys and proxies, and what goes over the wire."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from recjury.errors import Stop, UserError
from recjury.llm import Model, open_model
from recjury.records import Message
from recjury.results.served import notes_on
from recjury.store import CallSize
from tests.llm.doubles import Memory, ask_of, gateway, in_turn, says
from tests.scripted_endpoint import Reply, ScriptedEndpoint, completion, prompt_of


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


async def hello(url: str, **model: Any) -> str | None:
    async with gateway(base_url=url, **model) as opened:
        return (await ask_of(opened).text("Hello.", model="main")).value


@pytest.mark.parametrize("path", ["", "/", "/chat/completions"])
def test_an_address_may_end_with_the_path(path: str) -> None:
    with in_turn(says("Hi.")) as server:
        assert asyncio.run(hello(server.url + path)) == "Hi."
        assert server.asked[0].path == "/v1/chat/completions"


@pytest.mark.parametrize(
    ("provider", "path"),
    [
        ("endpoint", "/openai/deployments/mine/chat/completions?api-version=2024-10-21"),
        ("endpoint", "/openai/deployments/mine?api-version=2024-10-21"),
        ("azure", "?api-version=2024-10-21"),
    ],
)
def test_an_address_of_azure_is_used_as_its_portal_shows_it(
    monkeypatch: pytest.MonkeyPatch, provider: str, path: str
) -> None:
    monkeypatch.setenv("AZURE_KEY", "abcdef")
    with in_turn(says("Hi.")) as server:
        url = server.url.removesuffix("/v1") + path
        model = {"provider": provider, "name": "mine", "key_env": "AZURE_KEY"}
        assert asyncio.run(hello(url, **model)) == "Hi."
        asked = server.asked[0]
        expected = "/openai/deployments/mine/chat/completions?api-version=2024-10-21"
        assert asked.path == expected
        assert asked.headers["api-key"] == "abcdef"
        assert "Authorization" not in asked.headers


def test_an_address_of_azure_needs_its_version() -> None:
    url = "https://x.openai.azure.com/openai/deployments/mine"
    with pytest.raises(UserError, match="api-version"):
        open_model(Model(name="m", base_url=url))


def test_a_key_is_sent_without_line_breaks_and_said_to_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MYKEY", "abcdef\r\n")
    with in_turn(says("Hi.")) as server:
        assert asyncio.run(hello(server.url, key_env="MYKEY")) == "Hi."
        assert server.asked[0].headers["Authorization"] == "Bearer abcdef"
    wrong = Reply({"error": {"message": "Incorrect API key: abcdef"}}, 401)
    with in_turn(wrong) as server, pytest.raises(Stop, match="MYKEY") as error:
        asyncio.run(hello(server.url, key_env="MYKEY"))
    assert "abcdef" not in str(error.value)


@pytest.mark.parametrize("key", ["“abc”", ""])
def test_a_key_that_cannot_be_one_is_one_line_with_its_variable(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("MYKEY", key)
    with pytest.raises(UserError, match="MYKEY"):
        open_model(Model(name="m", base_url="http://x/v1", key_env="MYKEY"))


@contextmanager
def proxy() -> Iterator[tuple[str, list[bytes]]]:
    """A proxy that answers for every server, and what it saw."""
    seen: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    seen.append(connection.recv(65536).split(b"\r\n")[0])
                    connection.sendall(b"HTTP/1.1 402 No\r\nContent-Length: 0\r\n\r\n")

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", seen
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    ("url", "variables", "seen"),
    [
        ("http://10.1.2.3:8000/v1", {"HTTP_PROXY": "PROXY", "NO_PROXY": "10.0.0.0/8"}, False),
        ("http://v.c.invalid/v1", {"HTTP_PROXY": "PROXY", "NO_PROXY": "*.c.invalid"}, False),
        ("http://llm.invalid/v1", {"HTTP_PROXY": "PROXY", "NO_PROXY": "::1,fe80::/10"}, True),
        ("http://llm.invalid/v1", {"ALL_PROXY": "PROXY"}, True),
    ],
)
def test_what_no_proxy_names_goes_past_the_proxy(
    monkeypatch: pytest.MonkeyPatch, url: str, variables: dict[str, str], seen: bool
) -> None:
    with proxy() as (address, requests):
        for name, value in variables.items():
            monkeypatch.setenv(name, value.replace("PROXY", address))
        with pytest.raises(Stop):
            asyncio.run(hello(url, timeout=0.2))
        assert bool(requests) is seen


def test_an_address_of_ones_own_is_reached_past_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "localhost,::1,[::1],::1/128,fe80::/10,127.0.0.0/8")
    with in_turn(says("Hi.")) as server:
        assert asyncio.run(hello(server.url)) == "Hi."


def test_a_socks_proxy_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model(name="m", base_url="http://llm.invalid/v1")
    for name in ("ALL_PROXY", "HTTP_PROXY"):
        monkeypatch.setenv(name, "socks5://127.0.0.1:9")
        with pytest.raises(UserError, match=name):
            open_model(model)
    monkeypatch.setenv("NO_PROXY", "llm.invalid")
    open_model(model)


def test_what_an_endpoint_does_not_take_can_be_named() -> None:
    async def run(url: str) -> None:
        refuses = ("temperature", "max_tokens", "n", "system")
        async with gateway(base_url=url, max_tokens=9, refuses=refuses, extra={"k": 1}) as opened:
            prompt = [Message("system", ("Be kind.",)), Message("user", ("Hi \ud83d.",))]
            await ask_of(opened).text(prompt, model="main")

    with in_turn(says("Hi.")) as server:
        asyncio.run(run(server.url))
        assert server.asked[0].body == {
            "model": "m",
            "messages": [{"role": "user", "content": "Be kind.\n\nHi ?."}],
            "k": 1,
        }


def test_prompts_that_the_endpoint_cut_are_noted() -> None:
    """It answers for what is left of a long prompt, and counts the tokens of that."""
    memory = Memory()

    def cuts(body: dict[str, Any]) -> Reply:
        tokens = len(prompt_of(body)) // 4
        return Reply(completion("Fine.", tokens=(tokens if tokens <= 4096 else 2050, 5)))

    async def run(url: str) -> None:
        async with gateway(base_url=url, memory=memory) as opened:
            for length in (400, 16_000, 67_000):
                await ask_of(opened).text("word " * (length // 5), model="main")

    with ScriptedEndpoint(cuts) as server:
        asyncio.run(run(server.url))
    lengths = {id_: len(memory.requests[id_].messages[0].text) for id_ in memory.kept}
    sizes = [
        CallSize(id_, "main", kept.served, kept.tokens_in, lengths[id_])
        for id_, kept in memory.kept.items()
    ]
    (note,) = notes_on(sizes, {"main": "m"})
    assert "1 of 3" in note
    assert "67,000" in note
    assert "2,050" in note


@pytest.mark.parametrize(
    ("name", "served", "notes"),
    [
        ("openai/gpt-4o", {"gpt-4o-2024-08-06"}, 0),
        ("llama3", {"llama3:latest"}, 0),
        ("gpt-4o", {""}, 0),
        ("gpt-4o", {"gpt-3.5-turbo"}, 1),
        ("gpt-4o", {"gpt-4o-a", "gpt-4o-b"}, 1),
    ],
)
def test_another_model_than_the_one_asked_is_noted(name: str, served: set[str], notes: int) -> None:
    sizes = [CallSize(each, "main", each, 25, 100) for each in served]
    assert len(notes_on(sizes, {"main": name})) == notes
