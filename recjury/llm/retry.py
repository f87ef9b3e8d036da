"""When a request is sent again: after a wait, or when an endpoint that is down answers again."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from recjury.errors import CallFailed, ProviderError
from recjury.llm.event_loop import Clock
from recjury.llm.policy import FAILURES_IN_A_ROW, REFUSED_SECONDS, SAME_FAILURES, Kind
from recjury.llm.provider import Retryable
from recjury.logs import get_logger

logger = get_logger()

_FIRST_PROBE, _LONGEST_PROBE = (
    1.0,
    60.0,
)  # seconds between requests to an endpoint that is down

Probe = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential waits with jitter: half to all of `first` * 2^(attempt - 1) seconds.

    A wait grows to at most `longest` seconds; a wait that the endpoint asks for is limited to
    `longest_wait` seconds. `chance` returns a random number from 0 to 1.
    """

    first: float = 0.5
    longest: float = 30.0
    longest_wait: float = 600.0
    chance: Callable[[], float] = random.random

    def wait(self, attempt: int, asked: float | None = None) -> float:
        """Seconds to wait after the failed `attempt` (1 = the first)."""
        grown = min(self.longest, self.first * 2.0 ** min(attempt - 1, 30))
        jittered = grown * (0.5 + 0.5 * self.chance())
        return jittered if asked is None else max(jittered, min(asked, self.longest_wait))


@dataclass(slots=True)
class Attempts:
    """The attempts of one call so far: how many were sent, failed, and were rate limited.

    A 429 is not counted as a failed attempt, because the endpoint works. Waits after a 429, and
    waits that other failures ask for with Retry-After, take at most `patience` seconds in total.
    `spares_others` tells that the last failure was only about how many requests were open.
    """

    backoff: Backoff
    retries: int
    patience: float
    sent: int = 0
    failed: int = 0
    rate_limited: int = 0
    waited: float = 0.0
    spares_others: bool = False
    _repeated: str | None = None

    @property
    def is_of_request(self) -> bool:
        """Whether it is this request that breaks the server: all of at least three failed attempts
        failed in the same way, with a server error."""
        return self.failed >= SAME_FAILURES and bool(self._repeated)

    def wait(self, problem: Retryable) -> float | None:
        """Seconds to wait before the next attempt; None if there is no further attempt."""
        left = self.patience - self.waited
        if not problem.rate_limited:
            self.failed += 1
            way = problem.reason if problem.kind is Kind.SERVER_ERROR else ""
            self._repeated = way if self._repeated in (None, way) else ""
            if self.failed > self.retries:
                return None
            asked = min(problem.retry_after or 0.0, left, self.backoff.longest_wait)
            self.waited += asked
            return self.backoff.wait(self.failed, asked)
        if left <= 0:
            return None
        self.rate_limited += 1
        asked = problem.retry_after or 0.0
        # If an endpoint says how long to wait, that time is used without exponential growth.
        # A time shorter than our first wait is ignored: some send 0 however busy they are.
        known = asked >= self.backoff.first
        wait = min(max(self.backoff.wait(1 if known else self.rate_limited), asked), left)
        self.waited += wait
        return wait

    def reason(self, problem: Retryable) -> str:
        """Why the call failed, in one line."""
        times = "1 attempt" if self.sent == 1 else f"{self.sent} attempts"
        if not problem.rate_limited:
            return f"{problem.reason} ({times})"
        return (
            f"{problem.reason} ({times}; rate limited for {self.waited:g} s: lower "
            "requests_per_minute or concurrency, or raise patience)"
        )


class OutageError(CallFailed):
    """The endpoint has not answered for longer than the call may wait."""


