"""What goes wrong at an endpoint is retried, given up, or told in one line; never a reply."""

import asyncio
import re
from collections.abc import Iterable

import pytest

from recjury.errors import CallFailed, ConfigError, ProviderError
from recjury.llm import Backoff, EndpointSpec, Gateway, Retryable
from recjury.llm.openai_format import read_completion
from recjury.records import Reply
from tests.endpoint import Answer, Fault, Script, ScriptedEndpoint, completion
from tests.llm.doubles import FakeClock, MemoryRecorder, request, spec_of

KEY = "sk-very-secret-0123456789"
CUT_JSON = '{"choices": [{"message": {"content": "<rating>3'


def in_turn(answers: Iterable[Answer]) -> Script:
    """A script that gives these answers, one after the other."""
    rest = iter(answers)
    return lambda body: next(rest)


def complete(spec: EndpointSpec, clock: FakeClock | None = None) -> tuple[Reply, Gateway]:
    """One call, with time that passes at once and no chance in the waits."""
    gateway = Gateway(
        {"m": spec},
        MemoryRecorder(),
        clock=clock or FakeClock(),
        backoff=Backoff(first=1.0, longest=8.0, chance=lambda: 1.0),
    )

    async def run() -> Reply:
        async with gateway:
            return await gateway.complete(request())

    return asyncio.run(run()), gateway


RETRIED = [
    *(Fault("status", status=status) for status in (408, 409, 425, 429, 500, 502, 503, 504, 529)),
    Fault("drop"),
    Fault("cut"),
    Fault("hang"),
    Fault("raw", text=CUT_JSON),
    Fault("raw", text=""),
    Fault("raw", text="<html>busy</html>"),
    Fault("raw", text="[]"),
    Fault("raw", text="null"),
    Fault("raw", text='{"error": {"message": "overloaded"}}'),
    Fault("raw", text='{"choices": []}'),
    Fault("raw", text='{"choices": [{"message": null}]}'),
    Fault("raw", text='{"choices": [{"message": {"content": 3}}]}'),
]


@pytest.mark.parametrize("fault", RETRIED, ids=lambda f: f"{f.kind}-{f.status}-{f.text[:12]}")
def test_a_passing_fault_is_retried(fault: Fault) -> None:
    with ScriptedEndpoint(in_turn([fault, "fine"])) as endpoint:
        timeout = 0.3 if fault.kind == "hang" else 20
        reply, gateway = complete(spec_of(endpoint, timeout=timeout))
    assert (reply.text, reply.attempts, gateway.usage.retried) == ("fine", 2, 1)


@pytest.mark.parametrize("fault", [RETRIED[4], RETRIED[9], RETRIED[10], RETRIED[12]])
def test_one_that_stays_fails_the_call_after_its_retries(fault: Fault) -> None:
    with ScriptedEndpoint(lambda body: fault) as endpoint:
        with pytest.raises(CallFailed, match=r"^m: .* \(3 attempts\)$"):
            complete(spec_of(endpoint, retries=2))
        assert len(endpoint.bodies) == 3


def test_a_call_to_nowhere_fails_after_its_retries() -> None:
    given = {"base_url": "http://127.0.0.1:1/v1", "name": "x", "retries": 1}
    with pytest.raises(CallFailed, match=r"cannot connect .* \(2 attempts\)"):
        complete(EndpointSpec.model_validate({**given, "outage_patience": 0}))


def test_waits_grow_and_do_not_grow_for_ever() -> None:
    clock = FakeClock()
    with (
        ScriptedEndpoint(lambda body: Fault("status")) as endpoint,
        pytest.raises(CallFailed, match="HTTP 500"),
    ):
        complete(spec_of(endpoint, retries=6, outage_patience=0), clock)
    assert clock.waits == [1, 2, 4, 8, 8, 8]


def test_jitter_spreads_a_wait_over_its_upper_half() -> None:
    chances = iter([0.0, 0.5, 1.0])
    backoff = Backoff(first=2.0, chance=lambda: next(chances))
    assert [backoff.wait(1) for _ in range(3)] == [1.0, 1.5, 2.0]


