"""Every command of README.md and docs runs, in the order of its page, over one small store.

A code block whose first line is a comment with a file's name, or whose fence has a `title`, is that
file. The endpoint of OpenAI is one on this machine.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pytest

from recjury.cli import main
from tests.cli.conftest import Recjury, honest, recjury
from tests.docs.pages import DOCS, PAGES, ROOT, name_of
from tests.scripted_endpoint import ScriptedEndpoint

__all__ = ["recjury"]

NOT_RUN = {
    "pip install": "tests run in an environment that has recjury",
    "make ": "CI runs it",
    "recjury view": "it serves until Ctrl-C; tests/view runs it",
    "recjury run films.yaml --executor ray": "a cluster of the reader; tests/campaign runs Ray",
    "recjury judge --campaign films --config judges.yaml --executor ray": "the same",
    "recjury run films.yaml --failed": "nothing failed here; tests/cli/test_selecting.py runs it",
    "recjury train kbrd": "tests/cli/test_neural.py runs it; torch takes seconds to load",
    ".venv/bin/": "of those who change recjury",
}
"""Commands, by how they begin, that no reader's folder is needed for, and why."""

INSTEAD = {"recjury demo": "recjury run demo.yaml"}
"""The demo with two systems and two scenarios: all of it takes a minute of CPU."""

SHOWN_ONLY = {"CONTRIBUTING.md"}
FILE = re.compile(r"\A# ([\w-]+\.(?:yaml|py))(?: .*)?\n")
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```', re.DOTALL | re.MULTILINE)
CAMPAIGN = """
name: films
scenarios: [{corpus: sample, limit: 2}]
systems: [popular, {kind: chatcrs, name: chat, list_source: from_text}]
users: [{kind: llm, name: plain}, {kind: llm, name: calm, persona: You take your time.}]
evaluators: [outcome, {kind: core, debate: {max_rounds: 2}}]
session: {max_rounds: 4}
model: {name: gpt-4o-mini, base_url: "https://api.openai.com/v1", key_env: OPENAI_API_KEY}
"""
DEMO = "scenarios: {corpus: sample, limit: 2}\nsystems: [retrieval, popular]"
JUDGES = """
evaluators: [outcome, {kind: core, name: again, debate: null}]
model: {name: gpt-4o-mini, base_url: "https://api.openai.com/v1", key_env: OPENAI_API_KEY}
"""
CHATS = (
    '{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Heat?"}]}'
)


PYTHON = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


class World(NamedTuple):
    """A folder with what readers have, and the endpoint of its files."""

    folder: Path
    url: str


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A store with the campaign `films`, and files that pages speak of without showing them."""
    folder = tmp_path_factory.mktemp("world")
    shutil.copytree(ROOT / "examples", folder / "examples")
    with ScriptedEndpoint(honest) as endpoint:
        there = World(folder, endpoint.url)
        files = {"films.yaml": CAMPAIGN, "judges.yaml": JUDGES, "demo.yaml": DEMO}
        for name, text in (files | {"chats.jsonl": CHATS}).items():
            write(there, folder / name, text)
        for path in (folder / "examples").glob("*.yaml"):
            write(there, path, path.read_text("utf-8").replace("limit: 10", "limit: 1"))
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            patch.setenv("OPENAI_API_KEY", "a key")
            patch.setattr(sys, "argv", ["recjury", "run", "films.yaml"])
            with pytest.raises(SystemExit, match="0"):
                main()
        yield there


def write(world: World, path: Path, text: str) -> None:
    """Write a file with the endpoint here, which has no known prices, and so no budget."""
    text = text.replace("https://api.openai.com/v1", world.url)
    path.write_text(re.sub("^budget:.*$", "", text, flags=re.MULTILINE), "utf-8")


def steps(page: Path) -> Iterator[tuple[str, str]]:
    """What a reader does: files by name with their text, and commands under an empty name."""
    for language, title, text in BLOCK.findall(page.read_text("utf-8")):
        if title:
            yield title, text
        elif found := FILE.match(text):
            yield found[1], text
        elif language == "sh":
            lines = [line for line in text.splitlines() if not line.startswith(("#", *NOT_RUN))]
            for is_recjury, group in groupby(lines, lambda line: line.startswith("recjury ")):
                yield from (("", each) for each in (group if is_recjury else ["\n".join(group)]))


def with_ids(line: str, run: Recjury) -> str:
    """The command with ids of this store in place of those that pages show."""
    if not re.search(r"\b(3f2a|9b01|7a81|1a2b)\b", line):
        return line
    known = run("replay", "--json").json["conversations"]
    first, last, version = known[0]["id"], known[-1]["id"], known[0]["version"]
    for shown, real in {"3f2a": first, "7a81": first, "9b01": last, "1a2b": version}.items():
        line = re.sub(rf"\b{shown}\b", real, line)
    return line


@pytest.mark.parametrize(
    "page",
    [each for each in PAGES if name_of(each) not in SHOWN_ONLY and [*steps(each)]],
    ids=name_of,
)
def test_its_commands_work(
    page: Path, world: World, recjury: Recjury, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(world.folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("OPENAI_API_KEY", "a key")
    for name, text in steps(page):
        if name:
            write(world, tmp_path / name, text)
        elif text.startswith("recjury "):
            command = with_ids(INSTEAD.get(text, text), recjury)
            done = recjury(*shlex.split(command, comments=True)[1:])
            assert done.code in (0, 3, 5), f"{command}\n{done.err}"
        else:
            subprocess.run(["bash", "-ec", text], cwd=tmp_path, check=True, env=PYTHON)


def python_of(page: Path) -> list[str]:
    """What is no file, and needs no weights."""
    found = [
        text for language, _, text in BLOCK.findall(page.read_text("utf-8")) if language == "python"
    ]
    return [text for text in found if "torch" not in text and "Evaluator" not in text]


@pytest.mark.parametrize("page", [each for each in PAGES if python_of(each)], ids=name_of)
def test_its_python_works(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for text in python_of(page):
        exec(compile(text, f"<{name_of(page)}>", "exec"), names)


@pytest.mark.parametrize("notebook", sorted(DOCS.rglob("*.ipynb")), ids=name_of)
def test_notebooks_run(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    names: dict[str, object] = {"__name__": "__main__"}
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), name_of(notebook), "exec"), names)


def test_another_index_reaches_pip() -> None:
    """As docs/how-to/models.md says of small builds of torch."""
    make = ["make", "--dry-run", "--always-make", "install", "PIP_INDEX=https://127.0.0.1/cpu"]
    done = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "--extra-index-url https://127.0.0.1/cpu" in done.stdout
