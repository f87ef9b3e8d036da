"""Rates, what an endpoint says is left of its quota, and requests that break a server."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from recjury.errors import CallFailed
from recjury.llm import Backoff, Completion, Gateway, NullRecorder, Retryable
from recjury.llm.limits import RateLimiter
from recjury.llm.policy import Kind
from recjury.llm.quota import Quota, RemainingQuota, read_quota
from recjury.llm.transport import retry_after
from recjury.records import ChatRequest
from tests.endpoint import Answer, Body, Fault, Script, ScriptedEndpoint, completion, prompt
from tests.llm.doubles import FakeClock, MemoryRecorder, request, spec_of
from tests.llm.limited_model import CLOCK, ask_all, specs
from tests.llm.virtual_time import run_virtually

OPENAI = {
    "x-ratelimit-limit-requests": "500",
    "x-ratelimit-remaining-requests": "499",
    "x-ratelimit-reset-requests": "120ms",
    "x-ratelimit-limit-tokens": "30000",
    "x-ratelimit-remaining-tokens": "0",
    "x-ratelimit-reset-tokens": "6m0s",
}
GROQ = {
    "x-ratelimit-limit-requests": "14400",
    "x-ratelimit-remaining-requests": "14370",
    "x-ratelimit-reset-requests": "2m59.56s",
    "x-ratelimit-limit-tokens": "18000",
    "x-ratelimit-remaining-tokens": "17997",
    "x-ratelimit-reset-tokens": "7.66s",
}
AZURE = {
    "x-ratelimit-remaining-requests": "19",
    "x-ratelimit-reset-requests": "10",
    "x-ratelimit-remaining-tokens": "19913",
}


@pytest.mark.parametrize(
    ("headers", "requests", "tokens"),
    [
        (OPENAI, RemainingQuota(500, 499, 0.12), RemainingQuota(30000, 0, 360)),
        (GROQ, RemainingQuota(14400, 14370, 179.56), RemainingQuota(18000, 17997, 7.66)),
        (AZURE, RemainingQuota(None, 19, 10), RemainingQuota(None, 19913, None)),
        ({"x-ratelimit-remaining-tokens": "-1"}, None, None),
        ({"x-ratelimit-remaining-requests": "many"}, None, None),
        (
            {"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "soon"},
            RemainingQuota(None, 3, None),
            None,
        ),
        (
            {"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "1e400"},
            RemainingQuota(None, 3, None),
            None,
        ),
        ({"x-ratelimit-remaining-requests": "nan"}, None, None),
        ({}, None, None),
    ],
)
def test_what_is_left_is_read(
    headers: Mapping[str, str], requests: RemainingQuota | None, tokens: RemainingQuota | None
) -> None:
    nothing = requests is None and tokens is None
    assert read_quota(headers) == (None if nothing else Quota(requests, tokens))


def test_a_date_is_read() -> None:
    date = (datetime.now(UTC) + timedelta(seconds=30)).isoformat().replace("+00:00", "Z")
    found = read_quota(
        {
            "anthropic-ratelimit-requests-limit": "50",
            "anthropic-ratelimit-requests-remaining": "20",
            "anthropic-ratelimit-requests-reset": date,
            "anthropic-ratelimit-tokens-remaining": "4000",
            "anthropic-ratelimit-tokens-reset": "2026-01-01T00:00:00",
        }
    )
    assert found is not None
    assert found.requests is not None
    assert found.requests.reset == pytest.approx(30, abs=2)
    assert found.tokens == RemainingQuota(None, 4000, None)


@dataclass
class BucketModel:
    """Refuses requests beyond a bucket of `size`, which is refilled evenly within a minute, and
    says what is left of it; a request takes `cost`."""

    size: float
    cost: float = 1
    in_tokens: bool = False
    latency: float = 1.0
    left: float = field(init=False)
    at: float | None = None
    refused: int = 0
    sent: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin with a full bucket."""
        self.left = self.size

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer after the latency, or refuse at once."""
        now = CLOCK.now()
        rate = self.size / 60
        self.left = min(self.size, self.left + (now - (now if self.at is None else self.at)) * rate)
        self.at = now
        is_refused = self.left < self.cost
        if not is_refused:
            self.left -= self.cost
        left = RemainingQuota(self.size, int(self.left), (self.size - self.left) / rate)
        quota = Quota(None, left) if self.in_tokens else Quota(left, None)
        if is_refused:
            self.refused += 1
            raise Retryable("HTTP 429", Kind.RATE_LIMIT, quota=quota)
        self.sent.append(now)
        await asyncio.sleep(self.latency)
        tokens = int(self.cost) if self.in_tokens else 10
        return Completion("fine", prompt_tokens=1, completion_tokens=tokens - 1, quota=quota)

    async def check(self) -> None:
        """Nothing to check."""

    async def aclose(self) -> None:
        """Nothing to release."""


def ask_bucket(model: BucketModel, calls: int, **fields: object) -> float:
    """Make so many calls; how many seconds that took."""
    gateway = Gateway(specs("m", **fields), NullRecorder(), clock=CLOCK, providers={"m": model})

    async def work() -> float:
        begun = CLOCK.now()
        await ask_all(gateway, "m", calls, 256)
        return CLOCK.now() - begun

    return run_virtually(work())


@pytest.mark.parametrize(
    "model",
    [BucketModel(600), BucketModel(600, latency=5.0), BucketModel(60_000, 100, in_tokens=True)],
    ids=["requests", "long replies", "tokens"],
)
def test_a_quota_that_runs_low_slows_calls_before_they_are_refused(model: BucketModel) -> None:
    calls = 3_000
    seconds = ask_bucket(model, calls)
    ideal = (calls - 600) / 10
    assert len(model.sent) == calls
    assert model.refused <= 0.025 * calls
    assert seconds <= 1.1 * ideal + 10


def test_a_quota_that_is_whole_again_holds_nobody_back() -> None:
    limiter = RateLimiter(CLOCK)

    async def work() -> float:
        low = Quota(RemainingQuota(100, 0, 6000.0), None)  # one request a minute
        limiter.note(low, 1, 10)
        turns = [asyncio.create_task(limiter.wait_for_turn()) for _ in range(50)]
        begun = CLOCK.now()
        await asyncio.sleep(5)
        limiter.note(Quota(RemainingQuota(100, 100, 0.0), None), 1, 10)
        await asyncio.gather(*turns)
        assert not limiter.has_rate
        return CLOCK.now() - begun

    assert run_virtually(work()) <= 7


CALL = 1_500.0
TOKENS_LEFT = {
    "x-ratelimit-limit-tokens": "80000",
    "x-ratelimit-remaining-tokens": "50000",
}


def turns(headers: Mapping[str, str], calls: int = 3, more: float = 0.0) -> list[float]:
    """When calls of 1,500 tokens are sent after a single answer, with 40 calls open; each takes so
    many `more` than was expected."""
    clock = FakeClock()
    limiter = RateLimiter(clock)

    async def work() -> list[float]:
        quota = read_quota(headers)
        assert quota is not None
        limiter.note(quota, 40, CALL)
        found = []
        for _ in range(calls):
            await limiter.wait_for_turn(lambda: CALL)
            found.append(clock.time - 1000)
            limiter.correct(more)
        return found

    return asyncio.run(work())


@pytest.mark.parametrize("reset", ["23h0m0s", "45000", "2h0m20s"])
def test_a_quota_that_lasts_for_many_calls_is_used(reset: str) -> None:
    assert turns({**TOKENS_LEFT, "x-ratelimit-reset-tokens": reset}) == [0, 0, 0]


def test_a_quota_that_is_whole_soon_is_used_as_fast_as_it_comes_back() -> None:
    assert turns({**TOKENS_LEFT, "x-ratelimit-reset-tokens": "20s"}) == pytest.approx([0, 1, 2])


@pytest.mark.parametrize("more", [0.0, 30_000.0])
def test_no_quota_delays_the_next_call_by_more_than_a_minute(more: float) -> None:
    low = {**TOKENS_LEFT, "x-ratelimit-remaining-tokens": "1600"}
    sent = turns({**low, "x-ratelimit-reset-tokens": "23h0m0s"}, more=more)
    assert sent == pytest.approx([0, 60, 120])


@pytest.mark.parametrize("hours", [-2, 2])
def test_a_date_is_compared_with_that_of_the_answer(hours: int) -> None:
    there = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=hours)
    headers = {
        "date": format_datetime(there, usegmt=True),
        "anthropic-ratelimit-tokens-limit": "80000",
        "anthropic-ratelimit-tokens-remaining": "50000",
        "anthropic-ratelimit-tokens-reset": f"{there + timedelta(seconds=20):%Y-%m-%dT%H:%M:%SZ}",
        "retry-after": format_datetime(there + timedelta(seconds=7), usegmt=True),
    }
    assert read_quota(headers) == Quota(None, RemainingQuota(80000, 50000, 20))
    assert turns(headers) == pytest.approx([0, 1, 2])
    assert retry_after(headers) == 7


def test_tokens_keep_their_rate() -> None:
    model = BucketModel(1e9, 100, in_tokens=True)
    seconds = ask_bucket(model, 600, tokens_per_minute=6_000)
    assert seconds == pytest.approx(600, rel=0.1)
    in_a_minute = max(sum(t <= s < t + 60 for s in model.sent) for t in model.sent)
    assert in_a_minute <= 75


def test_headers_of_an_answer_reach_the_limiter() -> None:
    """Over HTTP: after the first answer, the next request waits as long as the quota needs."""
    body = json.dumps(completion("fine")).encode()

    async def low(writer: asyncio.StreamWriter) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            b"Anthropic-RateLimit-Requests-Limit: 60\r\n"
            b"Anthropic-RateLimit-Requests-Remaining: 0\r\n"
            b"Anthropic-RateLimit-Requests-Reset: 2031-05-01T10:01:00Z\r\n"
            b"Date: Thu, 01 May 2031 10:00:00 GMT\r\n"
            b"Connection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
        )
        await writer.drain()

    clock = FakeClock()

    async def run(endpoint: ScriptedEndpoint) -> list[float]:
        times = []
        async with Gateway({"m": spec_of(endpoint)}, MemoryRecorder(), clock=clock) as gateway:
            for number in range(4):
                await gateway.complete(request(str(number)))
                times.append(clock.time - 1000)
        return times

    with ScriptedEndpoint(lambda body: low) as endpoint:
        assert asyncio.run(run(endpoint)) == pytest.approx([0, 1, 2, 3])


def test_a_call_says_how_long_it_waited() -> None:
    clock = FakeClock()
    answers: Iterator[Answer] = iter([Fault("status", 429, retry_after="7"), "fine"])

    async def run(endpoint: ScriptedEndpoint) -> float | None:
        async with Gateway({"m": spec_of(endpoint)}, MemoryRecorder(), clock=clock) as gateway:
            return (await gateway.complete(request())).waited

    with ScriptedEndpoint(lambda body: next(answers)) as endpoint:
        assert asyncio.run(run(endpoint)) == pytest.approx(7)


def break_on(text: str, fault: Fault) -> Script:
    """A script that fails for prompts with `text`, and answers all others."""

    def script(body: Body) -> Answer:
        return fault if text in prompt(body) else "fine"

    return script


@pytest.mark.parametrize(
    ("fault", "permanent"),
    [
        (Fault("status", 500, "assertion failed in kernel 7"), True),
        (Fault("status", 502, "bad gateway"), True),
        (Fault("status", 503, "no worker"), False),
        (Fault("status", 500, "the server is overloaded"), False),
        (Fault("raw", text="{"), False),
        (Fault("drop"), False),
    ],
    ids=lambda each: f"{each.kind}-{each.status}" if isinstance(each, Fault) else str(each),
)
def test_the_same_server_error_for_the_same_request_is_for_good(
    fault: Fault, permanent: bool
) -> None:
    async def run(endpoint: ScriptedEndpoint) -> CallFailed:
        gateway = Gateway(
            {"m": spec_of(endpoint, retries=3)},
            MemoryRecorder(),
            backoff=Backoff(first=0.01, longest=0.05),
        )
        async with gateway:
            calls = [gateway.complete(request(f"good {n}")) for n in range(20)]
            bad = gateway.complete(request("the bad one"))
            *_, failure = await asyncio.gather(*calls, bad, return_exceptions=True)
        assert isinstance(failure, CallFailed)
        return failure

    with ScriptedEndpoint(break_on("bad", fault)) as endpoint:
        failure = asyncio.run(run(endpoint))
    assert failure.permanent is permanent
    assert "(4 attempts)" in str(failure)


def test_different_server_errors_are_not_for_good() -> None:
    faults = iter([Fault("status", 500, f"error {n}") for n in range(4)])

    async def run(endpoint: ScriptedEndpoint) -> None:
        spec = spec_of(endpoint, retries=3)
        backoff = Backoff(first=0.01, longest=0.05)
        async with Gateway({"m": spec}, MemoryRecorder(), backoff=backoff) as gateway:
            with pytest.raises(CallFailed, match="4 attempts") as caught:
                await gateway.complete(request())
            assert not caught.value.permanent

    with ScriptedEndpoint(lambda body: next(faults)) as endpoint:
        asyncio.run(run(endpoint))