class Endpoint:
    """Whether one endpoint answers; shared by all calls to it.

    After failures that may be an outage, calls wait, and one of them asks again and again, with
    growing waits, by sending a small request of its own.
    """

    def __init__(self, address: str, clock: Clock, backoff: Backoff, down: dict[str, float]):
        """`down` maps the addresses of endpoints that are down to the time since when, for show."""
        self._address = address
        self._clock = clock
        self._backoff = Backoff(first=_FIRST_PROBE, longest=_LONGEST_PROBE, chance=backoff.chance)
        self._down = down
        self._failures = 0
        self._reason = ""
        self._suspected_since: float | None = None
        self._probes = 0
        self._next_probe = 0.0
        self._is_probed = False
        self._waiting: asyncio.Future[ProviderError | None] | None = None
        self._answered_at = -1.0
        self._has_replied = False
        self._replied_at = -1.0
        self._refused_since: float | None = None

    @property
    def is_suspected(self) -> bool:
        """Whether calls have to wait, as the endpoint may be down."""
        return self._suspected_since is not None

    def has_answered_since(self, time: float) -> bool:
        """Whether an answer came at that time or later."""
        return self._answered_at >= time

    def has_replied_since(self, time: float) -> bool:
        """Whether a call got its reply at that time or later."""
        return self._replied_at >= time

    def answered(self) -> None:
        """Note an answer, of whatever kind."""
        self._failures = 0
        self._answered_at = self._clock.now()

    def replied(self) -> None:
        """Note an answer that is a reply."""
        self._has_replied = True
        self._refused_since = None
        self.answered()
        self._replied_at = self._answered_at

    def failed(self, problem: Retryable) -> None:
        """Note an attempt that got no answer; begins an outage where it is clear."""
        self._reason = problem.reason
        self._failures += 1
        if problem.refusal is not None:
            self._has_replied = True
            self._note_refusal()
        is_clear = problem.kind is Kind.NO_CONNECTION or problem.refusal is not None
        if is_clear or self._failures >= FAILURES_IN_A_ROW:
            self.suspect(problem)

    def suspect(self, problem: Retryable) -> None:
        """Let all calls wait until the endpoint answers."""
        if self._suspected_since is None:
            self._reason = problem.reason
            self._suspected_since = self._clock.now()
            self._probes = 0
            self._next_probe = self._clock.now() + self._backoff.wait(1)

    async def wait(self, probe: Probe, patience: float) -> bool:
        """Wait while the endpoint may be down; whether it was, as far as probes could tell.

        `probe` sends a small request and raises Retryable where no answer comes. Raises
        OutageError when the outage has lasted for `patience` seconds, and ProviderError when the
        endpoint has refused all requests for some time.
        """
        was_down = False
        while self._suspected_since is not None:
            was_down = was_down or self._probes > 0
            left = self._suspected_since + patience - self._clock.now()
            if self._is_probed:
                if left <= 0:
                    raise self._too_long(patience)
                await self._others_probe()
                continue
            if left <= 0 and self._clock.now() < self._next_probe:
                raise self._too_long(patience)
            await self._probe(probe, left)
            was_down = was_down or self._probes > 0
        return was_down

    async def _others_probe(self) -> None:
        if self._waiting is None:
            self._waiting = asyncio.get_running_loop().create_future()
        refusal = await asyncio.shield(self._waiting)
        if refusal is not None:
            raise refusal

    async def _probe(self, probe: Probe, left: float) -> None:
        self._is_probed = True
        refusal: ProviderError | None = None
        try:
            wait = self._next_probe - self._clock.now()
            if wait > 0:
                await self._clock.sleep(min(wait, left))
            try:
                await probe()
            except Retryable as error:
                if error.may_be_outage:
                    self._refused_since = None
                    self._still_down(error.reason)
                    return
            except ProviderError as error:
                if self._has_replied and self._note_refusal() < REFUSED_SECONDS:
                    self._still_down(str(error))
                    return
                if self._has_replied:
                    refusal = error
            except CallFailed:
                pass  # it answers; what it says is the business of the calls
            self._is_back(refusal)
            if refusal is not None:
                raise refusal
        finally:
            self._is_probed = False
            if self._waiting is not None:
                self._waiting.set_result(refusal)
                self._waiting = None

    def _note_refusal(self) -> float:
        """Note that a request was refused; seconds since all are."""
        now = self._clock.now()
        if self._refused_since is None:
            self._refused_since = now
        return now - self._refused_since

    def _still_down(self, reason: str) -> None:
        assert self._suspected_since is not None
        self._reason = reason
        self._probes += 1
        wait = self._backoff.wait(self._probes + 1)
        self._next_probe = self._clock.now() + wait
        if self._probes == 1:
            self._down[self._address] = self._suspected_since
            does = "does not answer" if self._refused_since is None else "refuses all requests"
            logger.warning(
                f"endpoint {does}, all calls to it wait", endpoint=self._address, reason=reason
            )
        logger.info("endpoint asked again", endpoint=self._address, wait=round(wait, 1))

    def _is_back(self, refusal: ProviderError | None) -> None:
        since = self._down.pop(self._address, None)
        if since is not None and refusal is None:
            logger.warning(
                "endpoint answers again",
                endpoint=self._address,
                after_seconds=round(self._clock.now() - since, 1),
            )
        self._suspected_since = self._refused_since = None
        self.answered()

    def _too_long(self, patience: float) -> OutageError:
        return OutageError(
            f"{self._address} has not answered for {patience:g} s ({self._reason}): "
            "run again when it does, or raise outage_patience"
        )
