"""The commands as a whole: how many there are, how they are listed, what has a name."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from recjury.agreement.label_forms import read_labels
from recjury.cli.app import app
from recjury.errors import ConfigError, DataError
from recjury.records import ScoreTarget
from recjury.store.postgres import PostgresDatabase
from tests.cli.front_door import Command

COMMANDS, OPTIONS = 25, 190
EXAMPLES = Path(__file__).parents[2] / "examples"


def _commands(command: Any, path: str = "") -> Iterator[tuple[str, int]]:
    """Each command with the number of its options and arguments."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, f"{path} {name}".strip())
    if not hasattr(command, "commands"):
        shown = [each for each in command.params if not getattr(each, "hidden", False)]
        yield path, sum(each.name != "help" for each in shown)


def test_there_are_few_commands_and_options() -> None:
    counts = dict(_commands(typer.main.get_command(app)))
    assert len(counts) <= COMMANDS
    assert sum(counts.values()) <= OPTIONS


def test_help_shows_groups_and_cuts_no_sentence(command: Command) -> None:
    said = command("--help").out
    headings = ["Start here:", "Running:", "Results:", "More:"]
    places = [said.index(heading) for heading in headings]
    assert places == sorted(places)
    assert "..." not in said[places[0] :]
    first = said[places[0] :].split()
    assert [name for name in first if name in ("demo", "run", "judge")][:3] == [
        "demo",
        "run",
        "judge",
    ]


def test_an_option_is_an_environment_variable(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECJURY_STATUS_STORE", "sqlite:///elsewhere.db")
    assert "there is no store at elsewhere.db" in command("status").err
    assert "RECJURY_STATUS_STORE" in command("doctor").out


def test_doctor_names_a_store_without_its_password(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PostgresDatabase, "exists", False)
    shown = command("doctor", "--store", "postgresql://ann:winter@127.0.0.1:1/runs").out
    assert "postgresql://127.0.0.1:1/runs: not there yet" in shown
    assert "winter" not in shown


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("systems", "retrieval"),
        ("labels", "csv"),
        ("logs", "messages"),
        ("analyses", "core.rq1"),
        ("trainers", "kbrd"),
    ],
)
def test_what_has_a_name_is_listed(command: Command, kind: str, name: str) -> None:
    assert kind in command("list").out
    listed = json.loads(command("list", kind, "--json").out)[kind]
    (own,) = (each for each in listed if each["name"] == name)
    assert own["summary"]
    assert own["problem"] == ""


def test_an_unknown_kind_is_one_line(command: Command) -> None:
    ended = command("list", "system")
    assert ended.code == 2
    expected = "unknown kind 'system'; did you mean 'systems'? (known: corpora, systems, users"
    assert expected in ended.err


def test_own_labels_are_read_by_a_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    votes = tmp_path / "votes.txt"
    votes.write_text("a kbrd +\nb kbrd -\n", "utf-8")
    labels = read_labels(f"own_labels:thumbs:{votes}")
    assert labels.labels == {"liked": {ScoreTarget("a"): 1.0, ScoreTarget("b"): 0.0}}
    votes.write_text("a\n", "utf-8")
    with pytest.raises(DataError, match="own_labels:thumbs: ValueError"):
        read_labels(f"own_labels:thumbs:{votes}")
    with pytest.raises(ConfigError, match="or module:function:PATH"):
        read_labels(f"thumb:{votes}")


def test_own_logs_are_read_by_a_function(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    chats = tmp_path / "chats.csv"
    chats.write_text(
        "chat,bot,who,text\n"
        "a,mine,user,A film please\na,mine,bot,Try Heat (1995).\n"
        "b,mine,user,Hello\nb,mine,bot,What do you like?\n",
        "utf-8",
    )
    given = ("--format", "own_logs:chats", "--store", f"sqlite:///{tmp_path}/s.db", "--json")
    ended = command("judge", chats, *given)
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert (found["conversations"]["done"], list(found["systems"])) == (2, ["mine"])
    chats.write_text("chat,who\na,user\n", "utf-8")
    ended = command("judge", chats, *given)
    assert (ended.code, len(ended.err.splitlines())) == (2, 1)
    assert "own_logs:chats: KeyError" in ended.err
    ended = command("judge", chats, "--format", "csv")
    assert ended.code == 2
    assert "or module:function, got 'csv'" in ended.err


def test_an_own_analysis_and_an_own_trainer_have_settings_like_those_of_the_package(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    chats = tmp_path / "chats.csv"
    chats.write_text("chat,bot,who,text\na,mine,user,Hi\na,mine,bot,Hello\n", "utf-8")
    store = ("--store", f"sqlite:///{tmp_path}/s.db")
    assert command("judge", chats, "--format", "own_logs:chats", *store).code == 0
    turns = ("analyse", "own_analysis:Turns", *store)
    (row,) = json.loads(command(*turns, "--json").out)["tables"]["turns"]
    assert row == {"system": "mine", "turns": 2, "conversations": 1}
    assert "leave out shorter" in command(*turns, "--describe").out
    assert "did you mean 'least'" in command(*turns, "--set", "leest=2").err
    out = tmp_path / "greeter"
    ended = command("train", "own_trainer:Greeter", "--set", "words=2", "--out", out, "--json")
    report = json.loads(ended.out)["report"]
    assert (out / "opening.txt").read_text("utf-8") == report["opening"]
    assert report["seen"] > 1
