"""The examples of docs/systems.md are what it says: complete, and they run."""

import asyncio
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recjury.agents import SystemContext, load_recommender
from recjury.agents.http_system import HttpSystem
from recjury.corpora import open_corpus
from recjury.records import SystemReply
from tests.agents.conversations import after, talk

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "examples" / "http_server.py"
CORPUS = open_corpus("sample")


def blocks() -> list[str]:
    page = (ROOT / "docs" / "systems.md").read_text("utf-8")
    return re.findall(r"```python\n(.*?)```", page, re.DOTALL)


def test_the_example_of_ones_own_class_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (example,) = (block for block in blocks() if "class RandomSystem" in block)
    (tmp_path / "my_systems.py").write_text(example, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    options = {"path": "my_systems:RandomSystem", "options": {"seed": 1}}
    system = load_recommender("python", "by-lot", options, SystemContext(CORPUS))
    reply = asyncio.run(system.respond(talk("Hello")))
    assert system.name == "by-lot"
    assert len({item.id for item in reply.items}) == 10
    assert reply.items[0].name in reply.text
    assert reply == asyncio.run(system.respond(talk("Hello")))


@pytest.fixture
def served() -> Iterator[str]:
    """The address at which the example server listens, in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, SERVER, str(port)], stderr=subprocess.DEVNULL)
    yield f"http://127.0.0.1:{port}/respond"
    process.terminate()
    process.wait(10)


def test_the_example_server_answers(served: str) -> None:
    async def ask() -> tuple[SystemReply, SystemReply]:
        # Refused connections are tried again, as long as a process takes to start.
        entry = HttpSystem(name="mine", url=served, retries=12)
        system = entry.prepared(SystemContext(CORPUS, list_length=2))
        try:
            await system.check()
            first = await system.respond(talk("Hello"))
            return first, await system.respond(after(talk("Hello"), first, "Seen it."))
        finally:
            await system.aclose()

    first, second = asyncio.run(ask())
    assert [len(first.items), len(second.items)] == [2, 2]
    assert first.items[0] != second.items[0]
    assert all(item.id in CORPUS.catalogue for item in (*first.items, *second.items))
