"""Batches against a server that fails in twenty ways: what is found, what is sent again."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from recjury.errors import BatchPending, Stop
from recjury.llm import Budget, open_model
from recjury.records import Status
from recjury.tasks import gather
from tests.llm.batch_server import (
    BatchServer,
    Line,
    answered,
    with_error,
    with_response,
)
from tests.llm.doubles import Memory, QuickClock, ask_of, gateway, tag
from tests.scripted_endpoint import Reply

QUESTIONS = ("one", "two", "three")


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with BatchServer() as found:
        yield found


class Runs:
    """One process after another over one store."""

    def __init__(self, server: BatchServer, **model: Any):
        self.memory, self.waiting = Memory(), list[str]()
        self._model = {"provider": "openai-batch", "base_url": server.url, **model}

    def once(self, questions: tuple[str, ...] = QUESTIONS) -> dict[str, str]:
        """What each question has for an answer, or why it has none; what waits is left out."""
        return asyncio.run(self._once(questions))

    async def _once(self, questions: tuple[str, ...]) -> dict[str, str]:
        said: dict[str, str] = {}

        async def ask(question: str) -> None:
            answer = await ask_of(opened).text(question, model="main")
            said[question] = answer.value or f"{answer.status}: {answer.reason}"

        async with gateway(open_model, memory=self.memory, **self._model) as opened:
            with contextlib.suppress(BatchPending):
                await gather(map(ask, questions))
            self.waiting = await opened.submit()
        return said


def test_a_batch_fills_the_store(server: BatchServer) -> None:
    runs = Runs(server, max_tokens=9)
    assert runs.once() == {}
    assert "3 calls wait in 1 batch" in runs.waiting[0]
    (lines,) = server.sent
    assert [line["body"]["messages"][-1]["content"] for line in lines] == list(QUESTIONS)
    assert lines[0]["body"]["max_tokens"] == 9
    assert lines[0]["url"] == "/v1/chat/completions"
    assert runs.once() == {}  # it is asked for once, however often one looks
    server.finish()
    assert runs.once() == {"one": "ONE", "two": "TWO", "three": "THREE"}
    assert runs.waiting == []
    server.files.clear()  # what is stored is not read again
    assert runs.once()["one"] == "ONE"


def only(number: int) -> Callable[[list[Line]], list[Line | str]]:
    return lambda lines: [answered(line) for line in lines[:number]]


def first(make: Callable[[Line], Line | str]) -> Callable[[list[Line]], list[Line | str]]:
    """The first line in another way, and the rest answered."""
    return lambda lines: [make(lines[0]), *map(answered, lines[1:])]


def failing(status: int, message: str, **fields: Any) -> Callable[[Line], Line]:
    error = {"error": {"message": message, **fields}}
    return lambda line: with_response(line, error, status)


@pytest.mark.parametrize(
    "ending",
    [
        {"status": "expired", "output": None},
        {"status": "expired", "output": only(2)},
        {"status": "cancelled", "output": only(1)},
        {"output": only(2)},
        {"output": first(failing(500, "server error"))},
        {"output": first(failing(429, "slow down"))},
        {"output": first(failing(429, "no credit", code="insufficient_quota"))},
        {"output": first(lambda line: with_error(line, "it took too long", "batch_expired"))},
        {"output": first(lambda line: with_response(line, {"error": {"message": "busy"}}))},
        {"output": first(lambda line: with_response(line, {"choices": []}))},
        {"output": first(lambda line: with_response(line, None))},
        {"output": first(lambda line: '{"custom_id": "cut of')},
        {"output": first(lambda line: {"custom_id": "of-another"})},
        {"output": first(lambda line: {"id": "without a custom id"})},
        {"output": None, "errors": lambda lines: [with_error(line, "no", "x") for line in lines]},
        {"output": only(2), "errors": lambda lines: [failing(503, "full")(lines[2])]},
    ],
)
def test_what_comes_back_without_a_reply_is_sent_again(
    server: BatchServer, ending: dict[str, Any]
) -> None:
    runs = Runs(server)
    runs.once()
    server.finish(**ending)
    had = runs.once()
    again = [line["body"]["messages"][-1]["content"] for line in server.sent[1]]
    assert sorted([*had, *again]) == sorted(QUESTIONS)
    assert "sent again after" in runs.waiting[0]
    server.finish()
    assert runs.once() == {"one": "ONE", "two": "TWO", "three": "THREE"}


@pytest.mark.parametrize(
    "line",
    [
        failing(400, "flagged by the content filter", code="content_filter"),
        failing(400, "the maximum context length is 9"),
        failing(400, "an unknown trouble"),
        lambda line: with_response(line, {"choices": [{"finish_reason": "content_filter"}]}),
    ],
)
def test_what_is_refused_has_a_reason(server: BatchServer, line: Callable[[Line], Line]) -> None:
    runs = Runs(server)
    runs.once()
    server.finish(first(line))
    had = runs.once()
    assert had["one"].startswith(Status.REFUSED)
    assert had["three"] == "THREE"
    assert len(server.sent) == 1


def test_two_lines_for_one_call_are_one_reply(server: BatchServer) -> None:
    runs = Runs(server)
    runs.once()
    server.finish(lambda lines: [answered(line) for line in lines for _ in range(2)])
    assert runs.once()["two"] == "TWO"


def test_a_parameter_that_is_not_taken_is_left_out_next_time(server: BatchServer) -> None:
    runs = Runs(server)
    runs.once()
    refuse = failing(400, "Unsupported value: 'temperature'", param="temperature")
    server.finish(lambda lines: [refuse(line) for line in lines])
    runs.once()
    assert all("temperature" not in line["body"] for line in server.sent[1])


def test_a_batch_that_is_not_accepted_stops_once_with_its_reason(server: BatchServer) -> None:
    runs = Runs(server)
    runs.once()
    server.finish(None, status="failed", failure="Enqueued token limit reached")
    with pytest.raises(Stop, match="batch_0 was not accepted: Enqueued token limit"):
        runs.once()
    assert runs.once() == {}
    assert len(server.sent) == 2


TRIED_AGAIN = {"retry-after-ms": "1"}


@pytest.mark.parametrize("path", ["POST /files", "GET /batches", "GET /files"])
@pytest.mark.parametrize(
    "fault", [Reply({}, 500, TRIED_AGAIN), Reply({}, 429, TRIED_AGAIN), Reply(drop=True)]
)
def test_what_can_be_asked_twice_is(server: BatchServer, path: str, fault: Reply) -> None:
    runs = Runs(server)
    server.faults = [(path, fault, False)]
    runs.once()
    server.finish()
    assert len(runs.once()) == 3
    assert not server.faults


@pytest.mark.parametrize(
    ("path", "fault", "reason"),
    [
        ("POST /files", Reply({"error": {"message": "too large"}}, 413), "too large"),
        ("POST /files", Reply({"error": {"message": "no"}}, 401), "MYKEY"),
        ("POST /batches", Reply({"error": {"message": "Billing hard limit"}}, 400), "Billing"),
        ("POST /batches", Reply({"error": {"message": "oops"}}, 500), "oops"),
        ("POST /batches", Reply(drop=True), "no answer"),
    ],
)
@pytest.mark.parametrize("done", [True, False])
def test_a_batch_that_cannot_be_made_is_one_line_and_none_is_made_twice(
    server: BatchServer,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    fault: Reply,
    reason: str,
    done: bool,
) -> None:
    """An answer may be lost after the batch was made."""
    monkeypatch.setenv("MYKEY", "abcdef")
    runs = Runs(server, key_env="MYKEY")
    server.faults = [(path, fault, done)]
    with pytest.raises(Stop, match=reason):
        runs.once()
    runs.once()
    server.finish()
    assert len(runs.once()) == 3
    assert len(server.sent) == 1


def test_files_that_cannot_be_read_stop_the_run(server: BatchServer) -> None:
    runs = Runs(server)
    runs.once()
    server.finish()
    server.faults = [("GET /files", Reply({"error": {"message": "No such File"}}, 404), False)]
    with pytest.raises(Stop, match="file-1 of batch_0 cannot be read"):
        runs.once()
    assert len(runs.once()) == 3


def test_batches_of_others_are_not_ours(server: BatchServer) -> None:
    other = {"id": "batch_x", "input_file_id": "none", "status": "completed"}
    server.batches = [{**other, "metadata": None}, {**other, "metadata": {"recjury": "another"}}]
    runs = Runs(server)
    runs.once()
    server.finish()
    assert len(runs.once()) == 3


def test_no_more_calls_wait_than_the_account_may_have(server: BatchServer) -> None:
    runs = Runs(server, batch_size=2)
    runs.once()
    assert "1 more go into the next one" in runs.waiting[0]
    runs.once()
    assert [len(lines) for lines in server.sent] == [2]
    server.finish()
    assert len(runs.once()) == 2
    assert [len(lines) for lines in server.sent] == [2, 1]


def test_a_call_that_never_gets_a_reply_fails_while_one_run_waits(server: BatchServer) -> None:
    """The server leaves the last line out each time."""

    class Ends(QuickClock):
        async def sleep(self, seconds: float) -> None:
            server.finish(lambda lines: [answered(line) for line in lines[:-1]])
            await super().sleep(seconds)

    async def run() -> str:
        model: dict[str, Any] = {"provider": "openai-batch", "base_url": server.url}
        async with gateway(open_model, clock=Ends(), **model) as opened:
            for _ in range(9):
                try:
                    asks = (ask_of(opened).text(each, model="main") for each in QUESTIONS)
                    return (await gather(asks))[2].reason
                except BatchPending:
                    await opened.submit()
                    await opened.wait()
        return ""

    assert "3 times" in asyncio.run(run())
    assert [len(lines) for lines in server.sent] == [3, 1, 1]


def test_a_rating_keeps_the_code_that_its_batch_asked_for(server: BatchServer) -> None:
    memory = Memory()

    async def run() -> Any:
        model: dict[str, Any] = {"provider": "openai-batch", "base_url": server.url}
        async with gateway(open_model, memory=memory, **model) as opened:
            try:
                return await ask_of(opened).rating("How good?", (0, 4), model="main")
            except BatchPending:
                return await opened.submit()

    def unreadable(lines: list[Line]) -> list[Line | str]:
        return [answered(line, "I cannot say.") for line in lines]

    def rated(lines: list[Line]) -> list[Line | str]:
        return [answered(line, tag(line["body"])) for line in lines]

    asyncio.run(run())
    server.finish(unreadable)
    asyncio.run(run())  # it is asked again in the next batch
    server.finish(rated)
    assert asyncio.run(run()).value.score == 3
    assert len(server.sent) == 2


def test_what_waits_counts_in_the_budget(server: BatchServer) -> None:
    async def run() -> None:
        prices: dict[str, Any] = {"price_in": 0, "price_out": 1_000_000}  # a dollar a token
        model = {"provider": "openai-batch", "base_url": server.url, **prices}
        async with gateway(open_model, budget=Budget(200.0), **model) as opened:
            asks = (ask_of(opened).text(each, model="main") for each in QUESTIONS)
            await gather(asks)

    with pytest.raises(Stop, match="budget"):
        asyncio.run(run())
    assert server.sent == []
