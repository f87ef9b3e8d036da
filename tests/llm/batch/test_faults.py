"""What a Batch API may do wrong: each call is answered, or fails with a line and is sent later.

Every fault meets a whole run, and then a second one for which the endpoint is sound again. No call
may have the reply of another, and no fault may end in anything but recjury's own errors.
"""

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from recjury.errors import CallFailed, ProviderError
from recjury.llm.batch import api
from recjury.llm.batch.lines import AnswerLines
from tests.batch_server import BatchEndpoint, Faults, Line
from tests.llm.batch.test_batches import Outcome, complete, right, spec_of, texts
from tests.llm.doubles import MemoryRecorder
from tests.scripted_server import Body, prompt

CALLS = 6
LATE = "hours after its time: run again to send its requests anew"

Spoil = Callable[[BatchEndpoint], object]


class JumpingClock:
    """A clock that jumps over waits of more than a second."""

    def __init__(self) -> None:
        self.jumped = 0.0

    def now(self) -> float:
        """A monotonic time."""
        return time.monotonic() + self.jumped

    def wall(self) -> float:
        """Seconds since 1970."""
        return time.time() + self.jumped

    async def sleep(self, seconds: float) -> None:
        """Wait for a short time, or jump."""
        if seconds > 1:
            self.jumped += seconds
        await asyncio.sleep(min(seconds, 0.01))


def fault(**fields: object) -> Spoil:
    """These fields of the endpoint's faults."""

    def spoil(endpoint: BatchEndpoint) -> None:
        for name, value in fields.items():
            setattr(endpoint.faults, name, value)

    return spoil


def held(**fields: object) -> Spoil:
    """Batches that do not end, with these faults."""

    def spoil(endpoint: BatchEndpoint) -> None:
        endpoint.held.clear()
        fault(**fields)(endpoint)

    return spoil


def endless(**changed: object) -> Spoil:
    """Batches that do not end, and are described so."""
    return held(shown=lambda shown: {**shown, **changed})


def state(change: Callable[[Body], object]) -> Spoil:
    """Batches that are described in another way."""
    return fault(shown=change)


def with_state(**changed: object) -> Spoil:
    """Batches of whose description some fields are others."""
    return state(lambda shown: {**shown, **changed})


def output(change: Callable[[bytes], bytes]) -> Spoil:
    """A file of answers with another content, once."""

    def spoil(endpoint: BatchEndpoint) -> None:
        def spoiled(content: bytes) -> bytes:
            endpoint.faults.output = lambda sound: sound
            return change(content)

        endpoint.faults.output = spoiled

    return spoil


def lines(change: Callable[[Line], object]) -> Spoil:
    """A file of answers whose lines are others, once."""
    return output(
        lambda content: b"".join(
            json.dumps(change(json.loads(raw))).encode() + b"\n" for raw in content.splitlines()
        )
    )


def answered(number: int, method: str, end: str, status: int, body: str) -> Spoil:
    """The first so many requests to paths that end so have another answer."""

    def spoil(endpoint: BatchEndpoint) -> None:
        left = [number]

        def instead(request: web.Request) -> web.Response | None:
            if request.method != method or not request.path.endswith(end) or not left[0]:
                return None
            left[0] -= 1
            return web.Response(status=status, text=body, headers={"Location": "/v1/elsewhere"})

        endpoint.faults.instead = instead

    return spoil


def refused(**error: object) -> Spoil:
    """A batch that is refused as a whole."""
    return fault(refused_batches=[[error]])


def _shown_late(status: str) -> Callable[[Body], Body]:
    """The status for three looks, then the true one."""
    left = [3]

    def shown(batch: Body) -> Body:
        left[0] -= 1
        return {**batch, "status": status} if left[0] >= 0 else batch

    return shown


def _cancelled(endpoint: BatchEndpoint) -> None:
    def shown(state: Body) -> Body:
        endpoint.batches[str(state["id"])].status = "cancelled"
        return {**state, "status": "cancelled", "output_file_id": None}

    endpoint.faults.shown = shown


