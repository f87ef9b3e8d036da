"""The one way to a model: reuse, retries, limits, budget and record hold for every call."""

import asyncio
import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from recjury.llm.budget import Budget, BudgetSpec
from recjury.llm.call_context import CallContext, current_call_context
from recjury.llm.call_identity import call_identity
from recjury.llm.clock import Clock, SystemClock
from recjury.llm.gather import gather
from recjury.llm.retry import Backoff
from recjury.llm.sender import ModelClient, Sender
from recjury.llm.spec import ModelSpec
from recjury.llm.transport import Provider
from recjury.records import CallRecord, ChatRequest, Message, Recorder, Reply

if TYPE_CHECKING:
    import numpy as np

EMBEDDING_BATCH = 64
"""How many texts one embedding call holds at most."""


class Gateway:
    """Calls to the campaign's models. One gateway serves all units of a process."""

    def __init__(
        self,
        models: Mapping[str, ModelSpec],
        recorder: Recorder | None = None,
        *,
        concurrency: int = 128,
        budget: BudgetSpec | float | None = None,
        clock: Clock | None = None,
        backoff: Backoff | None = None,
        providers: Mapping[str, Provider] | None = None,
    ):
        """A plain number as `budget` is in US dollars.

        Without a `recorder` models can be checked, and calls made once there is one: see
        `record_in`. `providers` stand in for the endpoints of their aliases. Raises ConfigError
        for a concurrency below 1, and for a budget in dollars over a model without prices.
        """
        if isinstance(budget, int | float):
            budget = BudgetSpec(dollars=budget)
        if budget is not None:
            budget.check(models)
        self.models = dict(models)
        self._recorder = recorder
        self._clock = clock or SystemClock()
        self._sender = Sender(
            models,
            providers or {},
            concurrency=concurrency,
            budget=Budget(budget),
            clock=self._clock,
            backoff=backoff or Backoff(),
        )
        self.usage = self._sender.usage
        self._shared: dict[str, asyncio.Future[Reply | Exception | None]] = {}

    async def complete(self, request: ChatRequest) -> Reply:
        """The reply to `request`, kept by the recorder before it is returned.

        A reply the recorder has is reused; equal calls in flight share one request. Raises
        CallFailed after the retries, BudgetSpent, ProviderError when the endpoint turns the
        key or the model down, and ConfigError for an alias or key that is not there.
        """
        return await self._complete(request, current_call_context())

    async def embed(
        self, model: str, texts: Sequence[str]
    ) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
        """The vectors of `texts` by the model of that alias: [n, d] float32; raises as complete().

        Batches are recorded and reused like calls; equal batches have equal identities, whoever
        asks.
        """
        import numpy as np

        batches = [
            ChatRequest(
                model,
                tuple(Message("user", (text,)) for text in texts[start : start + EMBEDDING_BATCH]),
                "embedding",
            )
            for start in range(0, len(texts), EMBEDDING_BATCH)
        ]
        behalf = CallContext(current_call_context().unit, 0)
        replies = await gather(self._complete(batch, behalf) for batch in batches)
        if not replies:
            return np.zeros((0, 0), dtype=np.float32)
        parts = [
            np.frombuffer(base64.b64decode(reply.text), dtype="<f4").reshape(
                len(batch.messages), -1
            )
            for batch, reply in zip(batches, replies, strict=True)
        ]
        return np.concatenate(parts).astype(np.float32)

    def record_in(
        self, recorder: Recorder, *, spent_cost: float | None = 0.0, spent_tokens: int = 0
    ) -> None:
        """From now on keep calls in `recorder`; earlier runs have spent so much of the budget.

        `spent_cost` is in US dollars, None where it is unknown: ConfigError where it bounds calls.
        """
        self._sender.budget.go_on(cost=spent_cost, tokens=spent_tokens)
        self._recorder = recorder

    async def check(self) -> None:
        """Try every model before any work is done.

        Raises ConfigError for a key that is not set, and ProviderError for an endpoint that
        is not there, refuses the key, or lacks the model; each in one line.
        """
        lanes = [self._sender.lane(alias) for alias in self.models]
        for lane in lanes:
            await lane.provider.check()

    async def aclose(self) -> None:
        """Close all connections; calls still in flight fail."""
        await self._sender.aclose()

    async def __aenter__(self) -> Self:
        """Use as a context manager."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close all connections."""
        await self.aclose()

    async def _complete(self, request: ChatRequest, behalf: CallContext) -> Reply:
        lane = self._sender.lane(request.model)
        key = call_identity(request, lane.spec, behalf.sample)
        while (shared := self._shared.get(key)) is not None:
            outcome = await asyncio.shield(shared)
            if isinstance(outcome, Exception):
                raise outcome
            if outcome is not None:
                self.usage.reused += 1
                return replace(outcome, reused=True)
        # The first to ask does the work; if it is cancelled (None), a follower takes over.
        shared = asyncio.get_running_loop().create_future()
        self._shared[key] = shared
        outcome = None
        try:
            outcome = await self._first(key, request, lane, behalf.unit)
        except Exception as error:
            outcome = error
            raise
        finally:
            del self._shared[key]
            shared.set_result(outcome)
        return outcome

    async def _first(
        self, key: str, request: ChatRequest, lane: ModelClient, unit: str | None
    ) -> Reply:
        recorder = self._recorder
        if recorder is None:
            raise LookupError("a gateway makes no call before it has a recorder")
        kept = await recorder.recall(key)
        if kept is not None:
            self.usage.reused += 1
            return kept if kept.reused else replace(kept, reused=True)
        started = self._clock.wall()
        reply = await self._sender.send(key, request, lane)
        await recorder.record(CallRecord(key, request, reply, unit, started))
        return reply