def test_retry_after_is_kept() -> None:
    clock = FakeClock()
    busy = Fault("status", status=429, retry_after="17")
    with ScriptedEndpoint(in_turn([busy, "fine"])) as endpoint:
        reply, _ = complete(spec_of(endpoint), clock)
    assert reply.text == "fine"
    assert clock.time == 1017.0


BUSY = Fault("status", status=429)


def test_being_turned_away_burns_no_attempt() -> None:
    """429 says that the endpoint works: only what fails counts against `retries`."""
    clock = FakeClock()
    answers: list[Answer] = [*[BUSY] * 7, Fault("status", status=500), BUSY, "fine"]
    with ScriptedEndpoint(in_turn(answers)) as endpoint:
        reply, gateway = complete(spec_of(endpoint, retries=1), clock)
    assert (reply.text, reply.attempts, gateway.usage.failed) == ("fine", 10, 0)
    assert clock.waits == [1, 2, 4, 8, 8, 8, 8, 1, 8]


@pytest.mark.parametrize("asked", ["", "9", "5000"])
def test_a_call_is_turned_away_for_so_long_and_no_longer(asked: str) -> None:
    clock = FakeClock()
    busy = Fault("status", status=429, text="slow down", retry_after=asked)
    with ScriptedEndpoint(lambda body: busy) as endpoint:
        with pytest.raises(CallFailed, match=r"m: HTTP 429: slow down \(\d+ attempts; .* 20 s: "):
            complete(spec_of(endpoint, retries=0, patience=20), clock)
        waits = {"": [1, 2, 4, 8, 5], "9": [9, 9, 2], "5000": [20]}[asked]
        assert clock.time == 1020.0
        assert [wait for wait in clock.waits if wait] == waits
        assert len(endpoint.bodies) == len(waits) + 1


def test_an_endpoint_that_says_when_to_come_again_is_not_kept_waiting_longer() -> None:
    clock = FakeClock()
    busy = Fault("status", status=429, retry_after="2")
    with ScriptedEndpoint(in_turn([*[busy] * 9, "fine"])) as endpoint:
        reply, _ = complete(spec_of(endpoint, retries=0), clock)
    assert (reply.attempts, clock.time) == (10, 1018.0)


@pytest.mark.parametrize("asked", ["0", "0.5"])
def test_an_endpoint_that_says_at_once_is_asked_less_and_less_often(asked: str) -> None:
    clock = FakeClock()
    busy = Fault("status", status=429, retry_after=asked)
    with ScriptedEndpoint(in_turn([*[busy] * 5, "fine"])) as endpoint:
        complete(spec_of(endpoint, retries=0), clock)
    assert [wait for wait in clock.waits if wait] == [1, 2, 4, 8, 8]


@pytest.mark.parametrize(
    ("patience", "waits"), [(5, [5, 2, 4]), (0, [1, 2, 4]), (1000, [600, 400, 4])]
)
def test_no_failure_can_ask_for_more_than_the_patience(patience: int, waits: list[int]) -> None:
    clock = FakeClock()
    down = Fault("status", status=503, retry_after="600")
    with ScriptedEndpoint(lambda body: down) as endpoint:
        with pytest.raises(CallFailed, match="503") as caught:
            complete(spec_of(endpoint, retries=3, patience=patience, outage_patience=0), clock)
        assert not caught.value.permanent
        assert len(endpoint.bodies) == 4
    assert [wait for wait in clock.waits if wait] == waits


def test_without_patience_one_refusal_is_enough() -> None:
    with ScriptedEndpoint(lambda body: BUSY) as endpoint:
        with pytest.raises(CallFailed, match=r"429 \(1 attempt; "):
            complete(spec_of(endpoint, retries=5, patience=0))
        assert len(endpoint.bodies) == 1


@pytest.mark.parametrize(
    "asked",
    [
        "soon",
        "Wed, 21 Oct 2015 07:28:00 GMT",
        "-3",
        "Wed, 21 Oct 2015 07:28:00 +9999999999999999",
    ],
)
def test_a_retry_after_that_says_nothing_falls_back_to_the_usual_wait(asked: str) -> None:
    clock = FakeClock()
    with ScriptedEndpoint(in_turn([Fault("status", 503, "", asked), "fine"])) as endpoint:
        complete(spec_of(endpoint), clock)
    assert clock.time == 1001.0


