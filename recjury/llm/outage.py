"""Outages: an endpoint that does not answer pauses all calls to it, until it answers again."""

import asyncio
from collections.abc import Awaitable, Callable

from recjury.errors import CallFailed, ProviderError
from recjury.llm.event_loop import Clock
from recjury.llm.policy import FAILURES_IN_A_ROW, REFUSED_SECONDS, Kind
from recjury.llm.provider import Retryable
from recjury.llm.retry import Backoff
from recjury.logs import get_logger

logger = get_logger()

_FIRST_WAIT = 1.0
_LONGEST_WAIT = 60.0

Probe = Callable[[], Awaitable[None]]


class OutageError(CallFailed):
    """The endpoint has not answered for longer than the call may wait."""


class Endpoint:
    """Whether one endpoint answers; shared by all calls to it.

    After failures that may be an outage, calls wait, and one of them asks again and again, with
    growing waits, by sending a small request of its own.
    """

    def __init__(self, address: str, clock: Clock, backoff: Backoff, down: dict[str, float]):
        """`down` maps the addresses of endpoints that are down to the time since when, for show."""
        self._address = address
        self._clock = clock
        self._backoff = Backoff(first=_FIRST_WAIT, longest=_LONGEST_WAIT, chance=backoff.chance)
        self._down = down
        self._failures = 0
        self._reason = ""
        self._suspected_since: float | None = None
        self._probes = 0
        self._next_probe = 0.0
        self._is_probed = False
        self._waiting: asyncio.Future[ProviderError | None] | None = None
        self._answered_at = -1.0
        self._has_replied = False
        self._replied_at = -1.0
        self._refused_since: float | None = None

    @property
    def is_suspected(self) -> bool:
        """Whether calls have to wait, as the endpoint may be down."""
        return self._suspected_since is not None

    def has_answered_since(self, time: float) -> bool:
        """Whether an answer came at that time or later."""
        return self._answered_at >= time

    def has_replied_since(self, time: float) -> bool:
        """Whether a call got its reply at that time or later."""
        return self._replied_at >= time

    def answered(self) -> None:
        """Note an answer, of whatever kind."""
        self._failures = 0
        self._answered_at = self._clock.now()

    def replied(self) -> None:
        """Note an answer that is a reply."""
        self._has_replied = True
        self._refused_since = None
        self.answered()
        self._replied_at = self._answered_at

    def failed(self, problem: Retryable) -> None:
        """Note an attempt that got no answer; begins an outage where it is clear."""
        self._reason = problem.reason
        self._failures += 1
        if problem.refusal is not None:
            self._has_replied = True
            self._note_refusal()
        is_clear = problem.kind is Kind.NO_CONNECTION or problem.refusal is not None
        if is_clear or self._failures >= FAILURES_IN_A_ROW:
            self.suspect(problem)

    def suspect(self, problem: Retryable) -> None:
        """Let all calls wait until the endpoint answers."""
        if self._suspected_since is None:
            self._reason = problem.reason
            self._suspected_since = self._clock.now()
            self._probes = 0
            self._next_probe = self._clock.now() + self._backoff.wait(1)

    async def wait(self, probe: Probe, patience: float) -> bool:
        """Wait while the endpoint may be down; whether it was, as far as probes could tell.

        `probe` sends a small request and raises Retryable where no answer comes. Raises
        OutageError when the outage has lasted for `patience` seconds, and ProviderError when the
        endpoint has refused all requests for some time.
        """
        was_down = False
        while self._suspected_since is not None:
            was_down = was_down or self._probes > 0
            left = self._suspected_since + patience - self._clock.now()
            if self._is_probed:
                if left <= 0:
                    raise self._too_long(patience)
                await self._others_probe()
                continue
            if left <= 0 and self._clock.now() < self._next_probe:
                raise self._too_long(patience)
            await self._probe(probe, left)
            was_down = was_down or self._probes > 0
        return was_down

    async def _others_probe(self) -> None:
        if self._waiting is None:
            self._waiting = asyncio.get_running_loop().create_future()
        refusal = await asyncio.shield(self._waiting)
        if refusal is not None:
            raise refusal

    async def _probe(self, probe: Probe, left: float) -> None:
        self._is_probed = True
        refusal: ProviderError | None = None
        try:
            wait = self._next_probe - self._clock.now()
            if wait > 0:
                await self._clock.sleep(min(wait, left))
            try:
                await probe()
            except Retryable as error:
                if error.may_be_outage:
                    self._refused_since = None
                    self._still_down(error.reason)
                    return
            except ProviderError as error:
                if self._has_replied and self._note_refusal() < REFUSED_SECONDS:
                    self._still_down(str(error))
                    return
                if self._has_replied:
                    refusal = error
            except CallFailed:
                pass  # it answers; what it says is the business of the calls
            self._is_back(refusal)
            if refusal is not None:
                raise refusal
        finally:
            self._is_probed = False
            if self._waiting is not None:
                self._waiting.set_result(refusal)
                self._waiting = None

    def _note_refusal(self) -> float:
        """Note that a request was refused; seconds since all are."""
        now = self._clock.now()
        if self._refused_since is None:
            self._refused_since = now
        return now - self._refused_since

    def _still_down(self, reason: str) -> None:
        assert self._suspected_since is not None
        self._reason = reason
        self._probes += 1
        wait = self._backoff.wait(self._probes + 1)
        self._next_probe = self._clock.now() + wait
        if self._probes == 1:
            self._down[self._address] = self._suspected_since
            does = "does not answer" if self._refused_since is None else "refuses all requests"
            logger.warning(
                f"endpoint {does}, all calls to it wait", endpoint=self._address, reason=reason
            )
        logger.info("endpoint asked again", endpoint=self._address, wait=round(wait, 1))

    def _is_back(self, refusal: ProviderError | None) -> None:
        since = self._down.pop(self._address, None)
        if since is not None and refusal is None:
            logger.warning(
                "endpoint answers again",
                endpoint=self._address,
                after_seconds=round(self._clock.now() - since, 1),
            )
        self._suspected_since = self._refused_since = None
        self.answered()

    def _too_long(self, patience: float) -> OutageError:
        return OutageError(
            f"{self._address} has not answered for {patience:g} s ({self._reason}): "
            "run again when it does, or raise outage_patience"
        )
