"""The one way to a model: reuse, retries, limits, budget and record hold for every call."""

import asyncio
import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from recjury.errors import CallFailed, ConfigError, EndpointRefused
from recjury.llm.attribution import Attribution, attribution
from recjury.llm.budget import Budget, cost, worst_cost
from recjury.llm.clock import Clock, SystemClock
from recjury.llm.connect import connect
from recjury.llm.identity import identity
from recjury.llm.limits import Limit, Pace
from recjury.llm.plain import Pool
from recjury.llm.retry import Backoff
from recjury.llm.spec import ModelSpec
from recjury.llm.usage import GatewayUsage
from recjury.llm.wire import Completion, Provider, Retryable
from recjury.records import CallRecord, ChatRequest, Message, Recorder, Reply, Usage

if TYPE_CHECKING:
    import numpy as np

_EMBEDDING_BATCH = 64


@dataclass(slots=True)
class _Lane:
    """What one model needs: its provider, its own places if it has a limit, its pace."""

    spec: ModelSpec
    provider: Provider
    limit: Limit | None
    pace: Pace


class Gateway:
    """Calls to the campaign's models. One gateway serves all trials of a process."""

    def __init__(
        self,
        models: Mapping[str, ModelSpec],
        recorder: Recorder,
        *,
        concurrency: int = 128,
        budget: float | None = None,
        spent: float = 0.0,
        clock: Clock | None = None,
        backoff: Backoff | None = None,
        providers: Mapping[str, Provider] | None = None,
    ):
        """`budget` is in US dollars, of which earlier runs have `spent` so much.

        `providers` stand in for the endpoints of their aliases. Raises ConfigError for a
        concurrency below 1.
        """
        if concurrency < 1:
            raise ConfigError(f"concurrency must be at least 1, got {concurrency}")
        self.models = dict(models)
        self.usage = GatewayUsage()
        self._recorder = recorder
        self._clock = clock or SystemClock()
        self._backoff = backoff or Backoff()
        self._budget = Budget(budget, spent)
        self._limit = Limit(concurrency)
        self._pool = Pool()
        self._providers = dict(providers or {})
        self._lanes: dict[str, _Lane] = {}
        self._shared: dict[str, asyncio.Future[Reply | Exception | None]] = {}

    async def complete(self, request: ChatRequest) -> Reply:
        """The reply to `request`, kept by the recorder before it is returned.

        A reply the recorder has is reused; equal calls in flight share one request. Raises
        CallFailed after the retries, BudgetSpent, EndpointRefused when the endpoint turns the
        key or the model down, and ConfigError for an alias or key that is not there.
        """
        return await self._complete(request, attribution())

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
                tuple(Message("user", (text,)) for text in texts[start : start + _EMBEDDING_BATCH]),
                "embedding",
            )
            for start in range(0, len(texts), _EMBEDDING_BATCH)
        ]
        trial = Attribution(attribution().trial, 0)
        replies = await asyncio.gather(*(self._complete(batch, trial) for batch in batches))
        if not replies:
            return np.zeros((0, 0), dtype=np.float32)
        parts = [
            np.frombuffer(base64.b64decode(reply.text), dtype="<f4").reshape(
                len(batch.messages), -1
            )
            for batch, reply in zip(batches, replies, strict=True)
        ]
        return np.concatenate(parts).astype(np.float32)

    async def check(self) -> None:
        """Try every model before any work is done.

        Raises ConfigError for a key that is not set, and EndpointRefused for an endpoint that
        is not there, refuses the key, or lacks the model; each in one line.
        """
        lanes = [self._lane(alias) for alias in self.models]
        for lane in lanes:
            await lane.provider.check()

    async def aclose(self) -> None:
        """Close all connections; calls still in flight fail."""
        for lane in self._lanes.values():
            await lane.provider.aclose()
        await self._pool.aclose()

    async def __aenter__(self) -> Self:
        """Use as a context manager."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close all connections."""
        await self.aclose()

    def _lane(self, alias: str) -> _Lane:
        if alias in self._lanes:
            return self._lanes[alias]
        if alias not in self.models:
            known = ", ".join(sorted(self.models)) or "none"
            raise ConfigError(f"no model is called {alias!r}: the models are {known}")
        spec = self.models[alias]
        lane = _Lane(
            spec=spec,
            provider=self._providers.get(alias) or connect(spec, self._pool),
            limit=None if spec.concurrency is None else Limit(spec.concurrency),
            pace=Pace(self._clock, spec.requests_per_minute),
        )
        self._lanes[alias] = lane
        return lane

    async def _complete(self, request: ChatRequest, behalf: Attribution) -> Reply:
        lane = self._lanes.get(request.model) or self._lane(request.model)
        key = identity(request, lane.spec, behalf.repeat)
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
            outcome = await self._first(key, request, lane, behalf.trial)
        except Exception as error:
            outcome = error
            raise
        finally:
            del self._shared[key]
            shared.set_result(outcome)
        return outcome

    async def _first(self, key: str, request: ChatRequest, lane: _Lane, trial: str | None) -> Reply:
        kept = await self._recorder.recall(key)
        if kept is not None:
            self.usage.reused += 1
            return kept if kept.reused else replace(kept, reused=True)
        started = self._clock.wall()
        reply = await self._paid(key, request, lane)
        await self._recorder.record(CallRecord(key, request, reply, trial, started))
        return reply

    async def _paid(self, key: str, request: ChatRequest, lane: _Lane) -> Reply:
        worst = worst_cost(request, lane.spec)
        await self._budget.set_aside(worst)
        spent = 0.0
        try:
            completion, latency, attempts = await self._attempts(request, lane)
            spent = cost(completion, lane.spec)
        finally:
            self._budget.settle(worst, spent)
        self.usage.add(completion, spent)
        usage = Usage(
            completion.prompt_tokens, completion.completion_tokens, completion.cached_tokens, spent
        )
        return Reply(
            call=key,
            text=completion.text,
            finish_reason=completion.finish_reason,
            model=completion.model or lane.spec.name,
            usage=usage,
            logprobs=completion.logprobs,
            latency=latency,
            attempts=attempts,
        )

    async def _attempts(self, request: ChatRequest, lane: _Lane) -> tuple[Completion, float, int]:
        attempt = 0
        while True:
            attempt += 1
            try:
                completion, latency = await self._attempt(request, lane, again=attempt > 1)
                return completion, latency, attempt
            except Retryable as error:
                problem = error
            except (CallFailed, EndpointRefused):
                self.usage.failed += 1
                raise
            if attempt > lane.spec.retries:
                self.usage.failed += 1
                times = "1 attempt" if attempt == 1 else f"{attempt} attempts"
                raise CallFailed(f"{request.model}: {problem.reason} ({times})") from None
            self.usage.retried += 1
            wait = self._backoff.wait(attempt, problem.retry_after)
            if problem.retry_after is not None:
                lane.pace.hold(wait)
            await self._clock.sleep(wait)

    async def _attempt(
        self, request: ChatRequest, lane: _Lane, *, again: bool
    ) -> tuple[Completion, float]:
        """One attempt, holding a place of the model's and one of the gateway's.

        Places are free again while a call waits for its next attempt or for the recorder.
        """
        if lane.limit is not None:
            await lane.limit.acquire(ahead=again)
        try:
            await self._admitted(lane, again=again)
            self.usage.in_flight += 1
            sent = self._clock.now()
            try:
                completion = await lane.provider.complete(request)
                return completion, self._clock.now() - sent
            finally:
                self.usage.in_flight -= 1
                self._limit.release()
        finally:
            if lane.limit is not None:
                lane.limit.release()

    async def _admitted(self, lane: _Lane, *, again: bool) -> None:
        await lane.pace.turn()
        await self._limit.acquire(ahead=again)
        while lane.pace.held:
            # The pause began while this call queued: others may go meanwhile.
            self._limit.release()
            await lane.pace.over()
            await self._limit.acquire(ahead=True)
