"""A server on 127.0.0.1 that writes whatever bytes a test wants, as HTTP or not."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Self

Write = Callable[[asyncio.StreamWriter], Awaitable[None]]


class RawServer:
    """Reads a request and lets `answer` write; in a thread, as `ScriptedEndpoint`."""

    def __init__(self, answer: Write):
        """`answer` writes to the connection, which is closed afterwards."""
        self._answer = answer
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.requests = 0
        self.url = ""

    def __enter__(self) -> Self:
        """Start listening."""
        self._thread.start()
        started = asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._server = asyncio.run_coroutine_threadsafe(started, self._loop).result(10)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, with all connections."""

        async def stop() -> None:
            self._server.close()
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                (
                    int(line.partition(b":")[2])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length:")
                ),
                0,
            )
            await reader.readexactly(length)
            self.requests += 1
            await self._answer(writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


def sends(*parts: bytes) -> Write:
    """Write these bytes."""

    async def write(writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()

    return write


def response(
    body: bytes, *headers: str, status: str = "200 OK", length: int | None = None
) -> Write:
    """Write a response with that body; `length` is a Content-Length that need not be true."""
    said = len(body) if length is None else length
    head = [f"HTTP/1.1 {status}", f"Content-Length: {said}", *headers, "", ""]
    return sends("\r\n".join(head).encode() + body)


def endless(part: bytes, *, pause: float = 0.0, head: bytes = b"HTTP/1.1 200 OK\r\n\r\n") -> Write:
    """Write `part` again and again."""

    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause)

    return write
