"""When a request to one model is sent: rates of requests and of tokens, pauses, and slots."""

import asyncio
from collections.abc import Callable

from recjury.llm.call_slots import CallQueue, CallSlots
from recjury.llm.call_tokens import estimated_tokens
from recjury.llm.event_loop import Clock
from recjury.llm.provider import Completion
from recjury.llm.quota import Quota, RemainingQuota
from recjury.llm.spec import ModelSpec
from recjury.records import ChatRequest

_RESERVE_SECONDS = 6.0  # a quota is low if it has no more than comes back in this time
_LONGEST_WAIT = 60.0  # seconds until the next request because of a quota
_SOON = 90.0  # a quota that is whole later than in so many seconds is low only near its end
_FEW = 4  # calls; that end
_SAID_TOKENS = 300.0  # the expected length of a reply before there is one
_NEWEST_SHARE = 0.1  # of a call in the averages


class _Rate:
    """Spreads amounts evenly over time: the seconds that one unit takes, and the next free time.

    An own rate is kept in any case. A quota, which an endpoint may report wrongly, never delays the
    next request by more than `_LONGEST_WAIT`. Times are without pauses.
    """

    __slots__ = ("_free_at", "_of_quota", "_own", "_quota_free_at", "is_limited")

    def __init__(self, per_minute: float | None):
        self._own = 60.0 / per_minute if per_minute else 0.0
        self._of_quota = 0.0
        self._free_at = self._quota_free_at = 0.0
        self.is_limited = self._own > 0

    @property
    def is_slowed(self) -> bool:
        return self._of_quota > 0

    @property
    def free_at(self) -> float:
        return max(self._free_at, self._quota_free_at)

    def take(self, turn: float, amount: float) -> None:
        self._free_at = turn + amount * self._own
        self._quota_free_at = turn + min(amount * self._of_quota, _LONGEST_WAIT)

    def correct(self, now: float, amount: float) -> None:
        """Note that so much more was taken (less, if it is negative)."""
        self._free_at += amount * self._own
        later = self._quota_free_at + amount * self._of_quota
        self._quota_free_at = min(later, max(self._quota_free_at, now + _LONGEST_WAIT))

    def note(self, allowance: RemainingQuota, now: float, one: float, many: float) -> None:
        """Go no faster than a quota comes back while it is low: while it has no more than `many`,
        which open calls take, or than a reserve. `one` is what a call takes. If the quota is whole
        only much later, a few calls are enough: it is there to be used until then."""
        refill, left = allowance.refill, allowance.remaining
        if (allowance.reset or 0.0) > _SOON:
            many = min(many, _FEW * one)
        if left > max(many, (refill or 0.0) * _RESERVE_SECONDS):
            self._of_quota = 0.0
        elif refill is not None:
            self._of_quota = 1.0 / refill
        self.is_limited = self._own > 0 or self._of_quota > 0
        if left < one:
            wait = (allowance.reset or 0.0) if refill is None else (one - left) / refill
            self._quota_free_at = max(self._quota_free_at, now + min(wait, _LONGEST_WAIT))


