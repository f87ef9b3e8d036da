"""One measured client in a process of its own: `python -m benchmarks.clients KIND ...`.

Prints one JSON object: wall and CPU seconds between the first request and the last reply that
was read (for recjury: recorded, too), the peak memory, and the rows in the store afterwards.
"""

import argparse
import asyncio
import json
import resource
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypeVar

import uvloop

from benchmarks.chain import CALLS, read_any, run_chain
from benchmarks.workload import MODEL, many_requests
from recjury.llm import EndpointSpec, Gateway, NullRecorder, event_loop, read_reply
from recjury.records import ChatRequest, Recorder, Status

T = TypeVar("T")

KINDS = ("recjury", "forgetful", "chain", "aiohttp", "sdk")


class _Spent:
    """Wall and CPU seconds of the block that it is the context of."""

    def __enter__(self) -> "_Spent":
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall_s = time.perf_counter() - self._wall
        self.cpu_s = time.process_time() - self._cpu


async def _recjury(options: argparse.Namespace) -> dict[str, float]:
    """The same gateway and store as `recjury run`; `forgetful` leaves the store away."""
    requests = [] if options.kind == "chain" else many_requests(options.calls)
    spec = EndpointSpec(base_url=options.url, name="fixed-latency")
    async with AsyncExitStack() as stack:
        recorder = await _recorder(options, stack)
        gateway = Gateway({MODEL: spec}, recorder, concurrency=options.at_once)
        await stack.enter_async_context(gateway)
        with _Spent() as spent:
            if options.kind == "chain":
                read = await run_chain(gateway, options.calls // CALLS)
            else:
                read = await _workers(requests, lambda r: _judged(gateway, r), 2 * options.at_once)
    return {
        "wall_s": spent.wall_s,
        "cpu_s": spent.cpu_s,
        "read": read,
        "rows": _rows(options.store),
    }


async def _workers(items: Sequence[T], work: Callable[[T], Awaitable[bool]], workers: int) -> int:
    """`work` on all items, as many open at once as there are workers; returns how many succeeded.

    A campaign bounds its open trials likewise. For recjury there are twice as many as calls may
    be in flight, so that some are being recorded or wait for a place, as there.
    """
    waiting = iter(items)

    async def worker() -> int:
        return sum([await work(item) for item in waiting])

    return sum(await asyncio.gather(*(worker() for _ in range(workers))))


async def _recorder(options: argparse.Namespace, stack: AsyncExitStack) -> Recorder:
    if options.kind == "forgetful":
        return NullRecorder()
    from recjury.store import Store

    store = stack.enter_context(Store.open(f"sqlite:///{options.store}"))
    return await stack.enter_async_context(store.recorder())


async def _judged(gateway: Gateway, request: ChatRequest) -> bool:
    return (await read_reply(gateway, request, read_any)).status is Status.SCORED


def _rows(store: Path | None) -> int:
    if store is None or not store.exists():
        return 0
    connection = sqlite3.connect(store)
    try:
        return int(connection.execute("SELECT count(*) FROM call").fetchone()[0])
    finally:
        connection.close()


async def _aiohttp(options: argparse.Namespace) -> dict[str, float]:
    """aiohttp with nothing around it: JSON in, JSON out."""
    import aiohttp
    import orjson

    bodies = [_plain_body(request) for request in many_requests(options.calls)]
    headers = {"Content-Type": "application/json"}
    url = f"{options.url}/chat/completions"
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def call(body: dict[str, object]) -> str:
            async with session.post(url, data=orjson.dumps(body), headers=headers) as response:
                answer = orjson.loads(await response.read())
            text: str = answer["choices"][0]["message"]["content"]
            return text

        return await _bare(call, bodies, options.at_once)


async def _sdk(options: argparse.Namespace) -> dict[str, float]:
    """The openai package with nothing around it, as its documentation shows it."""
    import openai

    bodies = [_plain_body(request) for request in many_requests(options.calls)]
    async with openai.AsyncOpenAI(base_url=options.url, api_key="-") as client:

        async def call(body: dict[str, object]) -> str:
            answer = await client.chat.completions.create(**body)  # type: ignore[call-overload]
            return str(answer.choices[0].message.content)

        return await _bare(call, bodies, options.at_once)


def _plain_body(request: ChatRequest) -> dict[str, object]:
    messages = [{"role": message.role, "content": message.text} for message in request.messages]
    return {"model": "fixed-latency", "messages": messages, "temperature": 0.0}


async def _bare(
    call: Callable[[dict[str, object]], Awaitable[str]],
    bodies: Sequence[dict[str, object]],
    at_once: int,
) -> dict[str, float]:
    async def one(body: dict[str, object]) -> bool:
        return bool(await call(body))

    with _Spent() as spent:
        read = await _workers(bodies, one, at_once)
    return {"wall_s": spent.wall_s, "cpu_s": spent.cpu_s, "read": read, "rows": 0}


def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.clients", description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--url", required=True, help="the server's, with the latency in its path")
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--at-once", type=int, default=128)
    parser.add_argument("--store", type=Path, default=None, help="SQLite file to be made")
    options = parser.parse_args()
    if options.kind in {"aiohttp", "sdk"}:
        measured = uvloop.run((_aiohttp if options.kind == "aiohttp" else _sdk)(options))
    else:
        with event_loop() as runner:
            measured = runner.run(_recjury(options))
    # Linux counts in KiB, macOS in bytes.
    unit = 2**20 if sys.platform == "darwin" else 2**10
    measured["rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    print(json.dumps(measured))


if __name__ == "__main__":
    _main()
