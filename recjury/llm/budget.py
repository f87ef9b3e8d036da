"""What a campaign may spend. The typical cost of a call is reserved before it is sent."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from recjury.errors import Stop


class Spent(NamedTuple):
    """US dollars and tokens, of one call or of many."""

    dollars: float = 0.0
    tokens: float = 0.0

    def plus(self, other: "Spent") -> "Spent":
        """The sum."""
        return Spent(self.dollars + other.dollars, self.tokens + other.tokens)


class Budget:
    """What a campaign may spend over all its runs, in US dollars, in tokens, or both.

    Only calls that are open can exceed it.
    """

    def __init__(
        self,
        dollars: float | None = None,
        spent: float = 0.0,
        *,
        tokens: int | None = None,
        spent_tokens: int = 0,
    ):
        """`spent` and `spent_tokens` are the sums of the stored calls; without a limit all fits."""
        self.dollars, self.tokens = dollars, tokens
        self.spent = Spent(spent, spent_tokens)
        self._reserved = Spent()
        self._open = 0  # an integer, since a sum of floats need not return to 0
        self._settled = asyncio.Condition()

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit."""
        return self.dollars is not None or self.tokens is not None

    @asynccontextmanager
    async def reserve(self, typical: Spent) -> AsyncIterator[None]:
        """Wait while open calls may leave room. Raises Stop if nothing is open and nothing fits."""
        if not self.is_limited:
            yield
            return
        async with self._settled:
            await self._settled.wait_for(lambda: self._fits(typical) or not self._open)
            if not self._fits(typical):
                raise Stop(f"{self._used_up()}: raise it, and the same command goes on")
            self._reserved, self._open = self._reserved.plus(typical), self._open + 1
        try:
            yield
        finally:
            back = Spent(-typical.dollars, -typical.tokens)
            self._open -= 1
            self._reserved = self._reserved.plus(back) if self._open else Spent()
            async with self._settled:
                self._settled.notify_all()

    def settle(self, cost: Spent) -> None:
        """Count what a call did cost."""
        self.spent = self.spent.plus(cost)

    def _fits(self, typical: Spent) -> bool:
        dollars, tokens = self.spent.plus(self._reserved).plus(typical)
        return (self.dollars is None or dollars <= self.dollars) and (
            self.tokens is None or tokens <= self.tokens
        )

    def _used_up(self) -> str:
        limits = []
        if self.dollars is not None:
            limits.append(f"${self.dollars:g} (spent: ${self.spent.dollars:.2f})")
        if self.tokens is not None:
            limits.append(f"{self.tokens:,} tokens (spent: {self.spent.tokens:,.0f})")
        return f"the budget of {' and '.join(limits)} is used up"
