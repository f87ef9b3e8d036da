"""The only way to a model: every call is reused, or sent within its limits, and recorded."""

import asyncio
import base64
from collections.abc import Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from recjury.errors import ConfigError
from recjury.llm.adaptive_concurrency import AdaptiveConcurrency
from recjury.llm.attempts import AttemptLimit
from recjury.llm.batch.spec import BatchModelSpec
from recjury.llm.budget import NOTHING_SPENT, Budget, BudgetSpec, GatewayUsage, SpentBefore
from recjury.llm.call_identity import CallContext, call_identity, current_call_context
from recjury.llm.call_slots import CallSlots, EndpointSlots, Part
from recjury.llm.endpoint_check import CallUse
from recjury.llm.endpoint_spec import EndpointSpec
from recjury.llm.event_loop import Clock, SystemClock, gather
from recjury.llm.learning import Learning
from recjury.llm.model_client import ModelClient, SharedLimits
from recjury.llm.model_kinds import open_provider
from recjury.llm.outage import Endpoint
from recjury.llm.policy import ATTEMPTS
from recjury.llm.provider import DeferredProvider, Provider
from recjury.llm.retry import Backoff
from recjury.llm.spec import ModelSpec
from recjury.llm.transport import HttpSession
from recjury.records import JSON, CallRecord, ChatRequest, Message, Recorder, Reply
from recjury.telemetry import call_span

if TYPE_CHECKING:
    import numpy as np

EMBEDDING_BATCH = 64
"""The largest number of texts in one embedding call."""


