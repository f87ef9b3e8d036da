"""How long to wait before another attempt."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from recjury.llm.policy import SAME_FAILURES, Kind
from recjury.llm.provider import Retryable


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
