"""Sending: a call's places, attempts and cost. What is kept or shared is the gateway's matter."""

from collections.abc import Mapping
from dataclasses import dataclass

from recjury.errors import CallFailed, ConfigError, ProviderError
from recjury.llm.aiohttp_transport import HttpSession
from recjury.llm.budget import Budget
from recjury.llm.clock import Clock
from recjury.llm.connect import connect
from recjury.llm.limits import RateLimiter, Semaphore
from recjury.llm.retry import Attempts, Backoff
from recjury.llm.spec import ModelSpec
from recjury.llm.transport import Completion, Provider, Retryable
from recjury.llm.usage import GatewayUsage
from recjury.records import ChatRequest, Reply, Usage


@dataclass(slots=True)
class ModelClient:
    """What one model needs: its provider, its own places if it has a limit, its pace."""

    spec: ModelSpec
    provider: Provider
    limit: Semaphore | None
    pace: RateLimiter


class Sender:
    """Sends calls over the lanes of their models, so many at once in all."""

    def __init__(
        self,
        models: Mapping[str, ModelSpec],
        providers: Mapping[str, Provider],
        *,
        concurrency: int,
        budget: Budget,
        clock: Clock,
        backoff: Backoff,
    ):
        """`providers` stand in for the endpoints of their aliases.

        Raises ConfigError for a concurrency below 1.
        """
        if concurrency < 1:
            raise ConfigError(f"concurrency must be at least 1, got {concurrency}")
        self.usage = GatewayUsage()
        self._models = dict(models)
        self._providers = dict(providers)
        self.budget = budget
        self._clock = clock
        self._backoff = backoff
        self._limit = Semaphore(concurrency)
        self._pool = HttpSession()
        self._lanes: dict[str, ModelClient] = {}

    def lane(self, alias: str) -> ModelClient:
        """The lane of a model; raises ConfigError for an unknown alias and for a missing key."""
        lane = self._lanes.get(alias)
        if lane is None:
            lane = self._lanes[alias] = self._opened(alias)
        return lane

    def _opened(self, alias: str) -> ModelClient:
        if alias not in self._models:
            known = ", ".join(sorted(self._models)) or "none"
            raise ConfigError(f"no model is called {alias!r}: the models are {known}")
        spec = self._models[alias]
        return ModelClient(
            spec=spec,
            provider=self._providers.get(alias) or connect(spec, self._pool),
            limit=None if spec.concurrency is None else Semaphore(spec.concurrency),
            pace=RateLimiter(self._clock, spec.requests_per_minute),
        )

    async def aclose(self) -> None:
        """Close all connections; calls still in flight fail."""
        for lane in self._lanes.values():
            await lane.provider.aclose()
        await self._pool.aclose()

    async def send(self, key: str, request: ChatRequest, lane: ModelClient) -> Reply:
        """The reply to `request`, called `key`.

        Raises CallFailed after the retries, BudgetSpent, and ProviderError.
        """
        worst = self.budget.worst(request, lane.spec)
        await self.budget.set_aside(worst)
        taken = 0.0
        try:
            completion, latency, attempts = await self._attempts(request, lane)
            tokens = (
                completion.prompt_tokens,
                completion.completion_tokens,
                completion.cached_tokens,
            )
            cost = lane.spec.cost(*tokens)
            taken = self.budget.taken(completion, cost)
        finally:
            self.budget.settle(worst, taken)
        self.usage.add(completion, cost)
        return Reply(
            call=key,
            text=completion.text,
            finish_reason=completion.finish_reason,
            model=completion.model or lane.spec.name,
            usage=Usage(*tokens, cost),
            logprobs=completion.logprobs,
            latency=latency,
            attempts=attempts,
            further=completion.further,
        )

    async def _attempts(
        self, request: ChatRequest, lane: ModelClient
    ) -> tuple[Completion, float, int]:
        attempts = Attempts(self._backoff, lane.spec.retries, lane.spec.patience)
        while True:
            attempts.sent += 1
            try:
                completion, latency = await self._attempt(request, lane, again=attempts.sent > 1)
                return completion, latency, attempts.sent
            except Retryable as error:
                problem = error
            except (CallFailed, ProviderError):
                self.usage.failed += 1
                raise
            wait = attempts.wait(problem)
            if wait is None:
                self.usage.failed += 1
                raise CallFailed(f"{request.model}: {attempts.reason(problem)}") from None
            self.usage.retried += 1
            if problem.retry_after is not None:
                lane.pace.hold(min(wait, problem.retry_after))
            await self._clock.sleep(wait)

    async def _attempt(
        self, request: ChatRequest, lane: ModelClient, *, again: bool
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

    async def _admitted(self, lane: ModelClient, *, again: bool) -> None:
        await lane.pace.turn()
        await self._limit.acquire(ahead=again)
        while lane.pace.held:
            # The pause began while this call queued: others may go meanwhile.
            self._limit.release()
            await lane.pace.over()
            await self._limit.acquire(ahead=True)
