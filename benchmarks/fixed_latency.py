"""A server that answers each chat completion after a fixed time, in a process of its own.

`python -m benchmarks.fixed_latency` prints its port. `/200/v1/chat/completions` takes 200 ms. A
reply has the code that its prompt asks for.
"""

import asyncio
import json
import re
import sys

RUBRIC = "Rate what the system said, by these rules, and give reasons before the rating. " * 16
TALK = "What was said so far, turn by turn, in a few lines. " * 24
"""What each client asks."""

_HEAD = re.compile(rb"POST /(\d+)/.*?content-length:\s*(\d+)", re.IGNORECASE | re.DOTALL)
_CODE = re.compile(rb'code=\\"(\w+)\\"')


def _reply(code: str) -> bytes:
    text = "The system keeps to what was asked, and says why. " * 8
    message = {"role": "assistant", "content": f'{text}<rating code="{code}">3</rating>'}
    body = {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "fixed-latency",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": {"prompt_tokens": 900, "completion_tokens": 100, "total_tokens": 1000},
    }
    data = json.dumps(body).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(data)}"
    return head.encode() + b"\r\n\r\n" + data


class _Connection(asyncio.Protocol):
    """One connection: a request at a time."""

    def __init__(self) -> None:
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, body = self._received.partition(b"\r\n\r\n")
        if not found or not (asked := _HEAD.search(head)) or len(body) < int(asked[2]):
            return
        self._received = b""
        codes = _CODE.findall(body)
        reply = _reply(codes[-1].decode() if codes else "")
        loop = asyncio.get_running_loop()
        loop.call_later(int(asked[1]) / 1000, self._transport.write, reply)


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(_Connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)  # until the harness ends


if __name__ == "__main__":
    asyncio.run(_serve())
