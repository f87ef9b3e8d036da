"""What RECJURY_LOG shows of a run that went wrong, and that no secret is among it."""

import asyncio
import json
from typing import Any

import pytest

from recjury.errors import BudgetSpent, CallFailed
from recjury.llm import (
    Backoff,
    BudgetSpec,
    Completion,
    EndpointSpec,
    Gateway,
    Retryable,
    ScriptedModel,
    call_context,
)
from recjury.llm.policy import Kind
from recjury.llm.scripted import Line
from recjury.llm.transport import read_api_key
from recjury.logs import get_logger, read_settings
from tests.llm.doubles import FakeClock, MemoryRecorder, request

SPEC = EndpointSpec(base_url="http://127.0.0.1:1/v1", name="scripted", retries=1)
KEY = "k3y-that-nobody-may-see"


def logged(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """The JSON lines on standard error; nothing else is there, and nothing on standard output."""
    printed = capsys.readouterr()
    assert printed.out == ""
    return [json.loads(line) for line in printed.err.splitlines()]


def complete(*script: Line, budget: BudgetSpec | None = None, calls: int = 1) -> None:
    """Calls of a scripted model, made for the conversation c1."""

    async def run() -> None:
        gateway = Gateway(
            {"m": SPEC},
            MemoryRecorder(),
            budget=budget,
            clock=FakeClock(),
            backoff=Backoff(chance=lambda: 1.0),
            providers={"m": ScriptedModel(script)},
        )
        with call_context("c1"):
            for number in range(calls):
                await gateway.complete(request(f"call {number}"))

    asyncio.run(run())


def test_nothing_is_logged_unless_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("RECJURY_LOG", raising=False)
    complete(Retryable("HTTP 500"), "fine")
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "")


def test_a_retry_is_logged_in_a_readable_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RECJURY_LOG", "info")
    complete(Retryable("HTTP 500"), "fine")
    (line,) = capsys.readouterr().err.splitlines()
    assert "model call retried" in line
    assert "reason='HTTP 500'" in line
    with pytest.raises(ValueError, match=r"Expecting value|Extra data"):
        json.loads(line)


@pytest.mark.parametrize("value", ["json", "info,json", "JSON, debug"])
def test_retries_limits_and_failures_are_json_lines(
    value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RECJURY_LOG", value)
    limited = Retryable("HTTP 429: slow down", Kind.RATE_LIMIT, retry_after=2.0)
    with pytest.raises(CallFailed):
        complete(limited, Retryable("HTTP 500"), Retryable("the connection broke"))
    first, second, third = logged(capsys)
    assert first.pop("timestamp") <= second.pop("timestamp") <= third.pop("timestamp")
    common = {"level": "info", "model": "m", "purpose": "test", "unit": "c1"}
    assert first == {
        **common,
        "event": "rate limit reached",
        "attempt": 1,
        "wait": 2.0,
        "reason": "HTTP 429: slow down",
    }
    assert second == {
        **common,
        "event": "model call retried",
        "attempt": 2,
        "wait": 0.5,
        "reason": "HTTP 500",
    }
    assert third == {
        **common,
        "event": "model call failed",
        "attempt": 3,
        "reason": "the connection broke",
    }


def test_a_budget_that_is_reached_is_logged_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RECJURY_LOG", "json")

    async def run() -> None:
        model = ScriptedModel([Completion("fine", prompt_tokens=9, completion_tokens=1)])
        spec = SPEC.model_copy(update={"max_tokens": 10})
        gateway = Gateway(
            {"m": spec}, MemoryRecorder(), budget=BudgetSpec(tokens=18), providers={"m": model}
        )
        await gateway.complete(request("first"))
        for number in range(3):
            with pytest.raises(BudgetSpent):
                await gateway.complete(request(f"call {number}"))

    asyncio.run(run())
    (line,) = logged(capsys)
    assert line["event"] == "budget reached"
    assert (line["spent"], line["budget"]) == ("10 tokens", "18 tokens")


@pytest.mark.parametrize(
    ("value", "level", "as_json"),
    [
        ("", 30, False),
        ("warning", 30, False),
        ("Info", 20, False),
        ("json", 20, True),
        ("json,error", 40, True),
        ("loud", 30, False),
    ],
)
def test_what_a_value_means(value: str, level: int, as_json: bool) -> None:
    assert read_settings(value) == (level, as_json)


@pytest.mark.parametrize("value", ["info", "json"])
def test_no_secret_is_logged(
    value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RECJURY_LOG", value)
    monkeypatch.setenv("SECRET_OF_THE_TEST", KEY)
    assert read_api_key("SECRET_OF_THE_TEST", "model m", "an endpoint") == KEY
    logger = get_logger()
    logger.info("a key that was read", reason=f"refused {KEY}", nested={"list": [KEY]})
    logger.info(f"in the event: {KEY}")
    logger.info("header", headers={"Authorization": "Bearer abc.def", "X-Api-Key": "hidden-1"})
    logger.info("header in a text", reason="sent Authorization: Bearer abc.def")
    logger.info("key in a URL", url="https://user:hidden-2@host/v1?api_key=hidden-3&page=7")
    logger.info("token in a URL", reason="GET https://host/?access_token=hidden-4 failed")
    logger.info("known form", reason="Incorrect API key provided: sk-hidden-5-and-more")
    logger.info("field", api_key="hidden-6", prompt_tokens=12)
    try:
        raise ValueError(f"no access with {KEY}")
    except ValueError:
        logger.exception("raised")
    printed = capsys.readouterr().err
    assert KEY not in printed
    assert "abc.def" not in printed
    assert "hidden-" not in printed
    for shown in ("page=7", "12", "refused [key]", "ValueError", "https://"):
        assert shown in printed


def test_a_retried_call_shows_no_key(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RECJURY_LOG", "debug,json")
    complete(Retryable("GET http://host/v1?key=hidden: HTTP 500"), "fine")
    (line,) = logged(capsys)
    assert line["reason"] == "GET http://host/v1?key=[key] HTTP 500"


@pytest.mark.parametrize("value", ["info", "json"])
def test_control_characters_are_written_out(
    value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RECJURY_LOG", value)
    get_logger().info("in\x1b[2Jevent", reason="in\x9bfield", **{"na\x1bme": "x"})
    printed = capsys.readouterr().err
    assert not set("\x1b\x9b") & set(printed)
    assert "x1b[2Jevent" in printed
