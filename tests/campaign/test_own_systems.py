"""Campaigns with systems that are not ours: behind HTTP, behind an endpoint, and ChatCRS."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recjury.records import ConversationLog
from recjury.store import Store
from tests.agents.http_system import Answer, Asked, SystemServer, says
from tests.campaign import player
from tests.cli.front_door import Ended, recjury
from tests.endpoint import Answer as Said
from tests.endpoint import Body, ScriptedEndpoint

Command = Callable[..., Ended]
STORE = "sqlite:///runs.db"


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return lambda *arguments: recjury(monkeypatch, capsys, *arguments)


def _run(command: Command, campaign: str, code: int = 0) -> dict[str, Any]:
    Path("campaign.yaml").write_text(campaign, "utf-8")
    ended = command("run", "campaign.yaml", "--store", STORE, "--json")
    assert ended.code == code, ended.err
    result: dict[str, Any] = json.loads(ended.out)
    return result


def _logs() -> list[ConversationLog]:
    with Store.open(STORE) as store:
        found = [store.log(each.id) for each in store.conversations()]
    return [log for log in found if log is not None]


def test_a_system_behind_http_that_does_all_wrong_fails_its_conversations_and_no_others(
    command: Command,
) -> None:
    wrongs = {
        "HTTP 500": Answer(b"", 500),
        "no answer within 3 s": Answer(wrong="hang"),
        "expected JSON": Answer(b'{"text": NaN}'),
        "the connection broke": Answer(wrong="drop"),
        "the answer is larger than": Answer(b" " * 10_000_000),
        "`text` must be a string": says({"text": ["Well."], "items": 3}),
        "expected JSON, got": Answer(b'{"text": "caf\xe9"}'),
        "the answer has no text": says({"text": ""}),
    }
    left = list(wrongs.values())

    def script(asked: Asked) -> Answer:
        said = asked.body["conversation"]
        if len(said) == 1 and said[0]["text"] == "Hello":
            return says({"text": "Hello!"})
        begun = any(turn["text"] == "Try Heat." for turn in said)
        if left and not begun:
            return left.pop()
        return says({"text": "Try Heat.", "items": ["Heat (1995)", "Heat", "Nobody's Film"]})

    with SystemServer(script) as server:
        result = _run(
            command,
            "scenarios: [{corpus: sample, limit: 9}]\n"
            "systems:\n"
            "  - retrieval\n"
            f"  - {{kind: http, name: mine, url: '{server.url}', timeout: 3, retries: 0}}\n",
            code=3,
        )
    assert result["conversations"] == {"planned": 18, "done": 10, "failed": 8}
    assert result["systems"]["retrieval"]["core.overall"]["coverage"] == 1
    assert result["systems"]["mine"]["core.overall"]["coverage"] == pytest.approx(1 / 9)
    with Store.open(STORE) as store:
        reasons = [each.failure for each in store.results() if each.failure]
    assert len(reasons) == 8
    for wrong in wrongs:
        assert any(f"turn 1: SystemFailed: mine: {wrong}" in reason for reason in reasons), wrong
    log = next(log for log in _logs() if log.system == "mine")
    assert [item.name for item in log.system_turns[0].items] == ["Heat (1995)", "Nobody's Film"]
    assert log.system_turns[0].items[1].id is None
    assert log.recall_at(10) == 0


@pytest.mark.parametrize("answer", [None, Answer(b"", 401), says({"reply": "Hello"})])
def test_a_system_that_cannot_be_used_is_refused_before_anything_is_written(
    command: Command, answer: Answer | None
) -> None:
    with SystemServer(lambda asked: answer or says({})) as server:
        url = server.url if answer else "http://127.0.0.1:9/"
        Path("campaign.yaml").write_text(
            "scenarios: [{corpus: sample, limit: 1}]\n"
            f"systems: [{{kind: http, name: mine, url: '{url}', retries: 0}}]\n",
            "utf-8",
        )
        ended = command("run", "campaign.yaml", "--store", STORE)
    assert ended.code == 2
    assert f"system mine at {url}: " in ended.err
    assert "Traceback" not in ended.err
    with Store.open(STORE) as store:
        assert store.campaigns() == ()


def test_an_endpoint_that_is_a_crs_is_told_nothing_but_the_conversation(command: Command) -> None:
    def script(body: Body) -> Said:
        if body["model"] == "their-crs":
            return "You want **Moon Over Nowhere**, or Heat (1995)."
        return player.play(body)

    with ScriptedEndpoint(script, models=("scripted", "their-crs")) as endpoint:
        _run(
            command,
            "scenarios: [{corpus: sample, limit: 2}]\n"
            "systems:\n"
            "  - {kind: openai_crs, name: theirs, model: crs}\n"
            "  - {kind: openai_crs, name: told, model: crs, system_prompt: Be brief.}\n"
            "models:\n"
            f"  main: {{base_url: '{endpoint.url}', name: scripted}}\n"
            f"  crs: {{base_url: '{endpoint.url}', name: their-crs}}\n",
        )
        theirs = [body for body in endpoint.bodies if body["model"] == "their-crs"]
    first = {str(body["messages"][0]) for body in theirs}  # type: ignore[index]
    told = {said for said in first if "'system'" in said}
    assert told == {"{'role': 'system', 'content': 'Be brief.'}"}
    assert len(first) > 1, "the other has no system message"
    for log in _logs():
        items = log.system_turns[0].items
        assert [item.name for item in items] == ["Moon Over Nowhere", "Heat (1995)"]
        assert items[0].id is None
        assert log.system_turns[0].calls


def test_chatcrs_with_both_lists_and_the_endpoints_embeddings(command: Command) -> None:
    def script(body: Body) -> Said:
        if player.kind(body) == "system":
            return "Try Heat (1995), then “Zanzibar Nights”."
        return player.play(body)

    with ScriptedEndpoint(script, models=("scripted", "vectors")) as endpoint:
        campaign = (
            "scenarios: [{corpus: sample, limit: 2}]\n"
            "systems:\n"
            "  - {kind: chatcrs, name: near, embeddings: vectors}\n"
            "  - {kind: chatcrs, name: named, list_source: from_text, embeddings: vectors}\n"
            "models:\n"
            f"  main: {{base_url: '{endpoint.url}', name: scripted}}\n"
            f"  vectors: {{base_url: '{endpoint.url}', name: vectors, embedding: true}}\n"
        )
        _run(command, campaign)
        texts = [text for body in endpoint.embedded for text in body["input"]]  # type: ignore[attr-defined]
        Path("runs.db").unlink()
        before = len(endpoint.embedded)
        _run(command, campaign)
        again = [text for body in endpoint.embedded[before:] for text in body["input"]]  # type: ignore[attr-defined]
    items = [text for text in texts if text.startswith("Title: ")]
    assert len(items) == len(set(items)) > 100, "each film once, for both systems"
    assert not any(text.startswith("Title: ") for text in again), "kept for the next campaign"
    assert len(again) == len(texts) - len(items) > 0
    for log in _logs():
        lists = [turn.items for turn in log.system_turns]
        if log.system == "near":
            assert {len(each) for each in lists} == {10}
            assert all(item.id is not None for each in lists for item in each)
        else:
            assert [item.name for item in lists[0]] == ["Heat (1995)", "Zanzibar Nights"]
            assert lists[0][1].id is None


LEARNER = """
class Learner:
    settings = {}

    def __init__(self, corpus, *, name, split):
        self.name = name
        assert corpus.examples("valid"), corpus.splits
        corpus.examples(split)
        corpus.scenarios(split)

    async def respond(self, conversation):
        return SystemReply(text="Hello.")

    async def aclose(self):
        pass