def _file_of(name: str, number: int) -> Callable[[Body], Body]:
    return lambda shown: {**shown, name: f"file-{number}"} if shown.get(name) else shown


ANSWERED: dict[str, Spoil] = {
    "late: cancelled, and the rest is sent again": held(cancels=True, missing=2),
    "upload refused by a rate limit": fault(uploads_refused=2),
    "upload answered by a proxy's page": answered(2, "POST", "/files", 200, "<html>"),
    "upload answered with 502": answered(3, "POST", "/files", 502, "<html>Bad gateway"),
    "answer to the upload lost": fault(uploads_unanswered=1),
    "answer to the new batch lost": fault(creations_unanswered=1),
    "new batch answered with 500": answered(1, "POST", "/batches", 500, '{"error": "oops"}'),
    "new batch answered with a list": answered(1, "POST", "/batches", 200, "[]"),
    "looks answered with 503": fault(polls_failing=3),
    "unknown status for a while": state(_shown_late("queued")),
    "no status for a while": state(_shown_late(None)),  # type: ignore[arg-type]
    "status in capitals": state(lambda shown: {**shown, "status": str(shown["status"]).upper()}),
    "no counts": with_state(request_counts=None),
    "counts that are wrong": with_state(request_counts={"total": -1, "completed": 10**9}),
    "no times": with_state(created_at=None, expires_at=None),
    "times in words": with_state(created_at="today", expires_at="2026-01-01T00:00:00Z"),
    "times in milliseconds": with_state(created_at=time.time() * 1000, expires_at=10**15),
    "expired before it was created": with_state(expires_at=1),
    "errors without data": with_state(errors={"object": "list"}),
    "file of replies not named at once": fault(outputs_unnamed=2),
    "a full queue": refused(code="token_limit_exceeded", message="Enqueued token limit reached"),
    "refused without a reason": refused(code="server_error", message="Try again"),
    "refused with an error that is empty": refused(),
    "lines in another order": fault(shuffled=True),
    "lines twice": fault(doubled=True),
    "lines that are missing": fault(missing=2),
    "lines that expired": fault(expired=2),
    "lines that are cut": fault(unreadable=2),
    "lines of other programs": lines(lambda line: {**line, "custom_id": "of another"}),
    "ids that are numbers": lines(lambda line: {**line, "custom_id": 7}),
    "a line that is no object": output(lambda content: content + b"[1]\n7\nnull\n"),
    "lines with neither reply nor error": lines(lambda line: {**line, "response": None}),
    "a status that is text": lines(lambda line: {**line, "response": {"status_code": "200"}}),
    "replies that are no completions": lines(
        lambda line: {**line, "response": {"status_code": 200, "body": ["no"]}}
    ),
    "replies without a body": lines(lambda line: {**line, "response": {"status_code": 200}}),
    "a file of replies that is empty": output(lambda _: b""),
    "a file of replies that is not text": output(lambda content: b"{\xff\xfe" + content[1:]),
    "one line without an end": output(lambda _: b"{" + b"x" * 10**6),
    "lines that end as in Windows": output(lambda content: content.replace(b"\n", b"\r\n")),
    "a file of replies that is not there": state(_file_of("error_file_id", 99)),
    "a proxy's page for a file": fault(pages_for_files=2),
    "a file that breaks off": fault(downloads_cut=2),
    "pages that do not know `after`": fault(listed=lambda page: {**page, "has_more": True}),
    "an empty page that promises more": fault(
        listed=lambda page: {**page, "data": [], "has_more": True}
    ),
    "a list of nothing": fault(listed=lambda page: {**page, "data": None}),
}