def test_a_pause_asked_of_one_call_is_kept_by_all_calls_to_the_model() -> None:
    clock = FakeClock()
    sent: list[float] = []
    busy = iter([Fault("status", status=429, retry_after="30")])

    def script(body: object) -> Answer:
        sent.append(clock.time)
        return next(busy, None) or "fine"

    async def run(spec: EndpointSpec) -> None:
        async with Gateway({"m": spec}, MemoryRecorder(), concurrency=1, clock=clock) as gateway:
            await asyncio.gather(*(gateway.complete(request(str(n))) for n in range(4)))

    with ScriptedEndpoint(script) as endpoint:
        asyncio.run(run(spec_of(endpoint)))
    assert sent[0] == 1000.0
    assert min(sent[1:]) >= 1030.0


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_request_the_endpoint_cannot_take_fails_at_once(status: int) -> None:
    with ScriptedEndpoint(lambda body: Fault("status", status, "context too long")) as endpoint:
        with pytest.raises(CallFailed, match=f"HTTP {status}: context too long") as caught:
            complete(spec_of(endpoint))
        assert caught.value.permanent
        assert len(endpoint.bodies) == 1


def test_a_lone_surrogate_fails_its_call_and_nothing_else() -> None:
    async def run(spec: EndpointSpec) -> None:
        async with Gateway({"m": spec}, MemoryRecorder()) as gateway:
            with pytest.raises(CallFailed, match="cannot be sent") as caught:
                await gateway.complete(request("\ud83d"))
            assert caught.value.permanent
            assert (await gateway.complete(request())).text == "fine"

    with ScriptedEndpoint(lambda body: "fine") as endpoint:
        asyncio.run(run(spec_of(endpoint)))


@pytest.mark.parametrize(
    ("said", "text", "finish"),
    [
        (completion(""), "", "stop"),
        (completion(None), "", "stop"),
        (completion("half a", finish_reason="length"), "half a", "length"),
        ({"choices": [{"message": {"content": [{"type": "text", "text": "parts"}]}}]}, "parts", ""),
        ({"choices": [{"message": {}}], "usage": None, "model": None}, "", ""),
    ],
)
def test_an_odd_completion_is_a_finished_reply(
    said: dict[str, object], text: str, finish: str
) -> None:
    with ScriptedEndpoint(lambda body: said) as endpoint:
        reply, gateway = complete(spec_of(endpoint))
    assert (reply.text, reply.finish_reason, reply.model) == (text, finish, "scripted")
    assert gateway.usage.retried == 0


def check(spec: EndpointSpec) -> None:
    """The preflight of one model."""

    async def run() -> None:
        async with Gateway({"m": spec}, MemoryRecorder()) as gateway:
            await gateway.check()

    asyncio.run(run())


def one_line(error: BaseException, *expected: str) -> str:
    """The message, which must be one line that says all of `expected` and not the key."""
    message = str(error)
    assert "\n" not in message
    assert KEY not in message
    for part in expected:
        assert part in message
    return message


def test_a_wrong_key_is_refused_before_and_during_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    with ScriptedEndpoint(lambda body: "x", key="another") as endpoint:
        spec = spec_of(endpoint, key_env="TEST_KEY")
        for attempt in (check, complete):
            with pytest.raises(ProviderError) as caught:
                attempt(spec)
            one_line(caught.value, endpoint.url, "scripted", "401", "[key]", "TEST_KEY")


