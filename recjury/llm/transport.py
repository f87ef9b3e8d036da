"""HTTP: one session with kept connections, and the keys, for models and systems under test."""

import asyncio
import os
import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Protocol

import orjson
from yarl import URL

from recjury.errors import ConfigError
from recjury.llm.http_pool import ConnectionPool
from recjury.llm.http_response import MAX_BYTES, HttpResponse, unpacked
from recjury.llm.quota import QUOTA_MARKS, answered_at
from recjury.safe_text import hide_secret

_VARIABLE = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_EXCERPT = 200


class Transport(Protocol):
    """Sends one request to a model's endpoint."""

    async def send(
        self, path: str, body: dict[str, object] | None, *, seconds: float | None = None
    ) -> HttpResponse:
        """POST `body` as JSON to base_url + `path`, or GET if `body` is None.

        `seconds` replaces the time limit. Raises TransportError.
        """

    async def aclose(self) -> None:
        """Close its connections."""


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
        self._pool: ConnectionPool | None = None

    async def request(
        self, method: str, url: URL, body: bytes | None, headers: dict[str, str], seconds: float
    ) -> HttpResponse:
        """Send one request, within `seconds`; redirects are not followed. Raises TransportError."""
        if self._pool is None:
            self._pool = ConnectionPool(self.keepalive)
        request = _head(method, url, body, headers) + (body or b"")
        status, raw, found = await self._pool.exchange(url, request, seconds, self.max_bytes)
        raw = unpacked(raw, found.get("content-encoding", ""), self.max_bytes)
        if status == 200 and QUOTA_MARKS.isdisjoint(found):
            found = {}  # nothing in them is about a reply
        return HttpResponse(status, raw, found)

    async def aclose(self) -> None:
        """Close all connections."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None
            await asyncio.sleep(0)  # the event loop takes the closed connections away


def _head(method: str, url: URL, body: bytes | None, headers: dict[str, str]) -> bytes:
    lines = [f"{method} {url.raw_path_qs} HTTP/1.1", f"Host: {url.host_port_subcomponent}"]
    lines += (f"{name}: {value}" for name, value in headers.items())
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    if any("\n" in line or "\r" in line for line in lines):
        raise ValueError("a header holds the end of a line")
    return "\r\n".join((*lines, "", "")).encode()


class PlainTransport:
    """Requests to one model's endpoint through the shared session."""

    def __init__(self, base_url: str, key: str | None, seconds: float, session: HttpSession):
        """`key` is sent in the Authorization header; `seconds` is the time limit of one request."""
        self._session = session
        self._base = base_url
        self._seconds = seconds
        self._urls: dict[str, URL] = {}
        self._headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"

    async def send(
        self, path: str, body: dict[str, object] | None, *, seconds: float | None = None
    ) -> HttpResponse:
        """One request, as `Transport.send`; raises TransportError."""
        url = self._urls.get(path) or self._urls.setdefault(path, URL(self._base + path))
        return await self._session.request(
            "GET" if body is None else "POST",
            url,
            None if body is None else orjson.dumps(body),
            self._headers,
            self._seconds if seconds is None else seconds,
        )

    async def aclose(self) -> None:
        """Do nothing: the shared session closes the connections."""


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


def excerpt_without_key(text: str, key: str | None) -> str:
    """The beginning of `text` on one line, without the key."""
    shown = text.replace(key, "[key]") if key else text  # before it is cut: no part of it stays
    return " ".join(shown.split())[:_EXCERPT]


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
