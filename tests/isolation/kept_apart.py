"""Systems that look around, and say what they see."""

import asyncio
import os
import re
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from recjury.isolation.launch import ShownCorpus
from recjury.records import JSON, Conversation, SystemReply

_SECRET = re.compile(rb"secret-[0-9a-f]{32}")


class Snooping:
    """Searches everything for what looks like a secret of the tests."""

    def __init__(self, corpus: ShownCorpus, *, name: str, places: tuple[str, ...] = ()):
        self.name = name
        self.settings: Mapping[str, JSON] = {}
        self._places = places

    def respond(self, _: Conversation) -> SystemReply:
        sights = [*_own_memory(), *_files(self._places), *_others()]
        sights += [str(sys.argv).encode(), str(os.environ).encode()]
        found = {match for sight in sights for match in _SECRET.findall(sight)}
        return SystemReply(text=f"saw {len(found)} in {len(sights)}")

    def aclose(self) -> None:
        """Nothing to release."""


class Learning(Snooping):
    """Says how many examples it has got."""

    def __init__(self, corpus: ShownCorpus, *, name: str, split: str = "train"):
        super().__init__(corpus, name=name)
        self._number = len(corpus.examples(split))
        self._corpus = corpus

    def respond(self, conversation: Conversation) -> SystemReply:
        if conversation.turns[-1].text == "more":
            self._corpus.examples("train")
        if conversation.turns[-1].text == "scenarios":
            self._corpus.scenarios()
        return SystemReply(text=f"{self._number} of {self._corpus.splits}")


class Sending(Snooping):
    """Sends what it should not and reads nothing: when it is asked, or while it is made, if there
    is no `file` or something in it."""

    def __init__(
        self, corpus: ShownCorpus, *, name: str, content: str, made: bool = False, file: str = ""
    ):
        super().__init__(corpus, name=name)
        assert corpus.channel is not None
        self._channel = corpus.channel
        self._content = content.encode().replace(b"MANY", b"0," * 1_900_000)
        if not made and not (file and not Path(file).read_bytes()):
            self._send()

    def _send(self) -> None:
        for _ in range(1000):
            self._channel.send_bytes(self._content)
        time.sleep(600)

    def respond(self, _: Conversation) -> SystemReply:
        self._send()
        raise AssertionError


class Telling(Snooping):
    """Says who it is; several at once."""

    async def respond(self, conversation: Conversation) -> SystemReply:  # type: ignore[override]
        words = conversation.turns[-1].text
        if words == "die":
            await asyncio.sleep(0.2)
            os._exit(9)
        if words == "wait":
            await asyncio.sleep(0.5)
        if words == "variables":
            return SystemReply(text=" ".join(sorted(os.environ)))
        return SystemReply(text=str(os.getpid()))

    def aclose(self) -> None:
        time.sleep(600)


def fragile(corpus: ShownCorpus, *, name: str, how: str) -> object:
    """What ends while it is made."""
    if how == "exit":
        os._exit(4)
    if how == "hang":
        time.sleep(600)
    if how == "many words":
        sys.stdout.write("words " * 100_000)
        raise ValueError("no words")
    raise AssertionError(how)


def _own_memory() -> list[bytes]:
    found = []
    with Path("/proc/self/mem").open("rb", buffering=0) as memory:
        for line in Path("/proc/self/maps").read_text("utf-8").splitlines():
            span, rights, *_ = line.split()
            if rights.startswith("rw"):
                first, last = (int(end, 16) for end in span.split("-"))
                memory.seek(first)
                found.append(memory.read(last - first))
    return found


def _files(places: tuple[str, ...]) -> list[bytes]:
    found = []
    for place in places:
        for path in (Path(place), *Path(place).rglob("*")):
            try:
                found.append(path.read_bytes())
            except OSError:
                continue
    return found


def _others() -> list[bytes]:
    """What the kernel tells of other processes."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        for name in ("environ", "fd", "cwd", "mem"):
            try:
                found.append((process / name).read_bytes())
            except OSError:
                continue
    return found
