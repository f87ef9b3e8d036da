"""HTTP requests to a system under test: with limits, and with retries if they are safe."""

import asyncio
from dataclasses import dataclass, field

from pydantic import Field
from yarl import URL

from recjury.errors import ConfigError, SystemFailed
from recjury.llm import Backoff, Clock, SystemClock
from recjury.llm.call_identity import current_call_context
from recjury.llm.transport import (
    HttpResponse,
    HttpSession,
    TooLargeError,
    TransportError,
    check_address,
    check_key_variable,
    excerpt,
    read_api_key,
    retry_after,
)
from recjury.logs import get_logger
from recjury.plugins import Count, NonEmpty, Seconds
from recjury.records import Record

logger = get_logger()

# Less than common servers keep an idle connection (5 s): a request on a connection that the
# server is closing fails, and may not be sent again.
_KEEPALIVE_SECONDS = 4
# With these statuses, the server says that it has not begun to work on the request.
_NOT_BEGUN = frozenset({429, 503})


class HttpSettings(Record):
    """How requests are sent to a system behind HTTP.

    `timeout` is in seconds for one attempt. `retries` is the number of attempts after the first. A
    request is sent again if the system cannot have processed it (no connection, 429, 503); with
    `idempotent`, also after a time-out, a broken connection or another 5xx. `concurrency` is the
    largest number of open requests. `max_bytes` is the largest answer in bytes. `key_env` names the
    environment variable whose value is sent as `key_header`: after "Bearer " in Authorization,
    unchanged in any other header.
    """

    url: str
    health: NonEmpty | None = None
    key_env: NonEmpty | None = None
    key_header: str = "Authorization"
    timeout: Seconds = 60
    retries: Count = Field(default=2, ge=0, le=20)
    idempotent: bool = False
    concurrency: Count = Field(default=8, ge=1, le=1024)
    max_bytes: Count = Field(default=1_000_000, ge=1)


class _AttemptFailed(Exception):
    """One attempt failed; `safe` is True if the server cannot have processed it."""

    def __init__(
        self, reason: str, *, safe: bool, retryable: bool = True, wait: float | None = None
    ):
        super().__init__(reason)
        self.safe, self.retryable, self.wait = safe, retryable, wait


@dataclass
class HttpClient:
    """Sends request bodies to one system and returns response bodies."""

    settings: HttpSettings
    clock: Clock = field(default_factory=SystemClock)
    backoff: Backoff = field(default_factory=lambda: Backoff(longest=10, longest_wait=60))

    def __post_init__(self) -> None:
        """Read the key. Raises ConfigError for an address or a key that cannot be used."""
        settings = self.settings
        try:
            for address in (settings.url, settings.health):
                if address is not None:
                    check_address(address, "url")
            check_key_variable(settings.key_env)
        except ValueError as error:
            raise ConfigError(str(error)) from None
        key = read_api_key(settings.key_env, settings.url, "a system")
        self._headers = {
            "Content-Type": "application/json",
            # A compressed response could be far larger than the bytes that are received.
            "Accept-Encoding": "identity",
            "Accept": "*/*",
            "User-Agent": "recjury",
        }
        if key is not None:
            bearer = settings.key_header.lower() == "authorization"
            self._headers[settings.key_header] = f"Bearer {key}" if bearer else key
        self._session = HttpSession(_KEEPALIVE_SECONDS, settings.max_bytes)
        self._semaphore = asyncio.Semaphore(settings.concurrency)

    async def post(self, body: bytes) -> bytes:
        """Return the body of the response to `body`. Raises SystemFailed with the last attempt's
        error."""
        return await self._send("POST", self.settings.url, body)

    async def get(self, url: str) -> bytes:
        """Return the body of `url`. Raises SystemFailed."""
        return await self._send("GET", url, None)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._session.aclose()

    async def _send(self, method: str, url: str, body: bytes | None) -> bytes:
        repeatable = body is None or self.settings.idempotent
        for attempt in range(1, self.settings.retries + 2):
            try:
                async with self._semaphore:
                    return await self._attempt(method, url, body)
            except _AttemptFailed as failure:
                again = failure.retryable and (failure.safe or repeatable)
                if not again or attempt > self.settings.retries:
                    times = f" ({attempt} attempts)" if attempt > 1 else ""
                    raise SystemFailed(f"{failure}{times}") from None
                wait = self.backoff.wait(attempt, failure.wait)
                logger.info(
                    "system request retried",
                    url=url,
                    unit=current_call_context().unit,
                    attempt=attempt,
                    wait=round(wait, 3),
                    reason=excerpt(str(failure)),
                )
                await self.clock.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    async def _attempt(self, method: str, url: str, body: bytes | None) -> bytes:
        try:
            response = await self._session.request(
                method, URL(url), body, self._headers, self.settings.timeout
            )
        except TooLargeError as error:
            raise _AttemptFailed(f"{error} (`max_bytes`)", safe=False, retryable=False) from None
        except TransportError as error:
            raise _AttemptFailed(str(error), safe=not error.connected) from None
        if response.status != 200:
            raise self._refusal(response)
        return response.body

    def _refusal(self, response: HttpResponse) -> _AttemptFailed:
        status = response.status
        said = excerpt(response.body.decode("utf-8", "replace"))
        reason = f"HTTP {status}" + (f": {said}" if said else "")
        if 300 <= status < 400:
            reason += ": redirects are not followed, set `url` to where it leads"
        if status in (401, 403):
            variable = self.settings.key_env
            reason += f": check the key in {variable}" if variable else ": name its `key_env`"
        return _AttemptFailed(
            reason,
            safe=status in _NOT_BEGUN,
            retryable=status in _NOT_BEGUN or status >= 500,
            wait=retry_after(response.headers),
        )
