"""A system behind HTTP: what it is sent, what it may answer, and what all can go wrong."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from recjury.agents import SystemContext, load_recommender
from recjury.agents.http_system import HttpSystem
from recjury.corpora import open_corpus
from recjury.errors import ConfigError, ProviderError, SystemFailed
from recjury.records import Conversation, Speaker, SystemReply, Turn
from tests.agents.conversations import talk
from tests.agents.http_system import Answer, Asked, Script, SystemServer, says

CORPUS = open_corpus("sample")
HEAT, RAN = CORPUS.catalogue.ref("Heat (1995)"), CORPUS.catalogue.ref("Ran (1985)")
FINE = {"text": "Try Heat.", "items": ["Heat (1995)"]}


class NoWaiting:
    """A clock whose waits are over at once; it keeps how long they would have been."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def now(self) -> float:
        return 0.0

    def wall(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


def run(
    work: Callable[[HttpSystem], Awaitable[Any]], url: str, *, version: str = "", **more: Any
) -> Any:
    async def opened() -> Any:
        keys = {"retries": 0, "timeout": 10, **more}
        entry = HttpSystem(name="mine", url=url, version=version, options={"depth": 2}, **keys)
        system = entry.prepared(SystemContext(CORPUS, list_length=3))
        system._client.clock = NoWaiting()
        try:
            return await work(system)
        finally:
            await system.aclose()

    return asyncio.run(opened())


def ask(script: Script, conversation: Conversation | None = None, **more: Any) -> SystemReply:
    with SystemServer(script) as server:
        reply: SystemReply = run(
            lambda s: s.respond(conversation or talk("Hello")), server.url, **more
        )
    return reply


def test_the_whole_conversation_is_sent_with_its_lists() -> None:
    conversation = Conversation(
        turns=(
            Turn(speaker=Speaker.USER, text="A café film, “please”"),
            Turn(speaker=Speaker.SYSTEM, text="Heat?", items=(HEAT,)),
            Turn(speaker=Speaker.USER, text="No."),
        )
    )
    with SystemServer(lambda asked: says(FINE)) as server:
        reply = run(lambda s: s.respond(conversation), server.url)
    assert (reply.text, reply.items) == ("Try Heat.", (HEAT,))
    assert [(asked.method, asked.path) for asked in server.asked] == [("POST", "/respond")]
    assert server.asked[0].body == {
        "conversation": [
            {"speaker": "user", "text": "A café film, “please”"},
            {"speaker": "system", "text": "Heat?", "items": [{"id": HEAT.id, "name": HEAT.name}]},
            {"speaker": "user", "text": "No."},
        ],
        "list_length": 3,
        "catalogue": "sample",
        "options": {"depth": 2},
    }


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        (["Heat (1995)", "ran (1985)"], [HEAT, RAN]),
        ([{"id": HEAT.id}, {"name": "Ran"}, {"id": None, "name": "Heat"}], [HEAT, RAN]),
        ([{"id": RAN.id, "name": "whatever"}], [RAN]),
        ([{"id": "no-such-id", "name": "Heat (1995)", "score": 0.5}], [HEAT]),
        (["Heat (1995)", "Ran (1985)", "Heat", "Ran"], [HEAT, RAN]),
        ([], []),
    ],
)
def test_items_are_names_or_ids(items: list[object], expected: list[object]) -> None:
    reply = ask(lambda asked: says({"text": "Well.", "items": items, "took": 3}))
    assert list(reply.items) == expected


def test_what_the_catalogue_does_not_have_is_kept_by_name_and_has_no_id() -> None:
    items = ["Zanzibar Nights (1931)", {"id": "x9"}, {"id": 99999, "name": "Also Nobody's"}]
    reply = ask(lambda asked: says({"text": "Well.", "items": items}))
    names = ["Zanzibar Nights (1931)", "item x9", "Also Nobody's"]
    assert [(item.id, item.name) for item in reply.items] == [(None, name) for name in names]


def test_a_list_is_cut_to_the_length_that_was_asked_for() -> None:
    names = [item.name for item in CORPUS.catalogue][:8]
    reply = ask(lambda asked: says({"text": "Well.", "items": [names[0], *names]}))
    assert [item.name for item in reply.items] == names[:3]


def test_an_answer_needs_no_items() -> None:
    assert ask(lambda asked: says({"text": " Which genre? "})) == SystemReply(text="Which genre?")


