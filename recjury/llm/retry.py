"""How long to wait before another attempt."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


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
