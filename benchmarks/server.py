"""A model server of fixed latency that is itself no bottleneck: about 0.02 ms CPU a call.

It reads no more of a request than it must, and answers with bytes that were made beforehand. The
latency in milliseconds is the first part of the path: `http://127.0.0.1:PORT/50/v1`. Replies
differ in eight digits, as real ones differ, so that a store cannot keep them once.
`GET /stats` answers `{"calls": n, "cpu_s": seconds}`. Run: `python -m benchmarks.server`.
"""

import asyncio
import json
import re
import sys
import time

import uvloop

_LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)
_LATENCY = re.compile(rb"POST /(\d+)/")
_MARK = "00000000"

# About 150 tokens.
_REASONS = (
    "The conversation was read turn by turn. In its first answer the system asks for a genre, "
    "which moves the talk on, and it takes up what the user said about slow films. In its second "
    "answer it names two films with a director and a year, and ties both to the wish for "
    "something quiet. The third answer repeats one of them without a new reason, and the user "
    "has to ask again. Its claims agree with what was said before, no turn contradicts another, "
    "and the recommended titles fit the talk, though one of them was already turned down. "
    "Weighed by the guideline this is good, and short of the best. "
)


class _Calls:
    """How many requests were answered, by all connections."""

    def __init__(self) -> None:
        self.answered = 0


class FixedLatency(asyncio.Protocol):
    """One connection; requests on it come one after the other."""

    def __init__(self, calls: _Calls, answer: tuple[bytes, bytes]):
        """`answer` is the response before and after the eight digits that differ."""
        self._calls = calls
        self._head, self._tail = answer
        self._received = b""
        self._transport: asyncio.Transport | None = None
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        assert isinstance(transport, asyncio.Transport) or hasattr(transport, "write")
        self._transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        """Answer once a request is whole."""
        self._received = self._received + data if self._received else data
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self._received[:end]
        length = _LENGTH.search(head)
        if len(self._received) < end + 4 + (int(length[1]) if length else 0):
            return
        self._received = b""
        latency = _LATENCY.match(head)
        if latency is None:
            self._stats()
        else:
            self._loop.call_later(int(latency[1]) / 1000, self._reply)

    def _reply(self) -> None:
        self._calls.answered += 1
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(b"%b%08d%b" % (self._head, self._calls.answered, self._tail))

    def _stats(self) -> None:
        stats = {"calls": self._calls.answered, "cpu_s": time.process_time()}
        if self._transport is not None:
            self._transport.write(_http(json.dumps(stats)))


def _http(body: str) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return f"{head}\r\n{body}".encode("ascii")


def _answer() -> tuple[bytes, bytes]:
    text = f"{_REASONS}(Reading {_MARK}.)\n<rating>3</rating>"
    message = {"role": "assistant", "content": text}
    body = {
        "id": "chatcmpl-0",
        "object": "chat.completion",
        "created": 0,
        "model": "fixed-latency",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 150, "total_tokens": 1150},
    }
    head, _, tail = _http(json.dumps(body)).partition(_MARK.encode())
    return head, tail


async def _serve() -> None:
    calls, answer = _Calls(), _answer()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: FixedLatency(calls, answer), "127.0.0.1", 0, backlog=1024
    )
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    # Whoever started it holds the other end of stdin: it ends with that process.
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    uvloop.run(_serve())