NASTY = {
    "HTTP 500: out of order": Answer(b"out of order", 500),
    "HTTP 404": Answer(b"", 404),
    "redirects are not followed": Answer(b"", 302, {"Location": "http://127.0.0.1:1/"}),
    "expected JSON, got <html>": Answer(b"<html>busy</html>"),
    "expected JSON, got nothing": Answer(b""),
    'expected JSON, got {"text"': Answer(b'{"text": "Well.", "items": [], "score": NaN}'),
    "expected JSON, got ": Answer(b'{"text": "caf\xe9", "items": []}'),
    "expected JSON, got [[": Answer(b"[" * 5_000),
    "expected JSON, got [[[": Answer(b"[" * 400 + b"]" * 400),
    "expected JSON, got {": Answer(b'{"text": "Well.", "items": [%s]}' % (b"[" * 400 + b"]" * 400)),
    "the connection broke (ClientPayloadError": Answer(
        b"no gzip", 200, {"Content-Encoding": "gzip"}
    ),
    "expected a JSON object, got [1]": says([1]),
    "expected a JSON object, got null": says(None),
    "`text` must be a string, got null": says({"items": ["Heat (1995)"]}),
    "`text` must be a string, got 3": says({"text": 3}),
    "the answer has no text": says({"text": " \n", "items": ["Heat (1995)"]}),
    "`items` must be a list, got null": says({"text": "Well.", "items": None}),
    '`items` must be a list, got "Heat': says({"text": "Well.", "items": "Heat (1995)"}),
    "`items[1]` must be a name, a number": says({"text": "Well.", "items": ["Heat", 1.5]}),
    "`items[0]` must be a name, a": says({"text": "Well.", "items": [True]}),
    "`items[0]` must be a name, ": says({"text": "Well.", "items": [{"id": ["x"]}]}),
    "`items[0]` must be a name,": says({"text": "Well.", "items": [""]}),
    "`items[0]` must be a name": says({"text": "Well.", "items": [{"title": "Heat"}]}),
    "items look like ids": says({"text": "Well.", "items": [HEAT.id, RAN.id]}),
    "larger than 1000000 bytes": Answer(b" " * 10_000_000),
    "larger than 1000000": Answer(b"{", announced=10_000_000),
    "the connection broke (ClientPayloadError)": Answer(b'{"text": "We', announced=500),
    "the connection broke (ServerDisconnectedError)": Answer(wrong="drop"),
}


@pytest.mark.parametrize("reason", NASTY)
def test_whatever_goes_wrong_fails_the_turn_with_one_line_of_reason(reason: str) -> None:
    with pytest.raises(SystemFailed) as caught:
        ask(lambda asked: NASTY[reason])
    assert str(caught.value).startswith("mine: ")
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)


def test_an_endless_answer_is_not_read_to_its_end() -> None:
    chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    endless = Answer(chunk * 40, headers={"Transfer-Encoding": "chunked"})
    with pytest.raises(SystemFailed, match="larger than 1000000 bytes"):
        ask(lambda asked: endless)


def test_who_hangs_is_given_up_in_time() -> None:
    with pytest.raises(SystemFailed, match=r"no answer within 0\.2 s"):
        ask(lambda asked: Answer(wrong="hang"), timeout=0.2)


def closed_port() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{listener.getsockname()[1]}/"


def test_who_is_not_there_is_tried_again_and_then_named() -> None:
    with pytest.raises(SystemFailed, match=r"cannot connect \(.*\) \(3 attempts\)"):
        run(lambda s: s.respond(talk("Hello")), closed_port(), retries=2)


@pytest.mark.parametrize(
    ("answer", "idempotent", "attempts"),
    [
        (Answer(b"", 503), False, 3),
        (Answer(b"", 429, {"Retry-After": "7"}), False, 3),
        (Answer(b"", 500), False, 1),
        (Answer(wrong="drop"), False, 1),
        (Answer(b"", 500), True, 3),
        (Answer(wrong="drop"), True, 3),
        (Answer(b"", 400), True, 1),
        (Answer(b"nonsense"), True, 1),
        (Answer(b" " * 2_000_000), True, 1),
    ],
)
def test_only_what_is_safe_to_send_again_is(
    answer: Answer, idempotent: bool, attempts: int
) -> None:
    with SystemServer(lambda asked: answer) as server, pytest.raises(SystemFailed):
        run(lambda s: s.respond(talk("Hello")), server.url, retries=2, idempotent=idempotent)
    assert len(server.asked) == attempts


