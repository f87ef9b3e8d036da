"""The commands that one begins with: init, list, doctor."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from recjury.campaign import Config, read_config
from recjury.cli.overview import SECTIONS
from tests.cli.conftest import Recjury, campaign
from tests.scripted_endpoint import Reply, ScriptedEndpoint, completion, error

NOT_FOR_FILES = {"folder", "recordings"}  # what other commands set


def test_init_writes_a_campaign_that_runs(recjury: Recjury) -> None:
    assert recjury("init").code == 0
    assert recjury("run", "campaign.yaml", "--limit", "1").code == 0
    assert recjury("init").is_mistake("--force")
    assert recjury("init", "--force").code == 0
    assert "nowhere" in recjury("init", "nowhere/x.yaml").err


def test_init_writes_the_schema_that_the_file_names(recjury: Recjury, tmp_path: Path) -> None:
    assert recjury("init", "mine.yaml", "--schema").code == 0
    first = (tmp_path / "mine.yaml").read_text("utf-8").splitlines()[0]
    schema = json.loads((tmp_path / first.rpartition("=")[2]).read_text("utf-8"))
    assert "systems" in schema["properties"]
    (tmp_path / "own.yaml").write_text("systems: [popular]\n")
    assert first in recjury("init", "own.yaml", "--schema").out
    assert (tmp_path / "own.yaml").read_text() == "systems: [popular]\n"
    assert read_config(tmp_path / "mine.yaml").systems


def test_its_comments_are_settings_that_work(recjury: Recjury, tmp_path: Path) -> None:
    """Each key of a campaign stands there, and all of them together are a campaign."""
    recjury("init", "mine.yaml")
    text = (tmp_path / "mine.yaml").read_text("utf-8")
    (tmp_path / "all.yaml").write_text(
        "\n".join(line for line in text.replace("#: ", "").splitlines() if "protocol" not in line),
        "utf-8",
    )
    config = read_config(tmp_path / "all.yaml")
    assert config.models["main"].name
    assert len(config.systems) > 3
    keys = set(Config.model_fields) - NOT_FOR_FILES
    assert {key for key in keys if f"{key}:" not in text} == set()


def test_list_has_what_ships_and_the_settings_of_each(recjury: Recjury) -> None:
    everything = recjury("list", "--json").json
    for kind, names in everything.items():
        assert all(names.values()), f"{kind} without a description"
        for name in names:
            assert recjury("list", kind, name, "--json").json["name"] == name
    http = recjury("list", "systems", "http", "--json").json["settings"]
    assert {"key": "url", "type": "string", "default": "required"} in http
    assert "evaluators" in recjury("list", "evaluator").err
    assert "did you mean http" in recjury("list", "systems", "htpp").err


def test_list_shows_parts_of_ones_own(recjury: Recjury, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        'def talk(conversation):\n    """Talks."""\n    return "Hi"\n'
    )
    assert "Talks." in recjury("list", "systems", "mine:talk").out


def test_doctor_says_problems_first(
    recjury: Recjury, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fine = recjury("doctor")
    assert fine.code == 0
    assert fine.out.startswith("No problems")
    monkeypatch.setenv("RECJURY_DATA", str(tmp_path / "nowhere"))
    done = recjury("doctor")
    assert done.code == 3
    assert "nowhere" in done.out.split("\n\n")[0]
    (tmp_path / "broken.db").write_text("no database")
    assert len(recjury("doctor", "--store", "broken.db", "--json").json["problems"]) == 2


def test_doctor_opens_a_campaign_and_asks_its_models(
    recjury: Recjury, tmp_path: Path, endpoint: ScriptedEndpoint
) -> None:
    second = {"name": "idle", "base_url": endpoint.url}
    campaign(tmp_path / "c.yaml", endpoint.url, models={"second": second})
    done = recjury("doctor", "c.yaml", "--json")
    assert done.code == 0
    assert {"model main", "corpus sample", "system chatcrs"} <= done.json["fine"].keys()
    assert len(endpoint.asked) == 1, "a model that nobody uses is not asked"
    assert recjury("doctor", "c.yaml", "--no-ask").code == 0
    assert len(endpoint.asked) == 1


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"systems": ["missing_module:talk"]}, "missing_module"),
        ({"scenarios": "sampel"}, "did you mean sample"),
        ({"evaluators": [{"kind": "core", "judges": ["mian"]}]}, "did you mean main"),
    ],
)
def test_doctor_tells_what_cannot_be_opened(
    recjury: Recjury, tmp_path: Path, changes: dict[str, object], problem: str
) -> None:
    campaign(tmp_path / "c.yaml", "http://127.0.0.1:1/v1", **changes)
    done = recjury("doctor", "c.yaml", "--no-ask", "--json")
    assert done.code == 3
    assert any(problem in line for line in done.json["problems"])


def test_doctor_tells_what_an_endpoint_says(recjury: Recjury, tmp_path: Path) -> None:
    with ScriptedEndpoint(lambda _: error(401, "Incorrect API key")) as server:
        campaign(tmp_path / "c.yaml", server.url)
        done = recjury("doctor", "c.yaml")
    assert done.code == 3
    assert "Incorrect API key" in " ".join(done.out.split("\n\n")[0].split())


@pytest.mark.parametrize(
    ("path", "read"), [("choices[0].message.content", "Try Heat"), ("choices[0].text", "none")]
)
def test_doctor_shows_one_turn_with_a_system(
    recjury: Recjury, tmp_path: Path, path: str, read: str
) -> None:
    with ScriptedEndpoint(lambda _: Reply(completion("Try Heat (1995)."))) as server:
        url = f"{server.url}/chat/completions"
        body = {"model": "m", "messages": "{{ messages }}"}
        system = {"kind": "http", "name": "shop", "url": url, "body": body, "text": path}
        (tmp_path / "c.yaml").write_text(yaml.safe_dump({"systems": [system]}))
        done = recjury("doctor", "c.yaml", "--turn")
    shown = [line.split(maxsplit=1) for line in done.out.splitlines() if line.strip()]
    turn = {words[0]: words[1] for words in shown if len(words) == 2}
    assert turn["sent"].startswith(f"POST {url} ")
    assert "Try Heat (1995)." in turn["came"]
    assert read in turn.get("text", "none")


def test_help_has_what_one_begins_with_first_and_each_command_has_its_own(recjury: Recjury) -> None:
    text = recjury("--help").out
    assert text.index("Start here") < text.index("Results")
    for name in (name for own in SECTIONS.values() for name in own):
        assert f"recjury {name} " in recjury(name, "--help").out


@pytest.mark.parametrize("words", [[], ["run"], ["store", "verify"]])
def test_help_imports_no_command(words: list[str]) -> None:
    """What a command needs is imported when it is called: `--help` is there at once."""
    heavy = {"aiohttp", "numpy", "openai", "pandas", "rich", "sqlalchemy", "torch"}
    code = "import atexit, sys; from recjury.cli import main\n"
    code += f"sys.argv = {['recjury', *words, '--help']}\n"
    code += f"atexit.register(lambda: print({heavy} & set(sys.modules))); main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.endswith("set()\n")


def test_a_shell_completes_commands() -> None:
    code = "import sys; sys.argv = ['recjury']; from recjury.cli import main; main()"
    words = {"_RECJURY_COMPLETE": "complete_bash", "COMP_WORDS": "recjury st", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | words, capture_output=True, text=True
    )
    assert done.stdout.split() == ["status", "store"]
