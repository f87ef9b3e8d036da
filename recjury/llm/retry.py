"""How long to wait before another attempt."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from recjury.llm.transport import Retryable


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential waits with jitter: half to all of `first` * 2^(attempt - 1) seconds.

    A wait grows to `longest`; one that the endpoint asks for is honoured up to `patience`.
    """

    first: float = 0.5
    longest: float = 30.0
    patience: float = 600.0
    chance: Callable[[], float] = random.random

    def wait(self, attempt: int, asked: float | None = None) -> float:
        """Seconds to wait after the failed `attempt` (1 = the first)."""
        grown = min(self.longest, self.first * 2.0 ** min(attempt - 1, 30))
        jittered = grown * (0.5 + 0.5 * self.chance())
        return jittered if asked is None else max(jittered, min(asked, self.patience))


@dataclass(slots=True)
class Attempts:
    """What became of one call so far: how often it was sent, failed, and was turned away.

    Being turned away burns none of the attempts that are meant for failures: it says that the
    endpoint works. What it costs is time, and of that a call has `patience` seconds in all.
    """

    backoff: Backoff
    retries: int
    patience: float
    sent: int = 0
    failed: int = 0
    turned_away: int = 0
    waited: float = 0.0

    def wait(self, problem: Retryable) -> float | None:
        """Seconds to wait before the call is sent again; None to give it up."""
        if not problem.turned_away:
            self.failed += 1
            given_up = self.failed > self.retries
            return None if given_up else self.backoff.wait(self.failed, problem.retry_after)
        left = self.patience - self.waited
        if left <= 0:
            return None
        self.turned_away += 1
        asked = problem.retry_after or 0.0
        # Where the endpoint knows when, waiting ever longer on top would only lose time. What is
        # shorter than our own first wait is no such knowledge: some say 0 however busy they are.
        known = asked >= self.backoff.first
        wait = min(max(self.backoff.wait(1 if known else self.turned_away), asked), left)
        self.waited += wait
        return wait

    def reason(self, problem: Retryable) -> str:
        """Why the call was given up, in one line."""
        times = "1 attempt" if self.sent == 1 else f"{self.sent} attempts"
        if not problem.turned_away:
            return f"{problem.reason} ({times})"
        return (
            f"{problem.reason} ({times}; turned away for {self.waited:g} s: lower "
            "requests_per_minute or concurrency, or raise patience)"
        )


def retry_after(headers: dict[str, str]) -> float | None:
    """The wait in seconds that the headers ask for: Retry-After as seconds or date, or in ms."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        if "retry-after" not in headers:
            return None
        value = headers["retry-after"]
        if value.replace(".", "", 1).isdigit():
            return float(value)
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None
