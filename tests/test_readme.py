"""The commands and the Python of README.md, run in its order by a reader with a model."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Recjury, honest, recjury
from tests.scripted_endpoint import ScriptedEndpoint

HERE = Path(__file__).parents[1]
README = (HERE / "README.md").read_text("utf-8")
CHAT = '[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Heat (1995)?"}]'

__all__ = ["recjury"]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def commands() -> Iterator[list[str]]:
    for block in blocks("sh"):
        for line in block.splitlines():
            if line.startswith("recjury "):
                yield shlex.split(line, comments=True)[1:]


def test_its_commands_work(
    recjury: Recjury, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "chats.jsonl").write_text(CHAT)
    (tmp_path / "examples").mkdir()
    example = (HERE / "examples" / "model.yaml").read_text("utf-8")
    monkeypatch.setenv("OPENAI_API_KEY", "a key")
    with ScriptedEndpoint(honest) as endpoint:
        here = example.replace("https://api.openai.com/v1", endpoint.url).replace(
            "limit: 10", "limit: 1"
        )
        (tmp_path / "examples" / "model.yaml").write_text(here)
        for command in commands():
            done = recjury(*command)
            assert done.code in (0, 3), (command, done.err)


def test_its_python_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), names)
    assert (tmp_path / "recjury.db").exists()


def test_its_links_lead_somewhere() -> None:
    for page in [HERE / "README.md", *(HERE / "docs").rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
