"""A provider that allows so many requests at once, and refuses the others with HTTP 429."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from recjury.llm import Completion, EndpointSpec, Gateway, ModelSpec, Retryable
from recjury.llm.policy import Kind
from recjury.records import ChatRequest
from tests.llm.doubles import request
from tests.llm.virtual_time import LoopClock


@dataclass
class LimitedModel:
    """Allows `phases[i][1]` requests at once until `phases[i][0]` seconds have passed.

    With `by_calls`, the phases end after so many answered requests instead. A refusal comes after
    `refused_after` seconds and asks for a wait of `retry_after`. `jitter` is the largest share by
    which a latency differs.
    """

    phases: Sequence[tuple[float, int]]
    latency: float = 0.2
    by_calls: bool = False
    refused_after: float = 0.0
    retry_after: float | None = None
    jitter: float = 0.0
    answered: int = 0
    refused: int = 0
    open: int = 0
    most_open: int = 0
    ended_at: float = 0.0
    began_at: float | None = None
    chance: random.Random = field(default_factory=lambda: random.Random(7))

    @property
    def allowed(self) -> int:
        """How many requests may be open now."""
        assert self.began_at is not None
        now = asyncio.get_running_loop().time() - self.began_at
        reached = self.answered if self.by_calls else now
        return next((many for end, many in self.phases if reached < end), self.phases[-1][1])

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer after the latency, or refuse."""
        loop = asyncio.get_running_loop()
        self.began_at = loop.time() if self.began_at is None else self.began_at
        if self.open >= self.allowed:
            self.refused += 1
            await asyncio.sleep(self.refused_after)
            raise Retryable("HTTP 429", Kind.RATE_LIMIT, retry_after=self.retry_after)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            await asyncio.sleep(self.latency * (1 + self.jitter * self.chance.uniform(-1, 1)))
        finally:
            self.open -= 1
        self.answered += 1
        self.ended_at = loop.time()
        return Completion("fine")

    async def check(self) -> None:
        """Nothing to check."""

    async def aclose(self) -> None:
        """Nothing to release."""

    @property
    def seconds(self) -> float:
        """From the first request to the last answer."""
        assert self.began_at is not None
        return self.ended_at - self.began_at

    def ideal_seconds(self, calls: int) -> float:
        """How long an oracle takes that always has as many open as are allowed."""
        done, now = 0.0, 0.0
        for end, many in self.phases:
            rate = many / self.latency
            left = calls - done
            share = min(left, end - done) if self.by_calls else min(left, (end - now) * rate)
            done += share
            now += share / rate
        return now + (calls - done) * self.latency / self.phases[-1][1]


async def ask_all(gateway: Gateway, alias: str, calls: int, workers: int) -> None:
    """Make so many different calls to the model `alias`, `workers` of them at a time."""
    numbers = iter(range(calls))

    async def worker() -> None:
        for number in numbers:
            await gateway.complete(request(str(number), model=alias))

    await asyncio.gather(*(worker() for _ in range(workers)))


def specs(*aliases: str, **fields: object) -> dict[str, ModelSpec]:
    """A model for each alias, each at its own address."""
    return {
        alias: EndpointSpec.model_validate(
            {"base_url": f"http://127.0.0.1:{number}/v1", "name": "m", **fields}
        )
        for number, alias in enumerate(aliases, 1)
    }


CLOCK = LoopClock()
