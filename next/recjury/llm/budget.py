"""Money: what a call typically costs is reserved before it is sent, so only open calls can exceed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from recjury.errors import Stop


class Budget:
    """What a campaign may spend, in US dollars, over all its runs."""

    def __init__(self, limit: float | None = None, spent: float = 0.0):
        """`spent` is the sum of the stored calls; without a `limit` all fits."""
        self.limit, self.spent = limit, spent
        self._reserved, self._open = 0.0, 0
        self._settled = asyncio.Condition()

    @asynccontextmanager
    async def reserve(self, typical: float) -> AsyncIterator[None]:
        """Wait while open calls may leave room. Raises Stop if nothing is open and nothing fits."""
        async with self._settled:
            await self._settled.wait_for(lambda: self._fits(typical) or not self._open)
            if not self._fits(typical):
                raise Stop(
                    f"the budget of ${self.limit:g} is used up (${self.spent:.2f}): "
                    "raise it, and the same command goes on"
                )
            self._reserved, self._open = self._reserved + typical, self._open + 1
        try:
            yield
        finally:
            async with self._settled:
                self._reserved, self._open = self._reserved - typical, self._open - 1
                self._settled.notify_all()

    def _fits(self, typical: float) -> bool:
        return self.limit is None or self.spent + self._reserved + typical <= self.limit

    def settle(self, cost: float | None) -> None:
        """Count what a call did cost; an unknown cost counts as nothing."""
        self.spent += cost or 0.0
