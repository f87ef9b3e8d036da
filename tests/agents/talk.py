"""Talks with a system as a session does."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, TypeVar
from uuid import uuid4

from recjury.agents import LoadedSystem, SystemSettings, load_system
from recjury.corpora import Corpus, open_corpus
from recjury.llm import Provider
from recjury.records import Conversation, Turn
from tests.simulator.doubles import ask_of

T = TypeVar("T")
Settings = Mapping[str, Any]


def loaded(
    settings: Settings,
    corpus: Corpus | None = None,
    *,
    stand_ins: tuple[type[SystemSettings], ...] = (),
) -> LoadedSystem:
    """The system; names of models and packs stand for themselves."""
    over = corpus or open_corpus("sample")
    return load_system(settings, over, lambda kind, name: f"{kind} {name}", stand_ins=stand_ins)


def run(settings: Settings, use: Callable[[LoadedSystem], Awaitable[T]]) -> T:
    """What `use` returns of the system, which is closed at the end."""

    async def work() -> T:
        async with aclosing(loaded(settings)) as system:
            return await use(system)

    return asyncio.run(work())


async def talk_with(
    system: LoadedSystem, says: Sequence[str], provider: Provider | None = None
) -> list[Turn]:
    """The system's turns after each utterance; it ends with the first that failed."""
    turns: list[Turn] = []
    answers: list[Turn] = []
    id_ = uuid4().hex

    def so_far() -> Conversation:
        return Conversation(id=id_, turns=tuple(turns), domain="film")

    async with system.place():
        await system.start(so_far())
        for text in says:
            turns.append(Turn(speaker="user", text=text))
            answer = await system.turn(so_far(), ask_of(provider))
            turns.append(answer)
            answers.append(answer)
            if answer.failure:
                break
        await system.end(so_far())
    return answers


def talk(settings: Settings, *says: str, provider: Provider | None = None) -> list[Turn]:
    """The system's turns in a conversation of its own."""
    return run(settings, lambda system: talk_with(system, says or ["Hello."], provider))
