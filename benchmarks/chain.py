"""Dialogues as a campaign runs them: 39 calls each, most of which wait for others.

Five turns of two calls in sequence, one call for the user's verdict, twelve judges at once, four
rounds of four debaters at once. The ideal is the list schedule: whoever is ready first gets the
next free place, and nothing but the latency takes time.
"""

import asyncio
import heapq
from collections import deque
from typing import NamedTuple

from benchmarks.workload import MODEL
from recjury.llm import Gateway, call_context, parse_rating, read_reply
from recjury.records import ChatRequest, Message, Reply, Status

WAVES = (1,) * 11 + (12,) + (4,) * 4
CALLS = sum(WAVES)
_RUBRIC = "Rate what the system said, by these rules, and give reasons before the rating. " * 16


class _Due(NamedTuple):
    at: float
    order: int
    dialogue: int


def ideal_wall(dialogues: int, places: int, latency: float) -> float:
    """Seconds that the list schedule takes with `places` calls at once."""
    wave = [0] * dialogues
    left = [WAVES[0]] * dialogues
    ready = deque(dialogue for dialogue in range(dialogues) for _ in range(WAVES[0]))
    running: list[_Due] = []
    now, order = 0.0, 0
    while ready or running:
        while ready and len(running) < places:
            heapq.heappush(running, _Due(now + latency, order, ready.popleft()))
            order += 1
        now, _, dialogue = heapq.heappop(running)
        left[dialogue] -= 1
        if left[dialogue] == 0 and wave[dialogue] + 1 < len(WAVES):
            wave[dialogue] += 1
            left[dialogue] = WAVES[wave[dialogue]]
            ready.extend([dialogue] * left[dialogue])
    return now


async def run_chain(gateway: Gateway, dialogues: int) -> int:
    """All dialogues at once, each flowing on its own; returns how many replies were read."""
    return sum(await asyncio.gather(*(_dialogue(gateway, n) for n in range(dialogues))))


async def _dialogue(gateway: Gateway, number: int) -> int:
    read = 0
    talk = f"Dialogue {number}. " + "What was said so far, turn by turn, in a few lines. " * 24
    with call_context(f"{number:032x}"):
        for wave, width in enumerate(WAVES):
            request = _request(number, wave, talk)
            calls = (_one(gateway, request._replace(sample=place)) for place in range(width))
            read += sum(await asyncio.gather(*calls))
            if wave < 10:
                talk += f"And then, in turn {wave}, some more was said by one of the two. "
    return read


def _request(number: int, wave: int, talk: str) -> ChatRequest:
    parts = (_RUBRIC, talk, f"This is step {wave} of dialogue {number}.")
    return ChatRequest(model=MODEL, messages=(Message("user", parts),), purpose=f"chain/{wave}")


async def _one(gateway: Gateway, request: ChatRequest) -> bool:
    return (await read_reply(gateway, request, read_any)).status is Status.SCORED


def read_any(reply: Reply) -> int:
    """The rating from 0 to 4 in a reply of the server, which sends the same one without a code."""
    bare = Reply(reply.call, reply.text, reply.finish_reason, reply.model)
    return parse_rating(bare, 0, 4).score