def test_the_right_key_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", f" {KEY}\n")
    with ScriptedEndpoint(lambda body: "x", key=KEY) as endpoint:
        spec = spec_of(endpoint, key_env="TEST_KEY")
        check(spec)
        assert complete(spec)[0].text == "x"


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_key_that_is_not_set_is_named(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEST_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("TEST_KEY", value)
    spec = EndpointSpec(base_url="http://127.0.0.1:1/v1", name="x", key_env="TEST_KEY")
    for attempt in (check, complete):
        with pytest.raises(ConfigError) as caught:
            attempt(spec)
        one_line(caught.value, "TEST_KEY", "not set")


def test_a_model_that_is_not_there_is_refused_before_and_during_the_run() -> None:
    with ScriptedEndpoint(lambda body: "x", models=("other",)) as endpoint:
        for attempt in (check, complete):
            with pytest.raises(ProviderError) as caught:
                attempt(spec_of(endpoint))
            one_line(caught.value, endpoint.url, "scripted", "404", "does not exist")


def test_an_endpoint_that_is_not_there_is_refused() -> None:
    url = "http://127.0.0.1:1/v1"
    with pytest.raises(ProviderError) as caught:
        check(EndpointSpec.model_validate({"base_url": url, "name": "x"}))
    one_line(caught.value, url, "model x", "cannot connect", "server runs")


@pytest.mark.parametrize("status", [401, 403, 402])
def test_a_refusal_in_the_middle_of_a_run_stops_it(status: int) -> None:
    with ScriptedEndpoint(lambda body: Fault("status", status, f"bad {KEY}")) as endpoint:
        with pytest.raises(ProviderError, match=f"HTTP {status}"):
            complete(spec_of(endpoint))
        assert len(endpoint.bodies) == 1


def test_no_error_shows_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    faults = [
        Fault("status", 400, f"you sent {KEY}"),
        Fault("status", 500, f"you sent {KEY}"),
        Fault("raw", text=f"you sent {KEY}"),
        Fault("raw", text=f'{{"sent": "{KEY}"}}'),
    ]
    for fault in faults:
        with ScriptedEndpoint(in_turn([fault])) as endpoint:
            spec = spec_of(endpoint, key_env="TEST_KEY", retries=0)
            with pytest.raises(CallFailed) as caught:
                complete(spec)
            one_line(caught.value)
            assert caught.value.__cause__ is None


def test_a_model_that_the_list_leaves_out_but_the_endpoint_serves_passes() -> None:
    with ScriptedEndpoint(lambda body: "x", listed=()) as endpoint:
        check(spec_of(endpoint))
        assert [body["max_tokens"] for body in endpoint.checks] == [16]


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:80/v1", "ftp://host/v1", "http:///v1", f"http://user:{KEY}@host/v1"]
)
def test_what_is_no_plain_web_address_is_no_base_url(url: str) -> None:
    with pytest.raises(ValueError, match="base_url") as caught:
        EndpointSpec(base_url=url, name="x")
    assert re.search("must|http", str(caught.value))


def test_no_part_of_the_key_stays_where_a_message_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    for filler in range(170, 205):
        for kind, status in (("status", 400), ("raw", 200)):
            fault = Fault("status" if kind == "status" else "raw", status, "x" * filler + KEY)
            with ScriptedEndpoint(in_turn([fault])) as endpoint:
                spec = spec_of(endpoint, key_env="TEST_KEY", retries=0)
                with pytest.raises(CallFailed) as caught:
                    complete(spec)
            assert KEY[:6] not in str(caught.value)


def test_a_key_with_odd_characters_is_named_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", f"{KEY}\n“{KEY}”")
    with pytest.raises(ConfigError) as caught:
        check(EndpointSpec(base_url="http://127.0.0.1:1/v1", name="x", key_env="TEST_KEY"))
    one_line(caught.value, "TEST_KEY", "no key has")


@pytest.mark.parametrize(
    "text",
    [
        '{"data": []}',
        '{"data": [{"index": 0, "embedding": [1.0]}]}',
        '{"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]}',
        '{"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]}',
        '{"data": [{"index": 0, "embedding": [1e300]}, {"index": 1, "embedding": [1.0]}]}',
        '{"data": [{"index": 0, "embedding": ["a"]}, {"index": 1, "embedding": [1.0]}]}',
    ],
)
def test_embeddings_that_are_not_one_vector_per_text_are_none(text: str) -> None:
    with pytest.raises(Retryable, match="2 embeddings"):
        read_completion(text.encode(), vectors=2)
