"""`recjury fork`: by rule and by models, what it costs, what is refused, and that it verifies."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.campaign import player
from tests.cli.front_door import Ended, recjury
from tests.endpoint import ScriptedEndpoint

Command = Callable[..., Ended]
STORE = ("--store", "runs.db")
MODELS = ("--config", "models.yaml")


@pytest.fixture(scope="module")
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(player.play, models=("scripted", "strict")) as endpoint:
        yield endpoint


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    endpoint: ScriptedEndpoint,
) -> Command:
    """`recjury` in a folder with a recorded conversation, a file of models, and a statement."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECJURY_DATA", raising=False)
    said = [
        {"speaker": "user", "text": "I would like a crime film."},
        {"speaker": "system", "text": "Try Heat. It is tense.", "items": ["Heat (1995)"]},
        {"speaker": "user", "text": "Thank you!"},
    ]
    row = {"id": "d1", "system": "mine", "catalogue": "sample", "interaction": said}
    Path("recorded.jsonl").write_text(json.dumps(row | {"targets": ["Fargo (1996)"]}), "utf-8")
    Path("models.yaml").write_text(yaml.safe_dump(_models(endpoint.url)), "utf-8")
    Path("mild.txt").write_text("I would forgive it more.\n", "utf-8")
    return lambda *arguments: recjury(monkeypatch, capsys, *arguments, *STORE)


def _models(url: str) -> dict[str, Any]:
    return {
        "models": {
            "main": {"base_url": url, "name": "scripted"},
            "strict": {"base_url": url, "name": "strict"},
        },
        "evaluators": ["core"],
    }


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the store with a debate by models is kept once it is made."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def debate(command: Command, kept: Path) -> str:
    """The id of the one debate in the store, held by models."""
    if not (kept / "runs.db").exists():
        held = _judged(command, *MODELS)
        shutil.copy("runs.db", kept)
        (kept / "debate").write_text(held)
    else:
        shutil.copy(kept / "runs.db", "runs.db")
    return (kept / "debate").read_text()


def _judged(command: Command, *arguments: str) -> str:
    """The id of the one debate over the recorded conversation."""
    ended = command("judge", "recorded.jsonl", "--json", *arguments)
    assert ended.code == 0, ended.err
    (debate,) = json.loads(command("replay", "--json").out)["debates"]
    return str(debate["evaluation"])


def _forked(command: Command, *arguments: object) -> dict[str, Any]:
    ended = command("fork", *arguments, "--json")
    assert ended.code == 0, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


def _verified(command: Command) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(command("replay", "--verify", "--json").out)
    return found


def test_one_changed_statement_costs_eight_calls_and_again_none(
    command: Command, debate: str, endpoint: ScriptedEndpoint
) -> None:
    asked = len(endpoint.bodies)
    changed = (debate[:8], "--from", 2, "--say", "linguist=mild.txt", *MODELS)
    fork = _forked(command, *changed)
    assert len(endpoint.bodies) - asked == 8
    assert (fork["calls"], fork["existed"]) == ({"sent": 8, "reused": 0}, False)
    assert (fork["original"], fork["from"]) == (debate, 2)
    again = _forked(command, *changed)
    assert (again["fork"], again["existed"]) == (fork["fork"], True)
    assert len(endpoint.bodies) - asked == 8
    assert _verified(command) == {"debates": 2, "verified": 2, "different": []}


def _budget(tokens: int) -> None:
    models = yaml.safe_load(Path("models.yaml").read_text("utf-8"))
    models |= {"budget": {"tokens": tokens}, "limits": {"judges": 1}}
    Path("models.yaml").write_text(yaml.safe_dump(models), "utf-8")


def _spent(command: Command) -> dict[str, Any]:
    (campaign,) = json.loads(command("status", "--json").out)["campaigns"]
    assert isinstance(campaign, dict)
    return campaign


