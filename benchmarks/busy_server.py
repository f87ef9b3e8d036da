"""A server that allows so many requests at once, and refuses the others with HTTP 429.

`python -m benchmarks.busy_server [--faults SHARE]` prints its port. A path names the endpoint and
its phases: `/A/40x15,10x20,60/v1` allows 40 requests for 15 seconds from its first one, then 10 for
20, then 60; several endpoints may be asked at once. Each reply takes 200 ms. With `--faults`, that
share of the requests gets a 429, a 500, a broken connection, cut JSON or no answer, in turn, and
a request whose whole reply was sent before is counted as sent again. `GET /stats` has the counts.
"""

import argparse
import asyncio
import hashlib
import json
import re
import sys
from dataclasses import dataclass, field

import uvloop

_LATENCY = 0.2
_LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)
_PATH = re.compile(rb"POST /([^/ ]+)/([^/ ]+)/")
_FAULTS = ("429", "500", "drop", "cut", "stall")


@dataclass
class _Endpoint:
    phases: list[tuple[float, int]]
    began_at: float = 0.0
    open: int = 0
    most_open: int = 0
    requests: int = 0
    refused: int = 0
    answered: int = 0
    sent_again: int = 0
    last_at: float = 0.0
    faults: dict[str, int] = field(default_factory=dict)
    whole: set[bytes] = field(default_factory=set)

    def allowed(self, now: float) -> int:
        """How many requests may be open now."""
        if not self.began_at:
            self.began_at = now
        passed = now - self.began_at
        for seconds, many in self.phases:
            if passed < seconds:
                return many
            passed -= seconds
        return self.phases[-1][1]

    def counts(self) -> dict[str, object]:
        """What happened."""
        named = ("requests", "refused", "answered", "sent_again", "most_open", "faults")
        found: dict[str, object] = {name: getattr(self, name) for name in named}
        return {**found, "seconds": self.last_at - self.began_at}


def _phases(text: str) -> list[tuple[float, int]]:
    found = []
    for each in text.split(","):
        many, _, seconds = each.partition("x")
        found.append((float(seconds or 1e9), int(many)))
    return found


class _Connection(asyncio.Protocol):
    """One connection; requests on it come one after the other."""

    def __init__(self, endpoints: dict[str, _Endpoint], faults: float):
        self._endpoints, self._faults = endpoints, faults
        self._received = b""
        self._transport: asyncio.Transport | None = None
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        self._transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        """Answer once a request is whole."""
        self._received += data
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return
        length = _LENGTH.search(self._received[:end])
        if len(self._received) < end + 4 + (int(length[1]) if length else 0):
            return
        head, body = self._received[:end], self._received[end + 4 :]
        self._received = b""
        found = _PATH.match(head)
        if found is None:
            counts = {name: each.counts() for name, each in self._endpoints.items()}
            self._write(_http(200, json.dumps(counts)))
            return
        name = found[1].decode()
        if name not in self._endpoints:
            self._endpoints[name] = _Endpoint(_phases(found[2].decode()))
        self._take(self._endpoints[name], hashlib.sha256(body).digest())

    def _take(self, endpoint: _Endpoint, body: bytes) -> None:
        endpoint.requests += 1
        endpoint.sent_again += body in endpoint.whole
        if endpoint.open >= endpoint.allowed(self._loop.time()):
            endpoint.refused += 1
            self._write(_http(429, '{"error": {"message": "too many requests at once"}}'))
            return
        endpoint.open += 1
        endpoint.most_open = max(endpoint.most_open, endpoint.open)
        fault = ""
        if self._faults and endpoint.requests % round(1 / self._faults) == 0:
            fault = _FAULTS[sum(endpoint.faults.values()) % len(_FAULTS)]
            endpoint.faults[fault] = endpoint.faults.get(fault, 0) + 1
        self._loop.call_later(_LATENCY, self._answer, endpoint, body, fault)

    def _answer(self, endpoint: _Endpoint, body: bytes, fault: str) -> None:
        endpoint.open -= 1
        whole = _http(200, _completion())
        if fault == "stall":
            return
        if fault == "429":
            self._write(_http(429, '{"error": {"message": "slow down"}}'))
        elif fault == "500":
            self._write(_http(500, '{"error": {"message": "the worker failed"}}'))
        elif fault in ("drop", "cut"):
            self._write(whole[: len(whole) - 40] if fault == "cut" else b"")
            if self._transport is not None:
                self._transport.close()
        else:
            endpoint.answered += 1
            endpoint.last_at = self._loop.time()
            endpoint.whole.add(body)
            self._write(whole)

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)


def _completion() -> str:
    message = {"role": "assistant", "content": "Good. <rating>3</rating>"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 900, "completion_tokens": 60, "total_tokens": 960}
    return json.dumps({"id": "c", "model": "busy", "choices": [choice], "usage": usage})


def _http(status: int, body: str) -> bytes:
    head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()


async def _serve(faults: float) -> None:
    endpoints: dict[str, _Endpoint] = {}
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: _Connection(endpoints, faults), "127.0.0.1", 0, backlog=1024
    )
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    # Whoever started it holds the other end of stdin: it ends with that process.
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=float, default=0.0, metavar="SHARE")
    uvloop.run(_serve(parser.parse_args().faults))
