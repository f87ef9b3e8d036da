"""Endpoints that allow so many requests at once, asked as far as they allow.

`python -m benchmarks.busy_endpoints [--json] [--calls 10000] [--short]`. One server in a process of
its own, replies of 200 ms. Beside each measurement an oracle runs in a process of its own, at the
same time, so that a busy machine slows both: a plain aiohttp client that always knows the limit
(40, then 10, then 60), and has so many requests open.

- *alone*: the gateway, which is told nothing, on an endpoint with these limits;
- *first* and *second*: one gateway on two such endpoints, the second one with 10, 60 and 40;
- *faulty*: 5 % of 429, 500, broken connections, cut JSON and stalls, mixed.
"""

import argparse
import asyncio
import contextlib
import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from typing import cast

import uvloop

from benchmarks.harness import server_process
from recjury.llm import EndpointSpec, Gateway, NullRecorder, event_loop
from recjury.records import ChatRequest, Message

_STALL = 3.0  # seconds until a request without an answer is given up
Counts = dict[str, dict[str, float]]
Figures = dict[str, float]


def counts(port: int) -> Counts:
    """What the server has counted, by endpoint."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/stats", timeout=10) as response:
        return cast("Counts", json.load(response))


def _limit(phases: str, passed: float) -> int:
    for each in phases.split(","):
        many, _, seconds = each.partition("x")
        passed -= float(seconds or 1e9)
        if passed < 0:
            break
    return int(many)


async def _oracle(port: int, name: str, phases: str, calls: int) -> None:
    """Has as many requests open as are allowed, at any time; asks again for what is refused."""
    import aiohttp

    url = f"http://127.0.0.1:{port}/{name}/{phases}/v1/chat/completions"
    waiting, running = list(range(calls)), set[asyncio.Task[None]]()
    begun = time.monotonic()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def call(number: int) -> None:
            body = json.dumps({"messages": [{"role": "user", "content": f"{number}"}]})
            async with session.post(url, data=body) as response:
                await response.read()
                if response.status != 200:
                    waiting.append(number)

        while waiting or running:
            while waiting and len(running) < _limit(phases, time.monotonic() - begun):
                running.add(asyncio.create_task(call(waiting.pop())))
            _, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)


async def ask_busy(
    port: int, endpoints: dict[str, str], calls: int, *, give_up: float = 120.0
) -> int:
    """`calls` calls to each endpoint, by one gateway; returns how many have failed."""
    specs = {
        name: EndpointSpec(
            base_url=f"http://127.0.0.1:{port}/{name}/{phases}/v1", name="busy", timeout=give_up
        )
        for name, phases in endpoints.items()
    }
    failed = 0
    async with Gateway(specs, NullRecorder(), concurrency=128) as gateway:

        async def worker(alias: str, numbers: Iterator[int]) -> None:
            nonlocal failed
            for number in numbers:
                message = Message("user", (f"Rate conversation {number}.",))
                try:
                    await gateway.complete(ChatRequest(alias, (message,), "judge/Novelty"))
                except Exception:
                    failed += 1

        every = {alias: iter(range(calls)) for alias in specs}
        await asyncio.gather(
            *(worker(alias, numbers) for alias, numbers in every.items() for _ in range(256))
        )
    return failed


@contextlib.contextmanager
def _oracles(port: int, endpoints: dict[str, str], calls: int) -> Iterator[None]:
    """An oracle for each endpoint, in a process of its own, until it has made its calls."""
    command = [sys.executable, "-m", "benchmarks.busy_endpoints", "--calls", str(calls)]
    started = [
        subprocess.Popen([*command, "--oracle", str(port), f"oracle_{name}", phases])
        for name, phases in endpoints.items()
    ]
    try:
        yield
        if any(each.wait() for each in started):
            raise SystemExit("an oracle failed")
    finally:
        for each in started:
            each.kill()


def _rate(found: dict[str, float]) -> float:
    return found["answered"] / found["seconds"]


def measure(calls: int, times: tuple[float, float]) -> dict[str, object]:
    """All figures of one run. `times` are the seconds of the first two phases."""
    one = f"40x{times[0]:g},10x{times[1]:g},60"
    other = f"10x{times[1]:g},60x{times[0]:g},40"
    figures: dict[str, object] = {"calls": calls, "phases": one}
    with server_process("benchmarks.busy_server") as port, event_loop() as runner:
        for endpoints in ({"alone": one}, {"first": one, "second": other}):
            with _oracles(port, endpoints, calls):
                runner.run(ask_busy(port, endpoints, calls))
        found = counts(port)
    over = {
        name: _rate(found[name]) / _rate(found[f"oracle_{name}"])
        for name in ("alone", "first", "second")
    }
    for name, ratio in over.items():
        figures[f"{name}_over_oracle"] = ratio
        figures[f"{name}_refused"] = found[name]["refused"] / found[name]["requests"]
        figures[f"{name}_calls_per_second"] = _rate(found[name])
    figures["first_over_alone"] = over["first"] / over["alone"]
    return {**figures, **faults(calls)}


def faults(calls: int, share: float = 0.05) -> dict[str, object]:
    """What becomes of `calls` calls if that share of the requests fails in one of five ways."""
    with (
        server_process("benchmarks.busy_server", "--faults", str(share)) as port,
        event_loop() as runner,
    ):
        failed = runner.run(ask_busy(port, {"faulty": "40"}, calls, give_up=_STALL))
        found = counts(port)["faulty"]
    return {
        "faulty_requests": found["faults"],
        "faulty_finished": (calls - failed) / calls,
        "faulty_sent_again": found["sent_again"],
        "faulty_calls_per_second": _rate(found),
    }


def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.busy_endpoints")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--short", action="store_true", help="phases of 3 and 4 seconds")
    parser.add_argument("--oracle", nargs=3, metavar=("PORT", "NAME", "PHASES"))
    options = parser.parse_args()
    if options.oracle:
        port, name, phases = options.oracle
        uvloop.run(_oracle(int(port), name, phases, options.calls))
        return
    found = measure(options.calls, (3, 4) if options.short else (15, 20))
    shown = {k: round(v, 4) if isinstance(v, float) else v for k, v in found.items()}
    print(json.dumps(shown) if options.json else "\n".join(f"{k:30}{v}" for k, v in shown.items()))


if __name__ == "__main__":
    _main()
