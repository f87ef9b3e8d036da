"""One call to a model, from its identity to its stored reply.

    the same call stored? reused : open? shared : budget, slots, turn, sent; then, by what came back
    (`policy`): sent again after a wait, when the endpoint answers again, or given up; then stored

A form of the request that the endpoint refuses is changed one level below, in `openai_provider`; a
reply that cannot be used is asked for again one level above, in `reply_reading`.
"""

import asyncio
from dataclasses import dataclass
from typing import NamedTuple

from recjury.errors import CallFailed, ProviderError
from recjury.llm.adaptive_concurrency import SentRequest
from recjury.llm.budget import Budget, GatewayUsage
from recjury.llm.call_identity import CallContext, call_identity, current_call_context
from recjury.llm.call_slots import CallSlots, EndpointSlots, part_of
from recjury.llm.call_tokens import ReplyRoom, ReplySizes, with_missing_usage
from recjury.llm.event_loop import Clock
from recjury.llm.limits import CallLimits
from recjury.llm.provider import Completion, DeferredProvider, Provider, Retryable
from recjury.llm.retry import Attempts, Backoff, Endpoint
from recjury.llm.spec import ModelSpec
from recjury.logs import get_logger
from recjury.prompts import answer_code, asks_for_code, prompt_bytes, with_code
from recjury.records import JSON, CallRecord, ChatRequest, Recorder, Reply, Usage
from recjury.telemetry import call_span

logger = get_logger()


class _OutOfAttemptsError(CallFailed):
    """The last attempt failed, too; `last` is its reason."""

    def __init__(self, message: str, last: str, *, permanent: bool):
        super().__init__(message, permanent=permanent)
        self.last = last


class _EndpointIsDownError(Exception):
    """The endpoint went down while the attempt waited for its slots."""


class _Answered(NamedTuple):
    """A completion, how long its attempt took and when it was sent, and how many were sent."""

    completion: Completion
    latency: float
    sent_at: float
    attempts: int


@dataclass(frozen=True, slots=True)
class SharedParts:
    """What the calls to all models of a gateway share; `open` has the open ones by identity."""

    recorder: Recorder
    slots: CallSlots
    budget: Budget
    usage: GatewayUsage
    clock: Clock
    backoff: Backoff
    open: dict[str, asyncio.Future[Reply | Exception | None]]


