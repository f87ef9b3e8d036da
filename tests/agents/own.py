"""Systems of one's own: good ones of each form, and every way to fail."""

import asyncio
import functools
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator

from recjury.corpora import Catalogue, Domain
from recjury.llm import Ask
from recjury.records import Conversation, Event, SystemReply

HEAT = "Heat (1995)"
ENDED: list[str] = []
OPEN: set[str] = set()


def function(conversation: Conversation) -> str:
    return f"Try {HEAT}."


async def async_function(conversation: Conversation) -> str:
    await asyncio.sleep(0)
    return f"Try {HEAT}."


def generator(conversation: Conversation) -> Iterator[str]:
    yield from ("Try ", "Heat ", "(1995).")


async def async_generator(conversation: Conversation) -> AsyncIterator[str]:
    for piece in ("Try ", "Heat ", "(1995)."):
        yield piece


class Class:
    def __init__(self, film: str = HEAT):
        self.film = film

    def respond(self, conversation: Conversation) -> str:
        return f"Try {self.film}."


class Called:
    async def __call__(self, conversation: Conversation) -> str:
        return f"Try {HEAT}."


instance = Class()
called = Called()
bound = instance.respond


def with_film(film: str, conversation: Conversation) -> str:
    return f"Try {film}."


partial = functools.partial(with_film, HEAT)


class Shows:
    """Text, a list, events, and what its constructor asks for."""

    def __init__(self, catalogue: Catalogue, domain: Domain, length: int = 2):
        self.items = [item.ref for item in catalogue][:length]
        self.domain = domain

    async def respond(self, conversation: Conversation) -> AsyncIterator[str | Event]:
        yield Event(kind="tool call", value={"name": "search"})
        yield f"Some {self.domain.items}, Up (2009) not among them. \ud83d"
        yield "\ude00"
        yield Event(kind="items", value=[*self.items, "f205", HEAT, "No Such Film"])


class Stateful:
    def start(self, conversation: Conversation) -> None:
        OPEN.add(conversation.id)

    def respond(self, conversation: Conversation) -> str:
        return f"{HEAT} in {len(OPEN)} of {conversation.id in OPEN}"

    def end(self, conversation: Conversation) -> None:
        OPEN.discard(conversation.id)
        raise RuntimeError("nobody minds")

    async def aclose(self) -> None:
        ENDED.append("closed")


async def asks(conversation: Conversation, ask: Ask) -> str:
    answer = await ask.text("Name a film.", model="main", purpose="system")
    return answer.value or ""


def returns_none(conversation: Conversation) -> None:
    return None


def returns_number(conversation: Conversation) -> int:
    return 7


def says_nothing(conversation: Conversation) -> str:
    return " \u200b\n"


def says_megabyte(conversation: Conversation) -> str:
    return "word " * 200_000


def raises(conversation: Conversation) -> str:
    raise ValueError("out of\nfilms")


def exits(conversation: Conversation) -> str:
    sys.exit("I am done")


def interrupts(conversation: Conversation) -> str:
    raise KeyboardInterrupt


def stops_iteration(conversation: Conversation) -> str:
    return next(iter(()))


async def async_exits(conversation: Conversation) -> str:
    sys.exit(3)


async def cancels_itself(conversation: Conversation) -> str:
    raise asyncio.CancelledError


def hangs(conversation: Conversation) -> str:
    time.sleep(1)
    return "too late"


async def async_hangs(conversation: Conversation) -> str:
    await asyncio.sleep(60)
    return "too late"


def never_ends(conversation: Conversation) -> Iterator[str]:
    while True:
        yield ""


async def async_never_ends(conversation: Conversation) -> AsyncIterator[str]:
    while True:
        yield "more "


def breaks_off(conversation: Conversation) -> Iterator[str]:
    yield "Try "
    raise ConnectionError("gone")


def yields_numbers(conversation: Conversation) -> Iterator[object]:
    yield 7


def shows_lock(conversation: Conversation) -> Iterator[Event]:
    yield Event(kind="card", value=threading.Lock())


def lists_numbers(conversation: Conversation) -> Iterator[Event]:
    yield Event(kind="items", value=[{"sku": 3}])


def wrong_list(conversation: Conversation) -> SystemReply:
    return SystemReply.model_validate({"text": "Here.", "items": 7})


class NotReady:
    def start(self, conversation: Conversation) -> None:
        raise ConnectionError("no session")

    def respond(self, conversation: Conversation) -> str:
        return HEAT


class Broken:
    def __init__(self, size: int = 0):
        raise ValueError(f"no model\nof size {size}")


class Mute:
    pass


number = 7
