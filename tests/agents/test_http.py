"""Servers under test, connected by description, over real connections."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from recjury.agents import OUTSIDE
from recjury.agents.http import Http
from recjury.errors import Stop, SystemFailed, UserError
from recjury.records import Turn
from tests.agents.talk import loaded, talk_with

Answer = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class Server:
    """A server on a free port that notes what it is sent."""

    def __init__(self, *answers: Answer):
        self._answers = answers
        self.requests: list[tuple[str, str, Any]] = []
        self.headers: list[dict[str, str]] = []

    async def _respond(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.text()
        self.requests.append((request.method, request.path, json.loads(body) if body else None))
        self.headers.append(dict(request.headers))
        number = min(len(self.requests), len(self._answers)) - 1
        return await self._answers[number](request)

    def talk(self, settings: dict[str, Any], *says: str) -> list[Turn]:
        """The system's turns; `URL` in the settings is the server's address."""

        async def work() -> list[Turn]:
            runner = web.ServerRunner(web.Server(self._respond))
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            values = json.loads(json.dumps({"kind": "http", "url": "URL/chat"} | settings))
            system = loaded(json.loads(json.dumps(values).replace("URL", url)))
            try:
                return await talk_with(system, says or ["Hello."])
            finally:
                await system.aclose()
                await runner.cleanup()

        return asyncio.run(work())


def says(value: object, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        text = value if isinstance(value, str) else json.dumps(value)
        return web.Response(text=text, status=status, headers=headers)

    return answer


def streams(*chunks: str | bytes, breaks_off: bool = False) -> Answer:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for chunk in chunks:
            await response.write(chunk.encode() if isinstance(chunk, str) else chunk)
            await asyncio.sleep(0)
        if breaks_off:
            assert request.transport is not None
            request.transport.abort()
        return response

    return answer


def names(turn: Turn) -> list[str]:
    return [item.name for item in turn.items]


def test_what_is_sent_without_a_description() -> None:
    server = Server(says({"text": "Try Heat (1995)."}))
    first, _ = server.talk({}, "Hi.", "Others?")
    assert first.text == "Try Heat (1995)."
    assert names(first) == ["Heat (1995)"]
    (_, _, opening), (_, _, later) = server.requests
    assert opening["messages"] == [{"role": "user", "content": "Hi."}]
    assert [message["role"] for message in later["messages"]] == ["user", "assistant", "user"]
    assert (opening["turn"], later["turn"]) == (1, 2)
    assert opening["id"] == later["id"]


def test_a_description_of_request_and_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "sesame-7")
    reply = {
        "message": {"content": "Look at these."},
        "cards": [{"sku": 205, "price": 3}, {"sku": "f001", "price": 4}],
        "tools": [{"name": "search"}],
    }
    server = Server(says(reply))
    settings = {
        "method": "PUT",
        "headers": {"Authorization": "Bearer ${SHOP_KEY}"},
        "body": {
            "q": "{{ message }}",
            "n": ["{{ turns | length }}"],
            "in": "{{ domain }} {{ turn }}",
            "last": "{{ turns[-1] }}",
        },
        "text": "message.content",
        "items": "cards[].sku",
        "events": {"tool call": "tools", "card": "cards"},
    }
    (turn,) = server.talk(settings, "12")
    assert server.requests[0][0] == "PUT"
    assert server.headers[0]["Authorization"] == "Bearer sesame-7"
    body = server.requests[0][2]
    assert (body["q"], body["n"], body["in"]) == ("12", [1], "film 1")
    assert body["last"]["text"] == "12"
    assert names(turn) == ["205", "M (1931)"]
    assert [(event.kind, event.value) for event in turn.events] == [
        ("tool call", {"name": "search"}),
        ("card", reply["cards"][0]),  # type: ignore[index]
        ("card", reply["cards"][1]),  # type: ignore[index]
    ]


def test_server_sent_events() -> None:
    server = Server(
        streams(
            "\ufeff: a comment\r\n\r\n",
            'event: delta\r\ndata: {"text": "Try \\ud83d"}\r\n\r\ndata: {"text":',
            '\ndata: "\\ude00 "}\n\nid: 7\nevent: tool\ndata: {"name": "search"}\n\n',
            'data: {"text": "He',
            'at (1995), \u2028 caf\u00e9"}\n\n'.encode()[:-5],
            'é"}\n\n'.encode()[1:],
            'data: {"items": ["Heat (1995)"]}\n\ndata: [DONE]\n\ndata: {"text": "no more"}\n\n',
        )
    )
    settings = {"stream": "sse", "items": "items", "events": {"tool": "event == 'tool' && @"}}
    (turn,) = server.talk(settings)
    assert turn.text == "Try 😀 Heat (1995), \u2028 café"
    assert names(turn) == ["Heat (1995)"]
    assert [event.value for event in turn.events] == [{"event": "tool", "name": "search"}]


def test_json_lines() -> None:
    server = Server(streams('{"text": "Try "}\n\n{"text": "He', 'at (1995)."}'))
    (turn,) = server.talk({"stream": "lines"})
    assert turn.text == "Try Heat (1995)."
    assert names(turn) == ["Heat (1995)"]


def test_cards_alone_are_an_answer() -> None:
    (turn,) = Server(says({"text": None, "cards": ["Heat (1995)"]})).talk({"items": "cards"})
    assert (turn.text, names(turn), turn.failure) == ("", ["Heat (1995)"], "")


def test_a_session_is_opened_and_closed() -> None:
    server = Server(says({"data": {"id": "s 1"}}), says({"text": "Hi."}), says("gone"))
    settings = {
        "url": "URL/{{ session }}/say",
        "start": {"url": "URL/sessions", "body": {"for": "{{ domain }}"}, "session": "data.id"},
        "end": {"url": "URL/sessions/{{ session }}", "method": "DELETE"},
    }
    server.talk(settings)
    assert [(method, path) for method, path, _ in server.requests] == [
        ("POST", "/sessions"),
        ("POST", "/s 1/say"),
        ("DELETE", "/sessions/s 1"),
    ]
    assert server.requests[0][2] == {"for": "film"}


def test_conversations_share_no_cookies() -> None:
    server = Server(says({"text": "Hi."}, headers={"Set-Cookie": "who=me"}))
    server.talk({}, "One.", "Two.")
    assert not any("Cookie" in headers for headers in server.headers)


ENDLESS = streams(*[b'{"text": "more and more and more"}\n' * 100] * 100)


@pytest.mark.parametrize(
    ("answer", "settings", "words"),
    [
        (says("no  such\npage", 404), {}, "HTTP 404: no such page"),
        (says("", 307, {"Location": "http://elsewhere/"}), {}, "elsewhere"),
        (says("<html>"), {}, "expected JSON, got: <html>"),
        (says(""), {}, "expected JSON"),
        (says({"reply": "Hi."}), {}, "nothing"),
        (says({"text": {"de": "Hi."}}), {}, "`text` found dict"),
        (says({"error": {"message": "busy"}}), {}, "busy"),
        (says({"text": "Hi.", "items": {"sku": 3}}), {"items": "items"}, "sku"),
        (says({"text": 3}), {"text": "length(text)"}, "length"),
        (says({"text": "x" * 200_000}), {}, "100,000 characters"),
        (says("x" * 5_000_000), {}, "4,000,000 bytes"),
        (ENDLESS, {"stream": "lines"}, "100,000 characters"),
        (streams('data: {"text": "Try '), {"stream": "sse"}, "expected JSON"),
        (streams('{"text": "Try "}\n', breaks_off=True), {"stream": "lines"}, "broke off"),
        (says({}), {"url": "http://127.0.0.1:1/chat"}, "no connection to http://127.0.0.1:1"),
        (says({}), {"url": "http://a b/"}, "a b"),
        (says({}), {"body": "{{ turns[9].text }}"}, "turns"),
    ],
)
def test_a_failure_is_one_line_of_the_turn(
    answer: Answer, settings: dict[str, Any], words: str
) -> None:
    (turn,) = Server(answer).talk(settings)
    assert words in turn.failure
    assert "\n" not in turn.failure
    assert not turn.text


def test_keys_are_hidden_in_what_a_server_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "sesame-7")
    settings = {"headers": {"X-Key": "${SHOP_KEY}"}}
    (turn,) = Server(says("the key sesame-7 is not known", 401)).talk(settings)
    assert "401" in turn.failure
    assert "sesame" not in turn.failure


def test_a_session_that_is_refused() -> None:
    with pytest.raises(SystemFailed, match="503"):
        Server(says("full", 503)).talk({"start": {"url": "URL/sessions"}})


def test_the_server_is_checked_before_the_first_conversation() -> None:
    server = Server(says("up"), says({"text": "Hi."}))
    server.talk({"check": "URL/health"})
    assert [(method, path) for method, path, _ in server.requests] == [
        ("GET", "/health"),
        ("POST", "/chat"),
    ]
    down = Server(says("starting", 503))
    with pytest.raises(Stop, match=r"health.*starting"):
        down.talk({"check": "URL/health"})
    assert len(down.requests) == 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"url": "shop.example/chat"}, "http://"),
        ({"body": {"m": ["{{ mesages }}"]}}, "m.0.*did you mean messages"),
        ({"body": {"m": "{{ messages"}}, "body: m: .*line 1"),
        ({"text": "message..content"}, "text: .*character 9"),
        ({"items": "cards[*.sku"}, "items: .*JMESPath"),
        ({"events": {"card": "a b"}}, "events.card"),
        ({"stream": "websocket"}, "stream"),
        ({"start": {"url": "http://x", "sesion": "id"}}, "sesion"),
        ({"headers": {"X": "${NO_SUCH_KEY}"}}, "NO_SUCH_KEY"),
        ({"method": "SEND"}, "method"),
    ],
)
def test_a_mistake_in_the_description_is_one_line(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words) as raised:
        loaded({"kind": "http", "url": "http://shop.example/chat"} | settings)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("settings", "links"), [({}, True), ({"items": "cards"}, False), ({"link": False}, False)]
)
def test_texts_are_searched_if_no_list_is_described(settings: dict[str, Any], links: bool) -> None:
    described = Http.model_validate({"url": "http://shop.example/chat"} | settings)
    assert described.links is links


def test_a_dry_run_needs_no_key() -> None:
    settings = {"kind": "http", "url": "http://shop", "headers": {"X": "${NO_SUCH_KEY}"}}
    assert loaded(settings, stand_ins=OUTSIDE).name == "http"