class RateLimiter:
    """Decides when the next request to a model may be sent.

    Requests and their tokens are spread evenly: so many a minute, or as fast as the endpoint's
    quota comes back while little of it is left. If the endpoint asks one call to wait,
    all calls to the model wait; turns within a pause are delayed by its length.
    """

    __slots__ = ("_clock", "_in_order", "_paused", "_paused_until", "_requests", "_tokens")

    def __init__(
        self,
        clock: Clock,
        per_minute: float | None = None,
        tokens_per_minute: float | None = None,
    ):
        """Without rates, requests are sent as soon as their slots are free."""
        self._clock = clock
        self._requests, self._tokens = _Rate(per_minute), _Rate(tokens_per_minute)
        self._paused = 0.0  # seconds of all pauses, to their ends
        self._paused_until = 0.0
        self._in_order = asyncio.Lock()

    def pause(self, seconds: float) -> None:
        """Send no request for that many seconds."""
        now = self._clock.now()
        self._paused += max(0.0, now + seconds - max(now, self._paused_until))
        self._paused_until = max(self._paused_until, now + seconds)

    def note(self, quota: Quota, open_calls: int, tokens: float) -> None:
        """Note what is left of the endpoint's quota; a call takes about so many `tokens`."""
        now = self._clock.now() - self._paused
        if quota.requests is not None:
            self._requests.note(quota.requests, now, 1, open_calls)
        if quota.tokens is not None:
            self._tokens.note(quota.tokens, now, tokens, open_calls * tokens)

    def correct(self, tokens: float) -> None:
        """Note that a call took so many tokens more than was expected (or less, if negative)."""
        self._tokens.correct(self._clock.now() - self._paused, tokens)

    @property
    def has_rate(self) -> bool:
        """Whether requests take turns."""
        return self._requests.is_limited or self._tokens.is_limited

    @property
    def is_needed(self) -> bool:
        """Whether a request may have to wait."""
        return self.has_rate or bool(self._paused_until)

    @property
    def _is_slowed(self) -> bool:
        return self._requests.is_slowed or self._tokens.is_slowed

    @property
    def counts_tokens(self) -> bool:
        """Whether a turn depends on the tokens of its request."""
        return self._tokens.is_limited

    @property
    def paused(self) -> bool:
        """Whether no request may be sent now."""
        return bool(self._paused_until) and self._clock.now() < self._paused_until

    async def wait_for_turn(self, tokens: Callable[[], float] = lambda: 0.0) -> float:
        """Wait until the next request may be sent; the tokens that were counted for it.

        `tokens` estimates them when it is the request's turn.
        """
        counted = 0.0
        if self.has_rate:
            async with self._in_order:
                while (wait := self._seconds_left()) > 0:
                    # What the endpoint says meanwhile may make it shorter.
                    await self._clock.sleep(min(wait, 1.0) if self._is_slowed else wait)
                turn = self._clock.now() - self._paused
                self._requests.take(turn, 1)
                if self.counts_tokens:
                    counted = tokens()
                    self._tokens.take(turn, counted)
        await self.wait_for_pause()
        return counted

    def _seconds_left(self) -> float:
        """How long it is until the next turn; a pause makes it longer."""
        now = self._clock.now()
        turn = max(self._requests.free_at, self._tokens.free_at) if self.has_rate else 0.0
        return max(turn + self._paused, self._paused_until) - now

    async def wait_for_pause(self) -> None:
        """Wait until the pause is over."""
        while self.paused:
            await self._clock.sleep(self._paused_until - self._clock.now())


class CallLimits:
    """What a call to one model waits for: its turn, and its slots."""

    def __init__(self, spec: ModelSpec, clock: Clock, slots: CallSlots):
        """`slots` are those of all models."""
        self._rates = RateLimiter(clock, spec.requests_per_minute, spec.tokens_per_minute)
        self._slots = slots if spec.takes_slots else None
        self._said = _SAID_TOKENS  # tokens of a reply, on average
        self._call = 0.0  # tokens of a call, on average

    async def take(self, queue: CallQueue, request: ChatRequest, *, again: bool) -> float:
        """Wait for a turn and for slots; the tokens that were counted for the request.

        A call that is sent `again` is the first of its queue.
        """
        rates, slots = self._rates, self._slots
        if slots is None or (not rates.is_needed and slots.take(queue)):
            return 0.0
        has_turn, counted = rates.has_rate, 0.0
        if rates.is_needed:
            counted = await rates.wait_for_turn(lambda: self._expected(request))
        if not slots.take(queue):
            await slots.wait(queue, ahead=again)
        while rates.paused or (rates.has_rate and not has_turn):
            # That began while this call was waiting: calls to other models may use the slots.
            slots.release(queue)
            if has_turn:
                await rates.wait_for_pause()
            else:
                has_turn = True
                counted = await rates.wait_for_turn(lambda: self._expected(request))
            await slots.wait(queue, ahead=True)
        return counted

    def release(self, queue: CallQueue) -> None:
        """Give the slots back."""
        if self._slots is not None:
            self._slots.release(queue)

    def pause(self, seconds: float) -> None:
        """Send no request to the model for that many seconds."""
        self._rates.pause(seconds)

    def note(self, completion: Completion, expected: float, open_calls: int) -> None:
        """Note what a call took that was expected to take so many tokens (0: was not counted)."""
        if completion.quota is None and not expected:
            return
        taken = completion.prompt_tokens + completion.completion_tokens
        if taken:
            said = completion.completion_tokens / (1 + len(completion.further))
            self._said += _NEWEST_SHARE * (said - self._said)
            self._call += _NEWEST_SHARE * (taken - self._call)
        if taken and expected:
            self._rates.correct(taken - expected)
        if completion.quota is not None:
            self.note_quota(completion.quota, open_calls)

    def note_quota(self, quota: Quota, open_calls: int) -> None:
        """Note what the endpoint says is left of its quota."""
        self._rates.note(quota, open_calls, self._call)

    def _expected(self, request: ChatRequest) -> float:
        """The tokens of the prompt, and of average replies."""
        parts = (part for message in request.messages for part in message.parts)
        return estimated_tokens(*parts) + request.n * self._said
