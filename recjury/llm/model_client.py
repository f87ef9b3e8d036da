"""Sends calls to one model: limits, attempts, outages, cost."""

from dataclasses import dataclass
from typing import NamedTuple

from recjury.errors import CallFailed, ProviderError
from recjury.llm.adaptive_concurrency import SentRequest
from recjury.llm.budget import Budget, GatewayUsage
from recjury.llm.call_identity import current_call_context
from recjury.llm.call_slots import CallQueue, CallSlots, EndpointSlots, part_of
from recjury.llm.endpoint_errors import provider_error
from recjury.llm.event_loop import Clock
from recjury.llm.limits import CallTokens, RateLimiter
from recjury.llm.outage import Endpoint
from recjury.llm.policy import CHECK_SECONDS, CHECKS, REFUSED_CHECKS, Kind
from recjury.llm.provider import Completion, DeferredProvider, Provider, Retryable
from recjury.llm.reply_room import ReplyRoom
from recjury.llm.retry import Attempts, Backoff
from recjury.llm.spec import ModelSpec
from recjury.llm.token_estimate import ReplySizes, with_missing_usage
from recjury.logs import get_logger
from recjury.records import JSON, ChatRequest, Reply, Usage

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
class SharedLimits:
    """The objects that all models of a gateway share: slots, budget, counters, clock, backoff."""

    slots: CallSlots
    budget: Budget
    usage: GatewayUsage
    clock: Clock
    backoff: Backoff