class Gateway:
    """Calls to the campaign's models. One gateway serves all units of a process."""

    def __init__(
        self,
        models: Mapping[str, ModelSpec],
        recorder: Recorder,
        *,
        concurrency: int = 128,
        limits: Mapping[Part, int] | None = None,
        budget: BudgetSpec | float | None = None,
        spent: SpentBefore = NOTHING_SPENT,
        clock: Clock | None = None,
        backoff: Backoff | None = None,
        providers: Mapping[str, Provider] | None = None,
        uses: Mapping[str, Collection[CallUse]] | None = None,
        learning: Mapping[str, Learning] | None = None,
        attempts: int = ATTEMPTS,
    ):
        """At most `concurrency` calls are open in total, and of each part so many as `limits` says.

        How many of them are open at one endpoint is learned from its answers (see
        `adaptive_concurrency`), unless the model has a `concurrency` of its own. A plain number as
        `budget` is in US dollars.
        `spent` is the part of the budget that earlier runs have used. `providers` replace the
        endpoints of their aliases. `uses` names the kinds of calls that `check` tries, and
        `learning` has what another gateway has learned, both by alias. `attempts` limits the
        requests for one reply if the replies cannot be used. Raises ConfigError for a concurrency
        below 1, and for a budget in dollars if a price or the cost of earlier runs is unknown.
        """
        if isinstance(budget, int | float):
            budget = BudgetSpec(dollars=budget)
        if budget is not None:
            budget.check(models)
        if concurrency < 1:
            raise ConfigError(f"concurrency must be at least 1, got {concurrency}")
        self.models = dict(models)
        self.learning = {
            alias: Learning(spec)
            for alias, spec in models.items()
            if isinstance(spec, EndpointSpec)
        }
        self.learning.update(learning or {})
        self.usage = GatewayUsage()
        self.attempts = AttemptLimit(attempts)
        self._recorder = recorder
        self._clock = clock or SystemClock()
        self._limits = SharedLimits(
            CallSlots(concurrency, limits),
            Budget(budget, spent),
            self.usage,
            self._clock,
            backoff or Backoff(),
        )
        self._providers = dict(providers or {})
        self._session = HttpSession()
        self._uses = dict(uses or {})
        self._endpoints: dict[str, Endpoint] = {}
        self._slots: dict[str, EndpointSlots] = {}
        self._clients: dict[str, ModelClient] = {}
        self._in_flight: dict[str, asyncio.Future[Reply | Exception | None]] = {}

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the reply to `request`; it is recorded before it is returned.

        If the recorder has a reply, it is reused; equal open calls share one request. Raises
        CallFailed after the retries, BudgetSpent, ProviderError if the endpoint refuses the key or
        the model, and ConfigError for an unknown alias or a missing key.
        """
        return await self._complete(request, current_call_context())

    async def embed(
        self, model: str, texts: Sequence[str]
    ) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
        """The vectors of `texts` by the model of that alias: [n, d] float32; raises as complete().

        Batches are recorded and reused like calls. Equal batches have equal identities in every
        call context.
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
        context = CallContext(current_call_context().unit, 0)
        replies = await gather(self._complete(batch, context) for batch in batches)
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
        """Try every model before any work is done, and learn what it refuses.

        Raises ConfigError for a key that is not set, and ProviderError for an endpoint that cannot
        be reached, refuses the key, or lacks the model; each in one line.
        """
        clients = [self._client(alias) for alias in self.models]
        await gather(client.check() for client in clients)

    def tune(
        self,
        *,
        concurrency: int | None = None,
        limits: Mapping[Part, int | None] | None = None,
        models: Mapping[str, int] | None = None,
    ) -> None:
        """Set other limits: of all calls, of parts (None: no limit), and of models by alias.

        Of a model without `concurrency`, the number is the most that may be learned, and stays so
        if `concurrency` changes. Open requests are not ended. Raises ConfigError for an unknown
        alias and for a missing key; then nothing is changed.
        """
        endpoints = {self._client(alias).slots: most for alias, most in (models or {}).items()}
        self._limits.slots.change(concurrency, limits, endpoints)

    @property
    def state(self) -> dict[str, JSON]:
        """What is open at the moment, and within which limits; to be shown."""
        slots = self._limits.slots
        return {
            "in_flight": self.usage.in_flight,
            "concurrency": slots.most,
            "limits": {part: most for part, most in slots.part_limits.items() if most is not None},
            "models": {alias: client.state for alias, client in sorted(self._clients.items())},
            "down": sorted(self.usage.down),
        }

    @property
    def budget(self) -> Budget:
        """The budget of all calls, which may have no limit."""
        return self._limits.budget

    @property
    def defers(self) -> bool:
        """Whether a model answers many calls together, hours later."""
        return bool(self._deferred())

    @property
    def has_room(self) -> bool:
        """Whether a model that answers hours later takes more calls."""
        return any(each.has_room for each in self._deferred())

    @property
    def most_deferred(self) -> int:
        """The most calls to models that answer hours later that are open at once."""
        return sum(each.most_open for each in self._deferred())

    @property
    def learned(self) -> dict[str, dict[str, JSON]]:
        """By alias, what is sent differently because the endpoint refuses it otherwise, and the
        server that recjury started.

        `least_tokens` is a limit that replies of the model need, if requests have a lower one.
        """
        found = {alias: each.as_json() for alias, each in self.learning.items()}
        for alias, client in self._clients.items():
            if client.room.least:
                found[alias] = {**found.get(alias, {}), "least_tokens": client.room.least}
        return {alias: learned for alias, learned in sorted(found.items()) if learned}

    async def aclose(self) -> None:
        """Close all connections, even if one raises; open calls fail."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._session.aclose)
            for client in self._clients.values():
                stack.push_async_callback(client.aclose)

    async def __aenter__(self) -> Self:
        """Use as a context manager."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close all connections."""
        await self.aclose()

    def _client(self, alias: str) -> ModelClient:
        """The client of a model. Raises ConfigError for an unknown alias and for a missing key."""
        client = self._clients.get(alias)
        if client is None:
            if alias not in self.models:
                known = ", ".join(sorted(self.models)) or "none"
                raise ConfigError(f"no model is called {alias!r}: the models are {known}")
            spec = self.models[alias]
            provider = self._providers.get(alias) or open_provider(
                spec, self._session, self._uses.get(alias, ()), self.learning.get(alias)
            )
            client = self._clients[alias] = ModelClient(
                spec, provider, self._limits, self._endpoint(spec), self._endpoint_slots(spec)
            )
        return client

    def _endpoint_slots(self, spec: ModelSpec) -> EndpointSlots:
        """The slots of a model: its own if it has a `concurrency`, else those of its endpoint."""
        slots = self._limits.slots
        if spec.concurrency is not None:
            return slots.add_endpoint(AdaptiveConcurrency(spec.concurrency, is_fixed=True))
        address = _address(spec)
        if address not in self._slots:
            limit = AdaptiveConcurrency(slots.most)
            self._slots[address] = slots.add_endpoint(limit, takes_slots=spec.takes_slots)
        return self._slots[address]

    def _deferred(self) -> list[DeferredProvider]:
        slow = (alias for alias, spec in self.models.items() if isinstance(spec, BatchModelSpec))
        found = (self._client(alias).deferred for alias in slow)
        return [each for each in found if each is not None]

    def _endpoint(self, spec: ModelSpec) -> Endpoint:
        """The endpoint of a model, which several aliases may share.

        Two models at one address are two: often only one of them is down.
        """
        address = _address(spec)
        if address not in self._endpoints:
            backoff, down = self._limits.backoff, self.usage.down
            self._endpoints[address] = Endpoint(address, self._clock, backoff, down)
        return self._endpoints[address]

    async def _complete(self, request: ChatRequest, context: CallContext) -> Reply:
        client = self._client(request.model)
        identity = call_identity(request, client.spec, context.sample)
        while (shared := self._in_flight.get(identity)) is not None:
            outcome = await asyncio.shield(shared)
            if isinstance(outcome, Exception):
                raise outcome
            if outcome is not None:
                self.usage.reused += 1
                return replace(outcome, reused=True)
        # The first task to ask sends the call. If it is cancelled (None), another one sends it.
        shared = asyncio.get_running_loop().create_future()
        self._in_flight[identity] = shared
        outcome = None
        try:
            outcome = await self._reuse_or_send(identity, request, client, context.unit)
        except Exception as error:
            outcome = error
            raise
        finally:
            del self._in_flight[identity]
            shared.set_result(outcome)
        return outcome

    async def _reuse_or_send(
        self, identity: str, request: ChatRequest, client: ModelClient, unit: str | None
    ) -> Reply:
        kept = await self._recorder.recall(identity)
        if kept is not None:
            client.stored(identity)
            client.room.learn(request, kept)
            client.sizes.learn(request, kept)
            self.usage.reused += 1
            return kept if kept.reused else replace(kept, reused=True)
        started = self._clock.wall()
        with call_span(request, client.spec, unit) as answered:
            reply = await client.send(identity, request)
            answered(reply)
        await self._recorder.record(CallRecord(identity, request, reply, unit, started))
        client.stored(identity)
        return reply


def _address(spec: ModelSpec) -> str:
    return f"{spec.address} ({spec.name})"
