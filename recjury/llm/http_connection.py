"""One HTTP/1.1 connection: a request is written, and its whole response is read.

There is no other way to an eighth of the CPU time that a call takes with aiohttp, which does much
that a call does not need: redirects, cookies, proxies, streams. llhttp (`httptools`) parses.
"""

import asyncio

import httptools

from recjury.llm.http_response import KEPT_HEADERS, HttpResponse, TransportError, broken, too_large

_MAX_HEADER = 2**16  # bytes; some gateways send a whole policy or their own log in one
_MAX_HEADERS = 2**18  # of all of a response, with what informational responses there are before it
_KEPT = {name.encode("ascii"): name for name in KEPT_HEADERS}


class Connection(asyncio.Protocol):
    """An open connection. It serves one exchange at a time, until it is closed.

    The methods that begin with `on_` are called by the parser.
    """

    def __init__(self) -> None:
        """Wait for `connection_made`, which the event loop calls."""
        self._parser = httptools.HttpResponseParser(self)
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[HttpResponse] | None = None
        self.is_open = False
        self.idle_since = 0.0
        self._begin(0)

    async def exchange(self, request: bytes, ends: float, most: int) -> HttpResponse:
        """The response to `request`, of at most `most` bytes.

        The connection stays open if the server keeps it. Raises TransportError, and TimeoutError
        if the response is not there when the event loop's time is `ends`.
        """
        if self._transport is None or not self.is_open:
            raise broken("closed before the request")
        loop = asyncio.get_running_loop()
        self._begin(most)
        self._answer = loop.create_future()
        limit = loop.call_at(ends, self._fail, TimeoutError())
        self._transport.write(request)
        try:
            return await self._answer
        finally:
            limit.cancel()
            self._answer = None
            if not self._is_reusable:
                self.close()

    def close(self) -> None:
        """Close it at once."""
        self.is_open = False
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        self._transport = transport  # type: ignore[assignment]  # a stream's, as this is a Protocol
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        """Parse what arrived; what nobody has asked for ends the connection."""
        if self._answer is None or self._answer.done():
            self._is_reusable = False
            self.close()
            return
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._is_reusable = False
            self._fail(broken("the answer is not HTTP"))
        if not self._has_headers and self._received > _MAX_HEADERS:
            self._fail(broken(f"the answer has headers of more than {_MAX_HEADERS} bytes"))

    def connection_lost(self, error: Exception | None) -> None:
        """End the exchange; a response without a length ends like that."""
        self.is_open = self._is_reusable = False
        if self._answer is None:
            return
        if error is not None:
            self._fail(broken(type(error).__name__))
        elif not self._has_headers:
            self._fail(broken("closed before the answer"))
        elif "content-length" in self._headers or "transfer-encoding" in self._headers:
            self._fail(broken("closed within the answer"))
        else:
            self.on_message_complete()

    def on_message_begin(self) -> None:
        """Use a connection no more that has a response which nobody has asked for."""
        if self._has_headers:
            self._is_reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header that is read; of equal ones the first. What follows a body is none."""
        if self._has_headers:
            return
        if len(name) + len(value) > _MAX_HEADER:
            self._fail(broken(f"a header of the answer has more than {_MAX_HEADER} bytes"))
        kept = _KEPT.get(name.lower())
        if kept is not None:
            self._headers.setdefault(kept, value.decode("utf-8", "surrogateescape"))

    def on_headers_complete(self) -> None:
        """Note whether the connection stays; an informational response is not the answer."""
        if self._parser.get_status_code() < 200:
            self._headers.clear()
            return
        self._has_headers = True
        self._is_kept = self._parser.should_keep_alive()
        length = self._headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._most:
            self._fail(too_large(self._most))

    def on_body(self, part: bytes) -> None:
        """Take a part of the body, up to the limit."""
        self._size += len(part)
        self._parts.append(part)
        if self._size > self._most:
            self._parts.clear()
            self._fail(too_large(self._most))

    def on_message_complete(self) -> None:
        """Hand the response over."""
        if self._has_headers and self._answer is not None and not self._answer.done():
            self._is_reusable = self._is_kept
            status, body = self._parser.get_status_code(), b"".join(self._parts)
            self._answer.set_result(HttpResponse(status, body, self._headers))

    def _begin(self, most: int) -> None:
        self._most = most
        self._headers: dict[str, str] = {}
        self._parts: list[bytes] = []
        self._size = self._received = 0
        self._has_headers = self._is_kept = self._is_reusable = False

    def _fail(self, error: TransportError | TimeoutError) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)
            self.close()