class ModelCalls:
    """The calls to one model, within its own limits and those of all models."""

    def __init__(
        self,
        spec: ModelSpec,
        provider: Provider,
        shared: SharedParts,
        endpoint: Endpoint,
        slots: EndpointSlots,
    ):
        """`provider` is closed by `aclose`; `slots` are those of the model's endpoint."""
        self.spec = spec
        self.provider = provider
        self.deferred = provider if isinstance(provider, DeferredProvider) else None
        if self.deferred is not None:
            shared.usage.deferred.append(self.deferred.progress)
        self.room, self.sizes = ReplyRoom(spec), ReplySizes(spec)
        self.endpoint = endpoint
        self.slots = slots
        self._shared = shared
        self._limits = CallLimits(spec, shared.clock, shared.slots)

    async def complete(self, request: ChatRequest, context: CallContext) -> Reply:
        """The reply, stored before it is returned. Raises as `Gateway.complete`."""
        shared = self._shared
        prompt = prompt_bytes(request.messages)
        identity = call_identity(request, self.spec, context.sample, prompt=prompt)
        while (same := shared.open.get(identity)) is not None:
            outcome = await asyncio.shield(same)
            if isinstance(outcome, Exception):
                raise outcome
            if outcome is not None:
                shared.usage.reused += 1
                return outcome._replace(reused=True)
        # The first task to ask sends the call. If it is cancelled (None), another one sends it.
        mine = shared.open[identity] = asyncio.get_running_loop().create_future()
        outcome = None
        try:
            outcome = await self._reuse_or_send(identity, request, prompt, context.unit)
        except Exception as error:
            outcome = error
            raise
        finally:
            del shared.open[identity]
            mine.set_result(outcome)
        return outcome

    async def _reuse_or_send(
        self, identity: str, request: ChatRequest, prompt: bytes, unit: str | None
    ) -> Reply:
        shared = self._shared
        kept = await shared.recorder.recall(identity)
        if kept is not None:
            self._is_stored(identity)
            self.room.learn(request, kept)
            self.sizes.learn(request, kept)
            shared.usage.reused += 1
            return kept if kept.reused else kept._replace(reused=True)
        started = shared.clock.wall()
        asks = asks_for_code(request.messages)
        code = answer_code(shared.recorder.secret, prompt) if asks else ""
        with call_span(request, self.spec, unit) as answered:
            reply = await self._send(identity, self.room.applied(with_code(request, code)), code)
            answered(reply)
        await shared.recorder.record(CallRecord(identity, request, reply, unit, started))
        self._is_stored(identity)
        return reply

    def _is_stored(self, identity: str) -> None:
        if self.deferred is not None:
            self.deferred.stored(identity)

    async def _send(self, identity: str, request: ChatRequest, code: str) -> Reply:
        """The reply to a request with the room that it needs and this code in it.

        With a budget, the first call of a kind is sent alone: it shows what to reserve for the
        others.
        """
        begun = self._shared.clock.now()
        if self._shared.budget.limit is None or self.deferred is not None:
            return await self._within_budget(identity, request, code, begun)
        async with self.sizes.first_alone(request):
            return await self._within_budget(identity, request, code, begun)

    async def _within_budget(
        self, identity: str, request: ChatRequest, code: str, begun: float
    ) -> Reply:
        budget = self._shared.budget
        reserved = budget.upper_bound(request, self.spec, self.sizes.largest(request))
        await budget.reserve(reserved)
        taken = 0.0
        try:
            answered = await self._send_until_answered(identity, request)
            safe = answered.completion.without_keys()
            completion, estimated = with_missing_usage(safe, request, self.spec)
            tokens = (
                completion.prompt_tokens,
                completion.completion_tokens,
                completion.cached_tokens,
            )
            cost = self.spec.cost(*tokens)
            taken = budget.taken(completion, cost)
        finally:
            budget.settle(reserved, taken)
        self._shared.usage.add(completion, cost, estimated=estimated)
        reply = Reply(
            call=identity,
            text=completion.text,
            finish_reason=completion.finish_reason,
            model=completion.model or self.spec.name,
            usage=Usage(*tokens, cost, estimated),
            logprobs=completion.logprobs,
            latency=answered.latency,
            attempts=answered.attempts,
            further=completion.further,
            reasoning=completion.reasoning,
            waited=answered.sent_at - begun,
            fingerprint=completion.fingerprint,
            code=code,
        )
        self.room.learn(request, reply)
        self.sizes.learn(request, reply)
        return reply

    async def _send_until_answered(self, identity: str, request: ChatRequest) -> _Answered:
        attempts = Attempts(self._shared.backoff, self.spec.retries, self.spec.patience)
        begun = self._shared.clock.now()
        try:
            while True:
                try:
                    if self.endpoint.is_suspected:
                        await self._outlast()
                    attempts.sent += 1
                    return await self._attempt(identity, request, attempts)
                except _EndpointIsDownError:
                    attempts.sent -= 1
                except Retryable as problem:
                    await self._before_next(problem, request, attempts, begun)
        except (CallFailed, ProviderError) as error:
            self._shared.usage.failed += 1
            reason = error.last if isinstance(error, _OutOfAttemptsError) else str(error)
            _log("model call failed", request, attempts, reason=reason)
            raise

    async def _before_next(
        self, problem: Retryable, request: ChatRequest, attempts: Attempts, begun: float
    ) -> None:
        """Wait before the next attempt; raises CallFailed where there is none."""
        if await self._was_outage(problem):
            return
        wait = attempts.wait(problem)
        if wait is None:
            if problem.refusal is not None:
                raise problem.refusal
            if not await self._was_outage(problem, unanswered_since=begun):
                message = f"{request.model}: {attempts.reason(problem)}"
                permanent = attempts.is_of_request and self.endpoint.has_replied_since(begun)
                raise _OutOfAttemptsError(message, problem.reason, permanent=permanent) from None
            attempts.failed = 0
            return
        self._shared.usage.retried += 1
        event = "rate limit reached" if problem.rate_limited else "model call retried"
        _log(event, request, attempts, wait=round(wait, 3), reason=problem.reason)
        if problem.retry_after is not None and not attempts.spares_others:
            self._limits.pause(min(wait, problem.retry_after))
        await self._shared.clock.sleep(wait)

    async def _outlast(self) -> bool:
        """Wait while the endpoint is down; whether it was. Raises OutageError."""
        if not self.spec.outage_patience:
            return False
        return await self.endpoint.wait(self.provider.check, self.spec.outage_patience)

    async def _was_outage(
        self, problem: Retryable, *, unanswered_since: float | None = None
    ) -> bool:
        """Whether an attempt failed because the endpoint was down, which is then over.

        Such an attempt does not count. With `unanswered_since`, the endpoint is asked in any case,
        unless it has answered some call since. Raises OutageError.
        """
        if not problem.may_be_outage:
            self.endpoint.answered()
            return False
        if not self.spec.outage_patience:
            return False
        if unanswered_since is None:
            self.endpoint.failed(problem)
        elif not self.endpoint.has_answered_since(unanswered_since):
            self.endpoint.suspect(problem)
        return await self._outlast()

    async def _attempt(self, identity: str, request: ChatRequest, attempts: Attempts) -> _Answered:
        """One attempt. It holds a slot of the endpoint, of the part that asks, and of all calls.

        They are free while the call waits for its next attempt or for the recorder.
        """
        shared, limits, concurrency = self._shared, self._limits, self.slots.concurrency
        queue = self.slots.queues[part_of(request.purpose)]
        expected = await limits.take(queue, request, again=attempts.sent > 1)
        shared.usage.in_flight += 1
        sent_at = shared.clock.now()
        sent = concurrency.sent()
        is_accepted: bool | None = None
        try:
            if self.endpoint.is_suspected and self.spec.outage_patience:
                raise _EndpointIsDownError
            if self.deferred is None:
                completion = await self.provider.complete(request)
            else:
                completion = await self.deferred.complete_call(identity, request)
            self.endpoint.replied()
            is_accepted = True
            limits.note(completion, expected, concurrency.open)
            return _Answered(completion, shared.clock.now() - sent_at, sent_at, attempts.sent)
        except Retryable as problem:
            is_accepted = False if problem.rate_limited else None
            if problem.quota is not None:
                limits.note_quota(problem.quota, concurrency.open)
            raise
        except (CallFailed, ProviderError):
            self.endpoint.answered()
            raise
        finally:
            attempts.spares_others = self._end(sent, is_accepted)
            shared.usage.in_flight -= 1
            limits.release(queue)

    def _end(self, sent: SentRequest, is_accepted: bool | None) -> bool:
        """Note the end of a request: accepted, refused, or neither (None); whether the lower limit
        is the answer to a refusal."""
        slots, concurrency = self.slots, self.slots.concurrency
        if is_accepted:
            concurrency.answered(sent, is_saturated=slots.open >= concurrency.limit)
        elif is_accepted is None:
            concurrency.failed()
        return is_accepted is False and concurrency.refused(sent)

    @property
    def state(self) -> dict[str, JSON]:
        """What is open at the model's endpoint, how much may be, and how many it has refused."""
        concurrency = self.slots.concurrency
        return {
            "endpoint": f"{self.spec.address} ({self.spec.name})",
            "open": self.slots.open,
            "limit": concurrency.limit,
            "waiting": self.slots.waiting,
            "refused": concurrency.refusals,
        }

    async def aclose(self) -> None:
        """Close the provider."""
        await self.provider.aclose()


def _log(event: str, request: ChatRequest, attempts: Attempts, **fields: object) -> None:
    logger.info(
        event,
        model=request.model,
        purpose=request.purpose,
        unit=current_call_context().unit,
        attempt=attempts.sent,
        **fields,
    )
