"""What calls cost, and the budget that they must stay under."""

import asyncio
from collections import deque

from recjury.errors import BudgetSpent
from recjury.llm.spec import ModelSpec
from recjury.llm.wire import Completion
from recjury.records import ChatRequest

# Where neither the request nor the model says how long a reply may get.
ASSUMED_MAX_TOKENS = 4096
# English has about four characters a token; two leaves room for other scripts and for markup.
CHARACTERS_PER_TOKEN = 2


def cost(completion: Completion, spec: ModelSpec) -> float:
    """US dollars at the model's prices; cached tokens are a part of the prompt's."""
    fresh = completion.prompt_tokens - completion.cached_tokens
    return (
        fresh * spec.price_in
        + completion.cached_tokens * spec.price_cached
        + completion.completion_tokens * spec.price_out
    ) / 1e6


def worst_cost(request: ChatRequest, spec: ModelSpec) -> float:
    """The most a call should cost in US dollars: a dense prompt, and the longest replies."""
    characters = sum(len(part) for message in request.messages for part in message.parts)
    replied = 0 if spec.embedding else spec.max_tokens or request.max_tokens or ASSUMED_MAX_TOKENS
    prompt = characters / CHARACTERS_PER_TOKEN * max(spec.price_in, spec.price_cached)
    return (prompt + request.n * replied * spec.price_out) / 1e6


class Budget:
    """US dollars that calls take from: what is in flight is set aside at its worst cost.

    A call that only fits once others have turned out cheaper than their worst waits for them;
    one that cannot fit raises BudgetSpent.
    """

    def __init__(self, limit: float | None, spent: float = 0.0):
        """`limit` None never refuses; `spent` was spent before."""
        self._limit = limit
        self.spent = spent
        self._aside = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def set_aside(self, worst: float) -> None:
        """Set `worst` aside for a call; raises BudgetSpent when the budget cannot cover it."""
        if self._limit is None:
            return
        while self.spent + self._aside + worst > self._limit:
            if self.spent + worst > self._limit:
                raise BudgetSpent(
                    f"budget of {self._limit:g} USD: {self.spent:.6g} spent, and this call may "
                    f"cost {worst:.6g}: raise the budget and run again"
                )
            settled = asyncio.get_running_loop().create_future()
            self._waiting.append(settled)
            await settled
        self._aside += worst

    def settle(self, worst: float, spent: float) -> None:
        """Replace what was set aside by what was `spent` (0 for a call that failed)."""
        self.spent += spent
        if self._limit is None:
            return
        self._aside = max(0.0, self._aside - worst)
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_result(None)