FAILED: dict[str, tuple[Spoil, str]] = {
    "in_progress for ever": (endless(status="in_progress"), LATE),
    "validating for ever": (endless(status="validating"), LATE),
    "finalizing for ever": (endless(status="finalizing"), LATE),
    "cancelling for ever": (endless(status="cancelling"), LATE),
    "an unknown status for ever": (endless(status="paused"), LATE),
    "answers that drip into the counts": (
        endless(request_counts={"total": 6, "completed": 5}),
        LATE,
    ),
    "expires in 30,000 years": (endless(expires_at=10**12), LATE),
    "no status": (with_state(status=None), "is not a batch"),
    "status in an object": (with_state(status={"is": "completed"}), "is not a batch"),
    "cancelled by others": (_cancelled, "was cancelled at the endpoint"),
    "gone": (answered(9, "GET", "/batch-2", 404, "{}"), "is no longer at the endpoint"),
    "looks redirected": (answered(99, "GET", "/batch-2", 302, ""), "302"),
    "looks refused": (answered(99, "GET", "/batch-2", 401, "{}"), "401"),
    "a file of replies that drips": (fault(drips=True), "cannot read the file"),
    "an upload that is never taken": (fault(hangs="POST /v1/files"), "cannot upload a batch"),
    "a proxy's page for every file": (fault(pages_for_files=10**6), "delete it there"),
    "files that are never named": (fault(outputs_unnamed=10**6), "is not named yet"),
    "one line that is refused": (
        refused(code="invalid_value", message="messages is empty", line=3),
        "messages is empty",
    ),
    "an account without credit": (
        refused(code="billing_hard_limit_reached", message="Billing hard limit has been reached"),
        "Billing hard limit",
    ),
    "a file that is too large": (fault(largest_file=100), "batch_size"),
    "no batches there": (answered(99, "POST", "/batches", 404, "no"), "it may have no batches"),
    "a list without an end": (
        fault(listed=lambda page: {"data": [{"id": str(time.monotonic_ns())}], "has_more": True}),
        "",
    ),
}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> JumpingClock:
    """The clock of both runs; a file may take half a second."""
    jumping = JumpingClock()
    monkeypatch.setattr("recjury.llm.batch.provider.SystemClock", lambda: jumping)
    monkeypatch.setattr(api, "_EXCHANGE_SECONDS", 0.5)
    monkeypatch.setattr(api, "_MOST_PAGES", 20)
    return jumping


def run(endpoint: BatchEndpoint, recorder: MemoryRecorder) -> list[Outcome]:
    """The replies to the calls, with few looks in the 24 hours of a batch."""
    spec = spec_of(endpoint, poll=20_000, wait=0.02, timeout=0.3, outage_patience=3)
    return complete(spec, CALLS, recorder)


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("name", ANSWERED)
def test_faults_that_are_outlasted(name: str) -> None:
    with BatchEndpoint(lambda body: f"to {prompt(body)}", seconds=0.02) as endpoint:
        ANSWERED[name](endpoint)
        assert texts(run(endpoint, MemoryRecorder())) == right(CALLS)


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("name", FAILED)
def test_faults_that_fail_with_a_line_and_are_resumed(name: str) -> None:
    spoil, said = FAILED[name]
    recorder = MemoryRecorder()
    with BatchEndpoint(lambda body: f"to {prompt(body)}", seconds=0.02) as endpoint:
        spoil(endpoint)
        first = run(endpoint, recorder)
        failures = [each for each in first if isinstance(each, Exception)]
        assert failures
        for failure in failures:
            assert isinstance(failure, CallFailed | ProviderError), repr(failure)
            assert said in str(failure)
            assert "\n" not in str(failure)
        replies: list[Any] = [
            each.text if not isinstance(each, Exception) else True for each in first
        ]
        assert all(got in (True, sound) for got, sound in zip(replies, right(CALLS), strict=True))
        endpoint.faults = Faults()
        endpoint.held.set()
        assert texts(run(endpoint, recorder)) == right(CALLS)


def test_an_answer_that_is_nested_too_deeply_is_none() -> None:
    body = b"[" * 400 + b"]" * 400
    lines = AnswerLines()
    lines.file.write(b'{"custom_id": "a", "response": {"status_code": 200, "body": %s}}\n' % body)
    asyncio.run(lines.index())
    assert (len(lines), lines.answered) == (0, set())
    lines.close()
