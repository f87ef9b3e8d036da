"""The released model (`benchmarks.face_released`) behind HTTP, quick enough to be no bottleneck.

`GET /stats` answers `{"calls": n, "cpu_s": seconds}`. Run: `python -m benchmarks.face_server
FOLDER ASPECT...`; it prints its port, and ends when its standard input does.
"""

import asyncio
import re
import sys
import time
from pathlib import Path

import orjson
import uvloop

from benchmarks.face_released import Released, completion
from recjury.records import Aspect

_LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


class _Calls:
    """How many requests were answered, by all connections."""

    def __init__(self) -> None:
        self.answered = 0


class ReleasedModel(asyncio.Protocol):
    """One connection; requests on it come one after the other."""

    def __init__(self, model: Released, calls: _Calls):
        """`calls` are counted over all connections."""
        self._model = model
        self._calls = calls
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        self._transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        """Answer once a request is whole."""
        self._received = self._received + data if self._received else data
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return
        head, body = self._received[:end], self._received[end + 4 :]
        length = _LENGTH.search(head)
        if len(body) < (int(length[1]) if length else 0):
            return
        self._received = b""
        answer = orjson.dumps(self._answer(head, body))
        assert self._transport is not None
        self._transport.write(_HEAD % len(answer) + answer)

    def _answer(self, head: bytes, body: bytes) -> dict[str, object]:
        if head.startswith(b"GET /stats"):
            return {"calls": self._calls.answered, "cpu_s": time.process_time()}
        if head.startswith(b"GET"):
            return {"object": "list", "data": [{"id": "released"}]}
        self._calls.answered += 1
        asked = orjson.loads(body)
        texts = self._model.texts(asked["messages"], asked.get("n", 1))
        return completion(texts, "released")


async def _serve(folder: Path, aspects: tuple[Aspect, ...]) -> None:
    model, calls = Released(folder, aspects), _Calls()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: ReleasedModel(model, calls), "127.0.0.1", 0, backlog=1024
    )
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    uvloop.run(_serve(Path(sys.argv[1]), tuple(map(Aspect, sys.argv[2:]))))