def test_a_fork_keeps_to_the_limits_and_the_rest_of_the_budget(
    command: Command,
    debate: str,
    endpoint: ScriptedEndpoint,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = _spent(command)
    _budget(before["tokens"] + 10)
    changed = (debate, "--from", 2, "--say", "linguist=mild.txt", *MODELS)
    refused = command("fork", *changed)
    assert (refused.code, "budget of" in refused.err) == (3, True)
    assert _spent(command)["calls"] == before["calls"]
    _budget(1_000_000)
    monkeypatch.setattr(endpoint.server, "_latency", 0.1)
    endpoint.server.seen.most_in_flight = 0
    assert _forked(command, *changed)["calls"]["sent"] == 8
    assert endpoint.most_in_flight == 1
    after = _spent(command)
    assert (after["calls"], after["tokens"] > before["tokens"]) == (before["calls"] + 8, True)
    _budget(after["tokens"] + 10)
    assert command("fork", debate, "--from", 1, "--score", "linguist=9", *MODELS).code == 3


def test_calls_that_the_store_has_are_not_made_again(
    command: Command, debate: str, endpoint: ScriptedEndpoint
) -> None:
    """A fork that comes back to the original's course asks what the original asked."""
    fork = _forked(command, debate, "--from", 2, "--max-rounds", 3, *MODELS)
    asked = len(endpoint.bodies)
    longer = _forked(command, fork["fork"], "--from", 2, "--max-rounds", 4, *MODELS)
    assert longer["calls"] == {"sent": 0, "reused": 8}
    assert len(endpoint.bodies) == asked
    assert longer["verdict"] == fork["verdict_before"]
    assert _verified(command)["verified"] == 3


def test_another_model_plays_a_role(
    command: Command, debate: str, endpoint: ScriptedEndpoint
) -> None:
    asked = len(endpoint.bodies)
    fork = _forked(command, debate, "--from", 3, "--model", "hci-expert=strict", *MODELS)
    assert len(endpoint.bodies) - asked <= 5
    asked_for = [body["model"] for body in endpoint.bodies[asked:]]
    assert asked_for.count("strict") == 2
    (shown,) = json.loads(command("replay", fork["fork"], "--json").out)["debates"]
    speakers = [
        s["speaker"] for s in shown["transcript"]["statements"] if s["role"] == "HCI Expert"
    ]
    assert speakers == ["main", "main", "strict", "strict"]
    assert shown["forked"]["original"] == debate
    assert _verified(command)["verified"] == 2


def test_a_debate_by_rule_is_forked_without_a_model(command: Command) -> None:
    debate = _judged(command)
    fork = _forked(
        command, debate, "--from", 1, "--score", "common-user=0", "--score", "linguist=90"
    )
    assert fork["verdict"] != fork["verdict_before"]
    second = _forked(
        command, fork["fork"], "--from", 2, "--say", "linguist=mild.txt", "--score", "Linguist=3"
    )
    assert second["original"] == fork["fork"]
    assert _verified(command) == {"debates": 3, "verified": 3, "different": []}
    listed = json.loads(command("replay", "--json").out)["debates"]
    assert [each["fork_of"] for each in listed] == [None, debate, fork["fork"]]
    table = command("replay").out
    assert f"fork of {debate[:12]} from round 1" in table
    assert f"fork of {fork['fork'][:12]} from round 2" in table
    watched = command("replay", second["fork"]).out
    assert "Linguist (edited) 3  I would forgive it more." in watched


def test_a_fork_enters_no_mean(command: Command) -> None:
    debate = _judged(command)
    before = json.loads(command("status", "--json").out)
    _forked(command, debate, "--from", 1, "--score", "linguist=0")
    assert json.loads(command("status", "--json").out) == before
    # What a conversation's id stands for is its original debate.
    (shown,) = json.loads(command("replay", _conversation(command), "--json").out)["debates"]
    assert shown["evaluation"] == debate


def _conversation(command: Command) -> str:
    return str(json.loads(command("replay", "--json").out)["debates"][0]["conversation"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--from", "9"], "there is no round 9 to fork from"),
        (["--from", "2"], "nothing would differ"),
        (["--from", "2", "--max-rounds", "1"], "has at least 2 rounds, got a limit of 1"),
        (["--from", "1", "--score", "critic=3"], "no role is called 'critic'"),
        (["--from", "1", "--score", "linguist=101"], "a score is a number from 0 to 100"),
        (["--from", "1", "--score", "linguist=nan"], "a score is a number from 0 to 100"),
        (["--from", "1", "--score", "linguist"], "expected ROLE=..."),
        (
            ["--from", "1", "--score", "linguist=3", "--score", "Linguist=4"],
            "Linguist is given twice: 3 and 4",
        ),
        (["--from", "1", "--say", "linguist=empty.txt"], "empty.txt: is empty"),
        (["--from", "1", "--say", "linguist=none.txt"], "none.txt: cannot be read"),
        (["--from", "1", "--model", "linguist=other"], "has no model 'other'"),
        (["--from", "1", "--model", "linguist=edited"], "cannot be called 'edited'"),
    ],
)
def test_what_cannot_be_forked_is_one_line(
    command: Command, debate: str, endpoint: ScriptedEndpoint, arguments: list[str], said: str
) -> None:
    Path("empty.txt").write_text(" \n", "utf-8")
    models = _models(endpoint.url)
    models["models"]["edited"] = models["models"]["strict"]
    Path("models.yaml").write_text(yaml.safe_dump(models), "utf-8")
    asked = len(endpoint.bodies)
    ended = command("fork", debate, *arguments, *MODELS)
    assert (ended.code, ended.err.count("\n")) == (2, 1), ended.err
    assert said in ended.err
    assert len(endpoint.bodies) == asked
    assert len(json.loads(command("replay", "--json").out)["debates"]) == 1


def test_models_are_those_that_held_the_debate(
    command: Command, debate: str, endpoint: ScriptedEndpoint
) -> None:
    without = command("fork", debate, "--from", 1, "--score", "linguist=3")
    assert (without.code, "--config FILE" in without.err) == (2, True)
    models = _models(endpoint.url)
    models["models"]["main"]["name"] = "strict"
    Path("models.yaml").write_text(yaml.safe_dump(models), "utf-8")
    changed = command("fork", debate, "--from", 1, "--score", "linguist=3", *MODELS)
    assert changed.code == 2
    assert "another than held this debate: its name was 'scripted', and is 'strict'" in changed.err


def test_no_model_joins_a_debate_by_rule(command: Command) -> None:
    debate = _judged(command)
    ended = command("fork", debate, "--from", 1, "--model", "linguist=strict", *MODELS)
    assert (ended.code, "held by rule" in ended.err) == (2, True)


ALTERATIONS = [
    "UPDATE statement SET text = replace(text, 'forgive', 'forgivE') WHERE speaker = 'edited'",
    "UPDATE statement SET score = score + 1 WHERE speaker = 'edited'",
    "UPDATE statement SET speaker = 'main' WHERE speaker = 'edited'",
    "UPDATE statement SET text = text || '!' WHERE evaluation = '{fork}' AND position = 0",
    "UPDATE statement SET text = text || '!' WHERE evaluation = '{fork}' AND position = 9",
    "UPDATE debate SET score = score + 1 WHERE evaluation = '{fork}'",
    "UPDATE rating SET score = score - 1 WHERE evaluation = '{fork}'",
    "UPDATE evaluation SET fork_of = NULL WHERE id = '{fork}'",
    "DELETE FROM stage_output WHERE evaluation = '{fork}'",
    "DELETE FROM stage WHERE unit = '{fork}' AND stage = 'fork'",
    "UPDATE text SET body = replace(body, 'forgive', 'forgivE') "
    "WHERE id = (SELECT body FROM stage_output WHERE evaluation = '{fork}')",
    "UPDATE call SET finish_reason = 'length' WHERE purpose = 'debate/Linguist/4' "
    "AND unit = '{fork}'",
]


@pytest.mark.parametrize("statement", ALTERATIONS)
@pytest.mark.slow
def test_one_change_in_a_fork_is_found(command: Command, debate: str, statement: str) -> None:
    fork = _forked(command, debate, "--from", 2, "--say", "linguist=mild.txt", *MODELS)["fork"]
    with sqlite3.connect("runs.db") as connection:
        changed = connection.execute(statement.format(fork=fork)).rowcount
    connection.close()
    assert changed > 0
    found = _verified(command)
    assert found["verified"] < found["debates"] == 2
    assert fork in {each["evaluation"] for each in found["different"]}


@pytest.mark.slow
def test_a_call_that_fails_keeps_what_was_said(
    command: Command, debate: str, endpoint: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.endpoint import Answer, Body, Fault

    changed = (debate, "--from", 2, "--say", "linguist=mild.txt", *MODELS)

    def down(body: Body) -> Answer:
        return Fault("status", 500) if "This is round 4" in _text(body) else player.play(body)

    monkeypatch.setattr(endpoint.server, "_script", down)
    failed = command("fork", *changed)
    assert (failed.code, "the fork failed" in failed.err) == (3, True)
    assert len(json.loads(command("replay", "--json").out)["debates"]) == 1
    monkeypatch.setattr(endpoint.server, "_script", player.play)
    asked = len(endpoint.bodies)
    assert _forked(command, *changed)["calls"] == {"sent": 4, "reused": 4}
    assert len(endpoint.bodies) - asked == 4


def _text(body: Any) -> str:
    return "".join(str(message["content"]) for message in body["messages"])
