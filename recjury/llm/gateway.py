"""The only way to a model: every call is reused, or sent within its limits, and recorded."""

import base64
from collections.abc import Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Self

from recjury.errors import ConfigError, ProviderError
from recjury.llm.adaptive_concurrency import AdaptiveConcurrency
from recjury.llm.batch.spec import BatchModelSpec
from recjury.llm.budget import NOTHING_SPENT, Budget, BudgetSpec, GatewayUsage, SpentBefore
from recjury.llm.call import ModelCalls, SharedParts
from recjury.llm.call_identity import CallContext, current_call_context
from recjury.llm.call_slots import CallSlots, EndpointSlots, Part
from recjury.llm.endpoint_check import CallUse
from recjury.llm.endpoint_errors import provider_error
from recjury.llm.endpoint_spec import EndpointSpec
from recjury.llm.event_loop import Clock, SystemClock, gather
from recjury.llm.learning import Learning
from recjury.llm.model_kinds import open_provider
from recjury.llm.policy import ATTEMPTS, CHECK_SECONDS, CHECKS, REFUSED_CHECKS, Kind
from recjury.llm.provider import DeferredProvider, Provider, Retryable
from recjury.llm.reply_reading import AttemptLimit
from recjury.llm.retry import Backoff, Endpoint
from recjury.llm.spec import ModelSpec
from recjury.llm.transport import HttpSession
from recjury.records import JSON, ChatRequest, Message, Recorder, Reply

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
        self._shared = SharedParts(
            recorder,
            CallSlots(concurrency, limits),
            Budget(budget, spent),
            self.usage,
            clock or SystemClock(),
            backoff or Backoff(),
            open={},
        )
        self._providers = dict(providers or {})
        self._session = HttpSession()
        self._uses = dict(uses or {})
        self._endpoints: dict[str, Endpoint] = {}
        self._slots: dict[str, EndpointSlots] = {}
        self._calls: dict[str, ModelCalls] = {}

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the reply to `request`; it is recorded before it is returned.

        If the recorder has a reply, it is reused; equal open calls share one request. Raises
        CallFailed after the retries, BudgetSpent, ProviderError if the endpoint refuses the key or
        the model, and ConfigError for an unknown alias or a missing key.
        """
        return await self._of(request.model).complete(request, current_call_context())

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
        calls = self._of(model)
        replies = await gather(calls.complete(batch, context) for batch in batches)
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
        await gather(self._try(calls) for calls in [self._of(alias) for alias in self.models])

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
        endpoints = {self._of(alias).slots: most for alias, most in (models or {}).items()}
        self._shared.slots.change(concurrency, limits, endpoints)

    @property
    def state(self) -> dict[str, JSON]:
        """What is open at the moment, and within which limits; to be shown."""
        slots = self._shared.slots
        return {
            "in_flight": self.usage.in_flight,
            "concurrency": slots.most,
            "limits": {part: most for part, most in slots.part_limits.items() if most is not None},
            "models": {alias: calls.state for alias, calls in sorted(self._calls.items())},
            "down": sorted(self.usage.down),
        }

    @property
    def budget(self) -> Budget:
        """The budget of all calls, which may have no limit."""
        return self._shared.budget

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
        for alias, calls in self._calls.items():
            if calls.room.least:
                found[alias] = {**found.get(alias, {}), "least_tokens": calls.room.least}
        return {alias: learned for alias, learned in sorted(found.items()) if learned}

    async def aclose(self) -> None:
        """Close all connections, even if one raises; open calls fail."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._session.aclose)
            for calls in self._calls.values():
                stack.push_async_callback(calls.aclose)

    async def __aenter__(self) -> Self:
        """Use as a context manager."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close all connections."""
        await self.aclose()

    def _of(self, alias: str) -> ModelCalls:
        """The calls to a model. Raises ConfigError for an unknown alias and for a missing key."""
        calls = self._calls.get(alias)
        if calls is None:
            if alias not in self.models:
                known = ", ".join(sorted(self.models)) or "none"
                raise ConfigError(f"no model is called {alias!r}: the models are {known}")
            spec = self.models[alias]
            provider = self._providers.get(alias) or open_provider(
                spec, self._session, self._uses.get(alias, ()), self.learning.get(alias)
            )
            calls = self._calls[alias] = ModelCalls(
                spec, provider, self._shared, self._endpoint(spec), self._endpoint_slots(spec)
            )
        return calls

    def _endpoint_slots(self, spec: ModelSpec) -> EndpointSlots:
        """The slots of a model: its own if it has a `concurrency`, else those of its endpoint."""
        slots = self._shared.slots
        if spec.concurrency is not None:
            return slots.add_endpoint(AdaptiveConcurrency(spec.concurrency, is_fixed=True))
        address = _address(spec)
        if address not in self._slots:
            limit = AdaptiveConcurrency(slots.most)
            self._slots[address] = slots.add_endpoint(limit, takes_slots=spec.takes_slots)
        return self._slots[address]

    def _deferred(self) -> list[DeferredProvider]:
        slow = (alias for alias, spec in self.models.items() if isinstance(spec, BatchModelSpec))
        found = (self._of(alias).deferred for alias in slow)
        return [each for each in found if each is not None]

    def _endpoint(self, spec: ModelSpec) -> Endpoint:
        """The endpoint of a model, which several aliases may share.

        Two models at one address are two: often only one of them is down.
        """
        address = _address(spec)
        if address not in self._endpoints:
            backoff, down = self._shared.backoff, self.usage.down
            self._endpoints[address] = Endpoint(address, self._shared.clock, backoff, down)
        return self._endpoints[address]

    async def _try(self, calls: ModelCalls) -> None:
        """Raise ProviderError when a model cannot be used.

        A fault that may pass is given a few tries, except that there is no connection at all; a
        key or a model is refused only after three.
        """
        clock, backoff, tries, refused = self._shared.clock, self._shared.backoff, 0, 0
        begun = clock.now()
        while True:
            tries += 1
            try:
                await calls.provider.check()
            except Retryable as error:
                late = clock.now() - begun >= CHECK_SECONDS
                if error.kind is Kind.NO_CONNECTION or late or tries >= CHECKS:
                    advice = "check base_url and that the server runs"
                    raise provider_error(calls.spec, error.reason, advice) from None
                await clock.sleep(backoff.wait(tries))
            except ProviderError:
                refused += 1
                if refused >= REFUSED_CHECKS:
                    raise
                await clock.sleep(backoff.wait(1))
            else:
                calls.endpoint.replied()
                return


def _address(spec: ModelSpec) -> str:
    return f"{spec.address} ({spec.name})"
