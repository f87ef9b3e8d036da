"""Time as something that is passed in, so that no test has to wait."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """What the gateway knows of time, in seconds."""

    def now(self) -> float:
        """A clock that never goes back; only differences mean something."""

    def wall(self) -> float:
        """Seconds since 1970, for records."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Seconds of the monotonic clock."""
        return time.monotonic()

    def wall(self) -> float:
        """Seconds since 1970."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait without holding up others."""
        await asyncio.sleep(seconds)
