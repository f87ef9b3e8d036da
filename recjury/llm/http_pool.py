"""Connections to servers that are kept and used again."""

import asyncio
import functools
import socket
import ssl
from collections import deque
from typing import NamedTuple

from aiohappyeyeballs import AddrInfoType, start_connection
from yarl import URL

from recjury.llm.http_connection import Connection
from recjury.llm.http_response import HttpResponse, TransportError

_CONNECT_SECONDS = 15
_NEXT_ADDRESS_SECONDS = 0.25  # later, another address of the host is tried beside (RFC 8305)
_LOOKED_UP_SECONDS = 10  # how long the addresses of a host are kept


class _Origin(NamedTuple):
    scheme: str
    host: str
    port: int


class ConnectionPool:
    """Connections to any servers, in one event loop. The callers limit how many are in use."""

    def __init__(self, keepalive: float):
        """An idle connection is kept for `keepalive` seconds."""
        self._keepalive = keepalive
        self._servers: dict[_Origin, _Server] = {}

    async def exchange(self, url: URL, request: bytes, seconds: float, most: int) -> HttpResponse:
        """The response of the server of `url`, as `Connection.exchange`."""
        origin = _Origin(url.scheme, url.raw_host or "", url.port or 0)
        server = self._servers.get(origin)
        if server is None:
            server = self._servers[origin] = _Server(origin, self._keepalive)
        ends = server.loop.time() + seconds
        connection = await server.take(min(seconds, _CONNECT_SECONDS))
        try:
            return await connection.exchange(request, ends, most)
        except TimeoutError:
            raise TransportError(f"no answer within {seconds:g} s") from None
        finally:
            server.give_back(connection)

    def close(self) -> None:
        """Close all connections; open exchanges fail."""
        for server in self._servers.values():
            server.close()


class _Server:
    """The connections to one server, the addresses of its host, and how TLS is spoken."""

    def __init__(self, origin: _Origin, keepalive: float):
        self.loop = asyncio.get_running_loop()
        self._origin = origin
        self._keepalive = keepalive
        self._idle: deque[Connection] = deque()  # those used last at the end
        self._busy: set[Connection] = set()
        self._addresses: list[AddrInfoType] = []
        self._look_up_again_at = self.loop.time()
        self._looking_up = asyncio.Lock()

    async def take(self, seconds: float) -> Connection:
        """A connection that is idle, or a new one within `seconds`. Raises TransportError."""
        connection = self._kept() or await self._connect(seconds)
        self._busy.add(connection)
        return connection

    def give_back(self, connection: Connection) -> None:
        """Keep a connection for the next exchange, if it is open."""
        self._busy.discard(connection)
        if connection.is_open:
            connection.idle_since = self.loop.time()
            self._idle.append(connection)

    def close(self) -> None:
        """Close all connections."""
        for connection in (*self._idle, *self._busy):
            connection.close()

    def _kept(self) -> Connection | None:
        """The idle connection that was used last; those that are too old are closed."""
        oldest = self.loop.time() - self._keepalive
        while self._idle and self._idle[0].idle_since < oldest:
            self._idle.popleft().close()
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open:
                return connection
        return None

    async def _connect(self, seconds: float) -> Connection:
        try:
            async with asyncio.timeout(seconds):
                return await self._connected()
        except TimeoutError:
            reason = f"no connection within {seconds:g} s"
        except (OSError, UnicodeError) as error:  # a host can be one that no look-up takes
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise TransportError(f"cannot connect ({reason})", connected=False)

    async def _connected(self) -> Connection:
        plain = await start_connection(
            await self._look_up(), happy_eyeballs_delay=_NEXT_ADDRESS_SECONDS
        )
        tls = self._tls if self._origin.scheme == "https" else None
        try:
            _, connection = await self.loop.create_connection(
                Connection, sock=plain, ssl=tls, server_hostname=self._origin.host if tls else None
            )
        except BaseException:
            plain.close()
            raise
        return connection

    async def _look_up(self) -> list[AddrInfoType]:
        async with self._looking_up:  # one look-up is enough for all calls that wait
            if self.loop.time() >= self._look_up_again_at:
                _, host, port = self._origin
                self._addresses = await asyncio.to_thread(_addresses, host, port)
                self._look_up_again_at = self.loop.time() + _LOOKED_UP_SECONDS
        return self._addresses

    @functools.cached_property
    def _tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        return context


def _addresses(host: str, port: int) -> list[AddrInfoType]:
    return [*socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