class ModelClient:
    """Sends calls to one model, within its own limits and those of all models."""

    def __init__(
        self,
        spec: ModelSpec,
        provider: Provider,
        shared: SharedLimits,
        endpoint: Endpoint,
        slots: EndpointSlots,
    ):
        """`provider` is closed by the client; `slots` are those of the model's endpoint."""
        self.spec = spec
        self.provider = provider
        self.deferred = provider if isinstance(provider, DeferredProvider) else None
        if self.deferred is not None:
            shared.usage.deferred.append(self.deferred.progress)
        self.room, self.sizes = ReplyRoom(spec), ReplySizes(spec)
        self._shared = shared
        self._endpoint = endpoint
        self.slots = slots
        self._rate_limiter = RateLimiter(
            shared.clock, spec.requests_per_minute, spec.tokens_per_minute
        )
        self._takes_slots = spec.takes_slots
        self._tokens = CallTokens(self._rate_limiter)

    async def send(self, identity: str, request: ChatRequest) -> Reply:
        """Return the reply to `request`; `identity` identifies the call.

        With a budget, the first call of a kind is sent alone: it shows what to reserve for the
        others. Raises CallFailed after the retries, BudgetSpent, and ProviderError.
        """
        request, begun = self.room.applied(request), self._shared.clock.now()
        if self._shared.budget.limit is None or self.deferred is not None:
            return await self._send(identity, request, begun)
        async with self.sizes.first_alone(request):
            return await self._send(identity, request, begun)

    async def _send(self, identity: str, request: ChatRequest, begun: float) -> Reply:
        budget = self._shared.budget
        reserved = budget.upper_bound(request, self.spec, self.sizes.largest(request))
        await budget.reserve(reserved)
        taken = 0.0
        try:
            completion, latency, sent_at, attempts = await self._send_with_retries(
                identity, request
            )
            completion, estimated = with_missing_usage(completion, request, self.spec)
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
            latency=latency,
            attempts=attempts,
            further=completion.further,
            reasoning=completion.reasoning,
            waited=sent_at - begun,
            fingerprint=completion.fingerprint,
        )
        self.room.learn(request, reply)
        self.sizes.learn(request, reply)
        return reply

    def stored(self, identity: str) -> None:
        """The recorder has a reply to this call."""
        if self.deferred is not None:
            self.deferred.stored(identity)

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

    async def check(self) -> None:
        """Raise ProviderError when the model cannot be used.

        A fault that may pass is given a few tries, except that there is no connection at all; a
        key or a model is refused only after three.
        """
        clock, tries, refused = self._shared.clock, 0, 0
        begun = clock.now()
        while True:
            tries += 1
            try:
                await self.provider.check()
            except Retryable as error:
                late = clock.now() - begun >= CHECK_SECONDS
                is_there = error.kind is not Kind.NO_CONNECTION
                if not is_there or late or tries >= CHECKS:
                    advice = "check base_url and that the server runs"
                    raise provider_error(self.spec, error.reason, advice) from None
                await clock.sleep(self._shared.backoff.wait(tries))
            except ProviderError:
                refused += 1
                if refused >= REFUSED_CHECKS:
                    raise
                await clock.sleep(self._shared.backoff.wait(1))
            else:
                self._endpoint.replied()
                return

    async def aclose(self) -> None:
        """Close the provider."""
        await self.provider.aclose()

    async def _send_with_retries(self, identity: str, request: ChatRequest) -> _Answered:
        attempts = Attempts(self._shared.backoff, self.spec.retries, self.spec.patience)
        begun = self._shared.clock.now()
        try:
            while True:
                try:
                    if self._endpoint.is_suspected:
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
        if await self._is_outage(problem):
            return
        wait = attempts.wait(problem)
        if wait is None:
            if problem.refusal is not None:
                raise problem.refusal
            if not await self._is_outage(problem, unanswered_since=begun):
                message = f"{request.model}: {attempts.reason(problem)}"
                permanent = attempts.is_of_request and self._endpoint.has_replied_since(begun)
                raise _OutOfAttemptsError(message, problem.reason, permanent=permanent) from None
            attempts.failed = 0
            return
        self._shared.usage.retried += 1
        event = "rate limit reached" if problem.rate_limited else "model call retried"
        _log(event, request, attempts, wait=round(wait, 3), reason=problem.reason)
        if problem.retry_after is not None and not attempts.spares_others:
            self._rate_limiter.pause(min(wait, problem.retry_after))
        await self._shared.clock.sleep(wait)

    async def _outlast(self) -> bool:
        """Wait while the endpoint is down; whether it was. Raises OutageError."""
        if not self.spec.outage_patience:
            return False
        return await self._endpoint.wait(self.provider.check, self.spec.outage_patience)

    async def _is_outage(
        self, problem: Retryable, *, unanswered_since: float | None = None
    ) -> bool:
        """Whether an attempt failed because the endpoint was down, which is then over.

        Such an attempt does not count. With `unanswered_since`, the endpoint is asked in any case,
        unless it has answered some call since. Raises OutageError.
        """
        if not problem.may_be_outage:
            self._endpoint.answered()
            return False
        if not self.spec.outage_patience:
            return False
        if unanswered_since is None:
            self._endpoint.failed(problem)
        elif not self._endpoint.has_answered_since(unanswered_since):
            self._endpoint.suspect(problem)
        return await self._outlast()

    async def _attempt(self, identity: str, request: ChatRequest, attempts: Attempts) -> _Answered:
        """One attempt. It holds a slot of the endpoint, of the part that asks, and of all calls.

        They are free while the call waits for its next attempt or for the recorder.
        """
        shared, slots = self._shared, self.slots
        queue = slots.queues[part_of(request.purpose)]
        expected = 0.0
        if self._takes_slots and (self._rate_limiter.is_needed or not shared.slots.take(queue)):
            expected = await self._take_slots(queue, request, again=attempts.sent > 1)
        shared.usage.in_flight += 1
        sent_at = shared.clock.now()
        concurrency = slots.concurrency
        sent = concurrency.sent()
        is_accepted: bool | None = None
        try:
            if self._endpoint.is_suspected and self.spec.outage_patience:
                raise _EndpointIsDownError
            if self.deferred is None:
                completion = await self.provider.complete(request)
            else:
                completion = await self.deferred.complete_call(identity, request)
            self._endpoint.replied()
            is_accepted = True
            if completion.quota is not None or expected:
                self._tokens.note(completion, expected, concurrency.open)
            return _Answered(completion, shared.clock.now() - sent_at, sent_at, attempts.sent)
        except Retryable as problem:
            is_accepted = False if problem.rate_limited else None
            if problem.quota is not None:
                self._tokens.note_quota(problem.quota, concurrency.open)
            raise
        except (CallFailed, ProviderError):
            self._endpoint.answered()
            raise
        finally:
            attempts.spares_others = self._end(sent, is_accepted)
            shared.usage.in_flight -= 1
            if self._takes_slots:
                shared.slots.release(queue)

    def _end(self, sent: SentRequest, is_accepted: bool | None) -> bool:
        """Note the end of a request: accepted, refused, or neither (None); whether the lower limit
        is the answer to a refusal."""
        slots, concurrency = self.slots, self.slots.concurrency
        if is_accepted:
            concurrency.answered(sent, is_saturated=slots.open >= concurrency.limit)
        elif is_accepted is None:
            concurrency.failed()
        return is_accepted is False and concurrency.refused(sent)

    async def _take_slots(self, queue: CallQueue, request: ChatRequest, *, again: bool) -> float:
        """Wait for a turn and for slots; the tokens that were counted for the request."""
        limiter, slots = self._rate_limiter, self._shared.slots
        has_turn, counted = limiter.has_rate, 0.0
        if limiter.is_needed:
            counted = await limiter.wait_for_turn(lambda: self._tokens.expected(request))
        if not slots.take(queue):
            await slots.wait(queue, ahead=again)
        while limiter.paused or (limiter.has_rate and not has_turn):
            # That began while this call was waiting: calls to other models may use the slots.
            slots.release(queue)
            if has_turn:
                await limiter.wait_for_pause()
            else:
                has_turn = True
                counted = await limiter.wait_for_turn(lambda: self._tokens.expected(request))
            await slots.wait(queue, ahead=True)
        return counted


def _log(event: str, request: ChatRequest, attempts: Attempts, **fields: object) -> None:
    logger.info(
        event,
        model=request.model,
        purpose=request.purpose,
        unit=current_call_context().unit,
        attempt=attempts.sent,
        **fields,
    )