def test_a_second_attempt_that_succeeds_is_an_answer() -> None:
    answers = [Answer(b"", 503), says(FINE)]
    assert ask(lambda asked: answers.pop(0), retries=1).text == "Try Heat."


def test_no_more_requests_are_open_than_allowed() -> None:
    async def many(system: HttpSystem) -> list[SystemReply]:
        return await asyncio.gather(*(system.respond(talk(f"Hello {n}")) for n in range(30)))

    with SystemServer(lambda asked: says(FINE)) as server:
        assert len(run(many, server.url, concurrency=3)) == 30
    assert 1 <= server.most_in_flight <= 3


def test_a_cookie_of_one_conversation_is_not_sent_with_the_next() -> None:
    async def twice(system: HttpSystem) -> None:
        await system.respond(talk("Hello"))
        await system.respond(talk("Hello"))

    body = says(FINE).body
    with SystemServer(lambda asked: Answer(body, headers={"Set-Cookie": "who=me"})) as server:
        run(twice, server.url)
    assert [asked.headers.get("Cookie") for asked in server.asked] == [None, None]


@pytest.mark.parametrize(
    ("more", "header", "value"),
    [({}, "Authorization", "Bearer s3cret-K"), ({"key_header": "X-Key"}, "X-Key", "s3cret-K")],
)
def test_the_key_is_sent_and_shown_nowhere(
    monkeypatch: pytest.MonkeyPatch, more: dict[str, str], header: str, value: str
) -> None:
    monkeypatch.setenv("MY_KEY", "s3cret-K")

    async def fail(system: HttpSystem) -> str:
        with pytest.raises(SystemFailed) as caught:
            await system.respond(talk("Hello"))
        return f"{caught.value} {system.settings}"

    def echo(asked: Asked) -> Answer:
        return Answer(f"no entry for {asked.headers[header]}".encode(), 403)

    with SystemServer(echo) as server:
        said = run(fail, server.url, key_env="MY_KEY", **more)
    assert server.asked[0].headers[header] == value
    assert "check the key in MY_KEY" in said
    assert "[key]" in said
    assert "s3cret" not in said


@pytest.mark.parametrize("key", ["", "two\nlines"])
def test_a_key_that_cannot_be_sent_is_refused(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("MY_KEY", key)
    with pytest.raises(ConfigError, match="MY_KEY") as caught:
        run(lambda s: s.respond(talk("Hello")), "http://127.0.0.1:1/", key_env="MY_KEY")
    assert "lines" not in str(caught.value)


def test_a_check_says_hello_or_asks_for_the_health_page() -> None:
    with SystemServer(lambda asked: says(FINE)) as server:
        run(lambda s: s.check(), server.url)
        run(lambda s: s.check(), server.url, health=server.url.replace("respond", "up"))
    assert [(asked.method, asked.path) for asked in server.asked] == [
        ("POST", "/respond"),
        ("GET", "/up"),
    ]


@pytest.mark.parametrize("health", [None, "http"])
def test_who_cannot_be_used_is_refused_in_one_line_before_anything_starts(
    health: str | None,
) -> None:
    url = closed_port()
    with pytest.raises(ProviderError, match=f"system mine at {url}: cannot connect") as caught:
        run(lambda s: s.check(), url, health=health and url)
    assert "\n" not in str(caught.value)


def test_the_kind_is_made_from_a_campaigns_options() -> None:
    options = {"url": "http://127.0.0.1:9/respond", "timeout": 5, "version": "7"}
    around = SystemContext(CORPUS, list_length=3)
    system = load_recommender("http", "mine", options, around)
    assert system.settings == {
        "kind": "http",
        "url": "http://127.0.0.1:9/respond",
        "version": "7",
        "options": {},
        "catalogue": CORPUS.catalogue.digest,
        "list_length": 3,
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "url: is missing"),
        ({"url": "ftp://x/"}, "http:// or https://"),
        ({"url": "http://me:pw@x/"}, "must not contain a key"),
        ({"url": "http://x/", "health": "/up"}, "http:// or https://"),
        ({"url": "http://x/", "concurrency": 0}, "concurrency"),
        ({"url": "http://x/", "timeout": 0}, "timeout"),
        ({"url": "http://x/", "retires": 2}, "retires: is not a known key"),
    ],
)
def test_mistakes_in_its_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load_recommender("http", "mine", options, SystemContext(CORPUS))
    assert "pw" not in str(caught.value)