"""


@pytest.mark.parametrize(("split", "code"), [("train", 0), ("test", 2)])
def test_a_system_gets_no_data_of_the_split_that_is_played(
    command: Command, split: str, code: int
) -> None:
    Path("learner.py").write_text(f"from recjury.records import SystemReply\n{LEARNER}", "utf-8")
    Path("campaign.yaml").write_text(
        "scenarios: [{corpus: sample, limit: 1}]\n"
        f"systems: [{{kind: python, name: mine, path: 'learner:Learner', "
        f"isolate: thread, options: {{split: {split}}}}}]\n",
        "utf-8",
    )
    ended = command("run", "campaign.yaml", "--store", STORE)
    assert ended.code == code, ended.err
    assert ("no system may learn from it" in ended.err) == (code == 2)


def test_results_on_a_split_that_systems_learn_from_have_a_caveat(command: Command) -> None:
    played = "scenarios: [{{corpus: sample, split: {}, limit: 1}}]\nsystems: [retrieval]\n"
    said = {
        split: [each["heading"] for each in _run(command, played.format(split))["caveats"]]
        for split in ("train", "valid", "test")
    }
    assert "Scenarios of sample/train were played" in said["train"]
    assert "Scenarios of sample/valid were played" in said["valid"]
    assert not any("were played" in heading for heading in said["test"])


INTERRUPTED = """
import asyncio
import os
import signal
from pathlib import Path

from recjury.records import SystemReply


class Mine:
    settings = {}

    def __init__(self, corpus, *, name):
        self.name = name

    async def respond(self, conversation):
        turns = len(conversation.turns)
        with Path("asked").open("a") as file:
            file.write(f"{turns} ")
        if turns == 3 and not Path("interrupted").exists():
            Path("interrupted").touch()
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(600)
        return SystemReply(text="Hello.")

    async def aclose(self):
        pass
"""


def test_an_interrupted_conversation_begins_again(command: Command) -> None:
    """Only model calls and finished conversations are in the store; one that failed goes on."""
    Path("mine.py").write_text(INTERRUPTED, "utf-8")
    campaign = (
        "scenarios: [{corpus: sample, limit: 1}]\n"
        "systems: [{kind: python, name: mine, path: 'mine:Mine', isolate: thread}]\n"
        "simulator: {max_rounds: 3}\n"
    )
    Path("campaign.yaml").write_text(campaign, "utf-8")
    assert command("run", "campaign.yaml", "--store", STORE).code == 130
    asked = Path("asked").read_text("utf-8").split()
    _run(command, campaign)
    assert len(asked) == 2
    assert Path("asked").read_text("utf-8").split()[2:4] == asked
