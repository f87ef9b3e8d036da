"""Requests to a system under test that speaks HTTP: one pooled client, limits, careful retries."""

import asyncio
import os
from dataclasses import dataclass, field

import aiohttp
from yarl import URL

from recjury.agents.system_config import HttpSettings
from recjury.errors import ConfigError, SystemFailed
from recjury.llm import Backoff, Clock, SystemClock
from recjury.llm.refusal import error_excerpt
from recjury.llm.retry import retry_after
from recjury.llm.spec import VARIABLE

# Below what common servers keep an idle connection for (5 s): a request on a connection that the
# server is just closing fails, and may not be sent again.
_KEEPALIVE_SECONDS = 4
_CONNECT_SECONDS = 15
_CHUNK = 65_536
# The server says that it has not taken the request up.
_NOT_TAKEN_UP = frozenset({429, 503})


class _AttemptFailed(Exception):
    """One attempt failed; `safe` where the server cannot have acted on it."""

    def __init__(self, reason: str, *, safe: bool, mends: bool = True, wait: float | None = None):
        super().__init__(reason)
        self.safe, self.mends, self.wait = safe, mends, wait


@dataclass
class HttpClient:
    """Bodies to one system and back. Its session belongs to the loop that first uses it."""

    settings: HttpSettings
    clock: Clock = field(default_factory=SystemClock)
    backoff: Backoff = field(default_factory=lambda: Backoff(longest=10, patience=60))

    def __post_init__(self) -> None:
        """Read the key. Raises ConfigError for an address or a key that cannot be used."""
        for address in (self.settings.url, self.settings.health):
            if address is not None:
                _check_address(address)
        self._key = _key(self.settings)
        self._session: aiohttp.ClientSession | None = None
        self._free = asyncio.Semaphore(self.settings.concurrency)

    async def post(self, body: bytes) -> bytes:
        """The body of the answer to `body`. Raises SystemFailed with the last attempt's reason."""
        return await self._send("POST", self.settings.url, body)

    async def get(self, url: str) -> bytes:
        """The body of `url`. Raises SystemFailed."""
        return await self._send("GET", url, None)

    async def aclose(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def shown(self, text: str) -> str:
        """The beginning of `text` on one line, without the key."""
        return error_excerpt(text, self._key)

    async def _send(self, method: str, url: str, body: bytes | None) -> bytes:
        for attempt in range(1, self.settings.retries + 2):
            try:
                async with self._free:
                    return await self._attempt(method, url, body)
            except _AttemptFailed as failure:
                again = failure.mends and (failure.safe or body is None or self.settings.idempotent)
                if not again or attempt > self.settings.retries:
                    times = f" ({attempt} attempts)" if attempt > 1 else ""
                    raise SystemFailed(f"{failure}{times}") from None
                await self.clock.sleep(self.backoff.wait(attempt, failure.wait))
        raise AssertionError("the last attempt returns or raises")

    async def _attempt(self, method: str, url: str, body: bytes | None) -> bytes:
        seconds = self.settings.timeout
        limit = aiohttp.ClientTimeout(total=seconds, sock_connect=min(seconds, _CONNECT_SECONDS))
        try:
            async with self._opened().request(
                method, url, data=body, timeout=limit, allow_redirects=False
            ) as response:
                raw = await self._read(response)
        except (aiohttp.ConnectionTimeoutError, aiohttp.ClientConnectorError) as error:
            raise _AttemptFailed(f"cannot connect ({_why(error)})", safe=True) from None
        except TimeoutError:
            raise _AttemptFailed(f"no answer within {seconds:g} s", safe=False) from None
        except (aiohttp.ClientError, OSError) as error:
            reason = f"the connection broke ({type(error).__name__})"
            raise _AttemptFailed(reason, safe=False) from None
        if response.status != 200:
            raise self._refusal(response, raw)
        return raw

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        """The body; one that is too large is not read to its end."""
        most = self.settings.max_bytes
        parts, size = [], response.content_length or 0
        if size <= most:
            size = 0
            async for part in response.content.iter_chunked(_CHUNK):
                size += len(part)
                parts.append(part)
                if size > most:
                    break
        if size > most:
            response.close()
            reason = f"the answer is larger than {most} bytes (`max_bytes`)"
            raise _AttemptFailed(reason, safe=False, mends=False)
        return b"".join(parts)

    def _refusal(self, response: aiohttp.ClientResponse, raw: bytes) -> _AttemptFailed:
        status = response.status
        said = self.shown(raw.decode("utf-8", "replace"))
        reason = f"HTTP {status}" + (f": {said}" if said else "")
        if 300 <= status < 400:
            reason += ": redirects are not followed, set `url` to where it leads"
        if status in (401, 403):
            variable = self.settings.key_env
            reason += f": check the key in {variable}" if variable else ": name its `key_env`"
        headers = {name.lower(): value for name, value in response.headers.items()}
        return _AttemptFailed(
            reason,
            safe=status in _NOT_TAKEN_UP,
            mends=status in _NOT_TAKEN_UP or status >= 500,
            wait=retry_after(headers),
        )

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
            if self._key is not None:
                bearer = self.settings.key_header.lower() == "authorization"
                headers[self.settings.key_header] = f"Bearer {self._key}" if bearer else self._key
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEPALIVE_SECONDS),
                # Cookies would let one conversation change the next; a packed answer could be
                # far larger than what came over the wire.
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                headers=headers,
            )
        return self._session


def _why(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorError):
        return str(error.strerror or error.os_error)
    return type(error).__name__


def _check_address(address: str) -> None:
    try:
        url = URL(address)
    except ValueError as error:
        raise ConfigError(f"url must be a web address: {error}") from None
    if url.scheme not in {"http", "https"} or not url.host:
        raise ConfigError(f"url must begin with http:// or https:// and name a host: {address!r}")
    if url.user or url.password:
        raise ConfigError("url must not hold a key: name its variable in key_env")


def _key(settings: HttpSettings) -> str | None:
    if settings.key_env is None:
        return None
    if not VARIABLE.fullmatch(settings.key_env):
        # Not shown: it may be the key itself.
        raise ConfigError("key_env must be the name of an environment variable, not the key")
    key = os.environ.get(settings.key_env, "").strip()
    if not (key and key.isascii() and key.isprintable()):
        found = "holds characters that no key has" if key else "is not set"
        raise ConfigError(
            f"{settings.url} takes its key from the environment variable {settings.key_env}, "
            f"which {found}: set it, or leave key_env out for a system without keys"
        )
    return key
