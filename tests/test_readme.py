"""What the README says can be done is done here, in its order."""

import json
import re
import shlex
from pathlib import Path

import pytest
import typer.main
import yaml

from recjury.campaign.config_file import read_config
from recjury.cli.app import app
from recjury.corpora import open_corpus
from recjury.records import Conversation, Speaker, Turn
from tests.campaign import player
from tests.cli.front_door import recjury
from tests.endpoint import ScriptedEndpoint

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts),
]


def _blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def _commands() -> list[list[str]]:
    lines = "".join(_blocks("sh")).splitlines()
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("recjury ")]


def test_its_campaign_file_is_the_example() -> None:
    shown = yaml.safe_load(_blocks("yaml")[0])
    example = yaml.safe_load((ROOT / "examples" / "model.yaml").read_text("utf-8"))
    assert {key: example[key] for key in shown if key != "systems"} == {
        key: shown[key] for key in shown if key != "systems"
    }
    assert len(shown["systems"]) == len(example["systems"])
    read_config(ROOT / "examples" / "model.yaml")


@pytest.mark.slow
def test_its_commands_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none is needed")
    (tmp_path / "examples").mkdir()
    turns = [{"speaker": "user", "text": "A film?"}, {"speaker": "system", "text": "Try Heat."}]
    row = {"id": "1", "system": "mine", "catalogue": "sample", "interaction": turns}
    Path("mine.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    commands = _commands()
    assert [command[0] for command in commands] == [
        "demo",
        "run",
        "run",
        "compare",
        "replay",
        "judge",
    ]
    commands[0] += ["--limit", "1"]
    with ScriptedEndpoint(player.play, models=("gpt-4o-mini",)) as endpoint:
        campaign = yaml.safe_load((ROOT / "examples" / "model.yaml").read_text("utf-8"))
        campaign["model"]["base_url"] = endpoint.url
        campaign["scenarios"][0]["limit"] = 2
        Path("examples/model.yaml").write_text(yaml.safe_dump(campaign), "utf-8")
        for command in commands:
            ended = recjury(monkeypatch, capsys, *command)
            assert ended.code == 0, (command, ended.err)
    assert Path("report.html").exists()


def test_its_own_system_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    names: dict[str, object] = {"ask_my_system": lambda texts: (f"Heat, {texts}", ["Heat (1995)"])}
    exec(_blocks("python")[0], names)
    mine = names["Mine"](open_corpus("sample"), name="mine")  # type: ignore[operator]
    said = Conversation(turns=(Turn(speaker=Speaker.USER, text="A film?"),))
    reply = asyncio.run(mine.respond(said))
    assert reply.items[0].id is not None


def test_the_python_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(_blocks("python", (ROOT / "docs" / "python.md").read_text("utf-8"))[0], {})
    assert Path("report.html").exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_the_docs_exist(page: Path) -> None:
    root = typer.main.get_command(app)
    text = page.read_text("utf-8")
    known = set(root.commands) | {"--help", "--version", "COMMAND"}  # type: ignore[attr-defined]
    shown = "".join(_blocks("sh", text)) + "\n".join(re.findall(r"^    (.*)", text, re.MULTILINE))
    used = set(re.findall(r"^recjury ([a-zA-Z-]+)", shown, re.MULTILINE))
    used |= set(re.findall(r"`recjury ([a-zA-Z-]+)", text))
    assert used <= known
