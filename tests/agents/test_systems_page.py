"""The example of docs/systems.md is what it says: complete, and it runs."""

import asyncio
import re
from pathlib import Path

import pytest

from recjury.agents import Surroundings, load_recommender
from recjury.corpora import open_corpus
from tests.agents.conversations import talk

PAGE = Path(__file__).parents[2] / "docs" / "systems.md"


def test_the_example_of_ones_own_system_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = re.search(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    (tmp_path / "my_systems.py").write_text(found.group(1), "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    corpus = open_corpus("sample")
    options = {"path": "my_systems:RandomSystem", "options": {"seed": 1}}
    system = load_recommender("python", "by-lot", options, Surroundings(corpus))
    reply = asyncio.run(system.respond(talk("Hello")))
    assert system.name == "by-lot"
    assert len({item.id for item in reply.items}) == 10
    assert reply.items[0].name in reply.text
    assert reply == asyncio.run(system.respond(talk("Hello")))
