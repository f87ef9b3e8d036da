"""One measured client in a process of its own: `python -m benchmarks.clients KIND URL CALLS OPEN`.

Prints JSON: wall and CPU seconds between the first request and the last reply, and the peak memory
in MB. `stored` and `chain` keep calls in a store, `memory` in a dictionary; `create` is the SDK as
its documentation shows it, `create_aiohttp` the same over aiohttp, `aiohttp` is JSON in and out.
"""

import asyncio
import json
import resource
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.fixed_latency import RUBRIC, TALK
from recjury.llm import Ask, Gateway, Model, Recorder, open_model
from recjury.records import Completion, Message, Request, Unit

WAVES = (1,) * 11 + (12,) + (4,) * 4
"""Calls of a dialogue that go at once: turns, judges, and four rounds of debaters."""

_SCALE = (0, 4)


class _Memory:
    """Keeps calls in a dictionary."""

    def __init__(self) -> None:
        self._kept: dict[str, Completion] = {}

    async def recall(self, calls: Sequence[str]) -> dict[str, Completion]:
        return {call: self._kept[call] for call in calls if call in self._kept}

    async def record(
        self,
        done: Sequence[Completion],
        request: Request,  # noqa: ARG002 (of the protocol)
        model: str,  # noqa: ARG002
        unit: Unit,  # noqa: ARG002
    ) -> dict[str, Completion]:
        return {each.call: self._kept.setdefault(each.call, each) for each in done}


def _prompt(number: object) -> list[Message]:
    form = 'End with <rating code="\x1f">N</rating>.'
    return [Message("user", (RUBRIC, f"Dialogue {number}. {TALK}", form))]


async def _workers(calls: int, places: int, one: Callable[[int], Awaitable[None]]) -> None:
    """`one` for each number, `places` of them at once."""
    numbers = iter(range(calls))

    async def work() -> None:
        for number in numbers:
            await one(number)

    await asyncio.gather(*(work() for _ in range(places)))


async def _recjury(kind: str, url: str, calls: int, places: int, recorder: Recorder) -> Any:
    model = Model(name="fixed-latency", base_url=url, concurrency=places, price_in=1, price_out=1)
    gateway = Gateway({"judge": model}, recorder, open_model)
    gateway.line("judge")  # the SDK is imported before the first request, as for the others

    async def rate(number: object, sample: int = 0) -> None:
        unit = Unit("benchmark", "", str(number))
        ask = Ask(gateway, unit, sample=sample)
        answer = await ask.rating(_prompt(number), _SCALE, model="judge", purpose="judge")
        assert answer.value is not None, answer

    async def dialogue(number: int) -> None:
        for wave, width in enumerate(WAVES):
            await asyncio.gather(*(rate((number, wave), place) for place in range(width)))

    with _Spent() as spent:
        if kind == "chain":
            await asyncio.gather(*(dialogue(number) for number in range(calls // sum(WAVES))))
        else:
            await _workers(calls, places, rate)
    await gateway.aclose()
    return spent


async def _sdk(kind: str, url: str, calls: int, places: int) -> Any:
    import openai

    over = {"http_client": openai.DefaultAioHttpClient()} if kind == "create_aiohttp" else {}
    async with openai.AsyncOpenAI(base_url=url, api_key="-", **over) as client:  # type: ignore[arg-type]

        async def call(number: int) -> None:
            answer = await client.chat.completions.create(**_body(number))
            assert answer.choices[0].message.content

        with _Spent() as spent:
            await _workers(calls, places, call)
    return spent


async def _aiohttp(url: str, calls: int, places: int) -> Any:
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def call(number: int) -> None:
            async with session.post(f"{url}/chat/completions", json=_body(number)) as response:
                assert (await response.json())["choices"][0]["message"]["content"]

        with _Spent() as spent:
            await _workers(calls, places, call)
    return spent


def _body(number: int) -> dict[str, Any]:
    content = "".join(_prompt(number)[0].parts).replace("\x1f", "a1b2c3d4")
    messages = [{"role": "user", "content": content}]
    return {"model": "fixed-latency", "messages": messages, "temperature": 0.0}


class _Spent:
    """Wall and CPU seconds of the block that it is the context of."""

    def __enter__(self) -> "_Spent":
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall_s = time.perf_counter() - self._wall
        self.cpu_s = time.process_time() - self._cpu


async def _measured(kind: str, url: str, calls: int, places: int) -> Any:
    if kind == "aiohttp":
        return await _aiohttp(url, calls, places)
    if kind.startswith("create"):
        return await _sdk(kind, url, calls, places)
    if kind == "memory":
        return await _recjury(kind, url, calls, places, _Memory())
    from recjury.store import Store

    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "calls.db") as store:
        return await _recjury(kind, url, calls, places, store)


def ideal_wall(dialogues: int, places: int, latency: float) -> float:
    """Seconds that the chains take if only the latency takes time: whoever is ready goes next."""
    import heapq

    ready, running, now = list(range(dialogues)), list[tuple[float, int]](), 0.0
    waves = [_widths() for _ in range(dialogues)]
    left = [next(each) for each in waves]
    while ready or running:
        while ready and len(running) < places:
            heapq.heappush(running, (now + latency, ready.pop(0)))
        now, dialogue = heapq.heappop(running)
        left[dialogue] -= 1
        if left[dialogue] == 0:
            left[dialogue] = next(waves[dialogue], 0)
            ready += [dialogue] * left[dialogue]
    return now


def _widths() -> Iterator[int]:
    return iter(WAVES)


if __name__ == "__main__":
    kind, url, *numbers = sys.argv[1:]
    found = asyncio.run(_measured(kind, url, *map(int, numbers)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"wall_s": found.wall_s, "cpu_s": found.cpu_s, "rss_mb": peak}))
