"""HTTP: one pooled session, its errors and its keys, for models and for systems under test."""

import functools
import os
import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import NamedTuple
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from recjury.errors import ConfigError
from recjury.llm.quota import QUOTA_HEADERS, QUOTA_MARKS, answered_at
from recjury.safe_text import hide_secret, without_keys

_VARIABLE = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_CONNECT_SECONDS = 15
_THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
_EXCERPT = 200
MAX_BYTES = 16 * 2**20
"""The largest response that is read. The longest known are lists of embeddings."""
_MAX_HEADER = 2**16  # bytes; some gateways send a whole policy or their own log in one

_REQUESTS_LEFT, _TOKENS_LEFT, _OTHER_LEFT = QUOTA_MARKS
_KEPT_HEADERS = ("retry-after", "retry-after-ms", "location", "date", *QUOTA_HEADERS)


class HttpResponse(NamedTuple):
    """A response. `headers` has those that recjury reads, with names in lower case."""

    status: int
    body: bytes
    headers: dict[str, str]


class TransportError(Exception):
    """No complete response arrived. `connected` is False if the request cannot have arrived
    either."""

    def __init__(self, reason: str, *, connected: bool = True):
        """Store the reason: one line without a key."""
        super().__init__(reason)
        self.connected = connected


class TooLargeError(TransportError):
    """The response is larger than the session's limit."""


@dataclass(eq=False)
class HttpSession:
    """A pool of connections. It is opened by the first request, in that request's event loop.

    `keepalive` is how long an idle connection is kept, in seconds. Responses of more than
    `max_bytes` bytes are refused; a compressed response counts with its uncompressed size.
    """

    keepalive: float = 60
    max_bytes: int = MAX_BYTES

    def __post_init__(self) -> None:
        """Open nothing before the first request."""
        self._session: aiohttp.ClientSession | None = None

    async def request(
        self, method: str, url: URL, body: bytes | None, headers: dict[str, str], seconds: float
    ) -> HttpResponse:
        """Send one request, within `seconds`; redirects are not followed. Raises TransportError."""
        try:
            async with self.opened().request(
                method,
                url,
                data=body,
                headers=headers,
                timeout=_limit_of(seconds),
                allow_redirects=False,
                proxy=proxy_of(url),
            ) as response:
                raw = await read_at_most(response, self.max_bytes)
        except (aiohttp.ClientError, OSError) as error:  # a TimeoutError is an OSError
            raise transport_error(error, seconds) from None
        found = response.headers
        if response.status == 200 and not (
            _REQUESTS_LEFT in found or _TOKENS_LEFT in found or _OTHER_LEFT in found
        ):
            return HttpResponse(200, raw, {})
        kept = {name: found[name] for name in _KEPT_HEADERS if name in found}
        return HttpResponse(response.status, raw, kept)

    async def aclose(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def opened(self) -> aiohttp.ClientSession:
        """The session of aiohttp, opened by its first use."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                # The callers limit how many connections are open.
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=self.keepalive),
                # With cookies, one request could change the response to the next.
                cookie_jar=aiohttp.DummyCookieJar(),
                max_line_size=_MAX_HEADER,
                max_field_size=_MAX_HEADER,
                skip_auto_headers=("User-Agent", "Accept"),
            )
        return self._session


@functools.lru_cache(maxsize=256)
def proxy_of(url: URL) -> str | None:
    """The proxy that HTTP_PROXY, HTTPS_PROXY and NO_PROXY name for an address; none for this
    machine's own."""
    host = url.host or ""
    if host in _THIS_MACHINE or proxy_bypass(host):
        return None
    return getproxies().get(url.scheme)


@functools.cache  # settings have a few different limits
def _limit_of(seconds: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=seconds, sock_connect=min(seconds, _CONNECT_SECONDS))


def transport_error(error: aiohttp.ClientError | OSError, seconds: float) -> TransportError:
    """What broke in an exchange of `seconds`, in one line."""
    reason = type(error).__name__
    if isinstance(error, aiohttp.ClientConnectorError):
        reason = f"cannot connect ({error.strerror or error.os_error})"
        return TransportError(reason, connected=False)
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return TransportError(f"cannot connect ({reason})", connected=False)
    if isinstance(error, TimeoutError):
        return TransportError(f"no answer within {seconds:g} s")
    if isinstance(error, aiohttp.ClientResponseError) and "Got more than" in error.message:
        reason = f"a header of the answer has more than {_MAX_HEADER} bytes"
    return TransportError(f"the connection broke ({reason})")


async def read_at_most(response: aiohttp.ClientResponse, most: int) -> bytes:
    """The body; a body that is too large is not read to its end. Raises TooLargeError."""
    is_packed = "Content-Encoding" in response.headers
    if not is_packed and response.content_length is not None and response.content_length <= most:
        return await response.read()
    parts, size = [], 0 if is_packed else response.content_length or 0
    while size <= most and (part := await response.content.readany()):
        size += len(part)
        parts.append(part)
    if size > most:
        response.close()
        raise too_large(most)
    return b"".join(parts)


def too_large(most: int) -> TooLargeError:
    """The error for a response of more than `most` bytes."""
    return TooLargeError(f"the answer is larger than {most} bytes")


def check_address(address: str, name: str) -> None:
    """Raise ValueError for an invalid address, and for one with a key; `name` is its setting."""
    try:
        url = URL(address)
    except ValueError as error:
        raise ValueError(f"{name} must be a web address: {error}") from None
    if url.scheme not in {"http", "https"} or not url.host:
        raise ValueError(f"{name} must begin with http:// or https:// and name a host")
    if url.user or url.password:
        raise ValueError(f"{name} must not contain a key: name its variable in key_env")


def check_key_variable(variable: str | None) -> None:
    """Raise ValueError for a text that cannot be the name of an environment variable."""
    if variable is not None and not _VARIABLE.fullmatch(variable):
        # Not shown: it may be the key itself.
        raise ValueError("key_env must be the name of an environment variable, not the key")


def read_api_key(variable: str | None, owner: str, kind: str) -> str | None:
    """The key in the environment variable `variable`; None if `variable` is None.

    Messages name the `owner` of the key ("model gpt-4o") and its `kind` ("an endpoint"). Raises
    ConfigError if the variable is not set, or if its value cannot be a key.
    """
    if variable is None:
        return None
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ConfigError(
            f"{owner} takes its key from the environment variable {variable}, which is not set: "
            f"set it, or leave key_env out for {kind} without keys"
        )
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(
            f"the environment variable {variable} holds characters that no key has: set it again"
        )
    hide_secret(key)
    return key


def excerpt(text: str) -> str:
    """The beginning of `text` on one line, without keys."""
    # Before it is cut: no part of a key stays.
    return " ".join(without_keys(text).split())[:_EXCERPT]


def retry_after(headers: dict[str, str]) -> float | None:
    """The wait in seconds that the headers ask for (Retry-After in seconds or as a date, or in
    ms)."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        if "retry-after" not in headers:
            return None
        value = headers["retry-after"]
        if value.replace(".", "", 1).isdigit():
            return float(value)
        return max(0.0, (parsedate_to_datetime(value) - answered_at(headers)).total_seconds())
    except (TypeError, ValueError, OverflowError):  # a date can be out of Python's range
        return None
