"""A conversation that failed: what was said until then is kept and shown, and never scored."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recjury.records import Ending
from recjury.store import Store, Unfinished
from tests.campaign import player
from tests.cli.front_door import Ended, recjury
from tests.endpoint import Answer, Body, Fault, ScriptedEndpoint

Command = Callable[..., Ended]
STORE = ("--store", "sqlite:///runs.db")
FRAIL = """
from pathlib import Path

from recjury.errors import SystemFailed
from recjury.records import SystemReply


class Frail:
    def __init__(self, corpus, *, name):
        self.name, self.settings = name, {}
        self._items = tuple(item.ref for item in list(corpus.catalogue)[:10])

    async def respond(self, conversation):
        if any("Try this" in turn.text for turn in conversation.turns):
            if not Path("mended").exists():
                raise SystemFailed("out of\\x1b[2J memory")
        return SystemReply(text="Try this.", items=self._items)

    async def aclose(self):
        pass
"""
PLAYED = """
scenarios: [{corpus: sample, limit: 2}]
systems: [{kind: python, name: frail, path: "frail:Frail"}]
"""


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    monkeypatch.chdir(tmp_path)
    Path("frail.py").write_text(FRAIL, "utf-8")
    return lambda *arguments: recjury(monkeypatch, capsys, *arguments)


def _run(command: Command, text: str = PLAYED, *more: str, code: int = 3) -> dict[str, Any]:
    Path("campaign.yaml").write_text(text, "utf-8")
    ended = command("run", "campaign.yaml", *more, *STORE, "--json")
    assert ended.code == code, ended.err
    result: dict[str, Any] = json.loads(ended.out)
    return result


def _unfinished() -> list[Unfinished]:
    with Store.open(STORE[1]) as store:
        found = [store.unfinished(trial) for trial in store.unfinished_trials()]
        assert [store.log(trial) for trial in store.unfinished_trials()] == [None] * len(found)
    return [each for each in found if each is not None]


def test_what_was_said_until_a_system_failed_is_kept(command: Command) -> None:
    result = _run(command)
    assert result["trials"] == {"planned": 2, "done": 0, "failed": 2}
    first, second = _unfinished()
    for failed in (first, second):
        assert failed.log.ending is Ending.SYSTEM_FAILED
        assert [turn.text for turn in failed.log.system_turns] == ["Try this.", ""]
        assert failed.place == "in round 2"
        assert failed.log.interaction[1].text, "what the user said is there"
        assert str(failed.log.interaction[-1].failure) in failed.reason
        assert failed.reason.startswith("turn 2: SystemFailed: frail: out of")
    assert first.log.scenario != second.log.scenario


def test_it_is_never_scored(command: Command) -> None:
    summary = _run(command)["systems"]["frail"]
    assert summary["recall"] == {"1": None, "5": None, "10": None}
    scores = [*summary["factors"].values(), summary["overall"], summary["persuasiveness"]]
    assert scores == [{"mean": None, "coverage": 0.0}] * 14
    with Store.open(STORE[1]) as store:
        for outcome in store.outcomes():
            assert (outcome.stages, outcome.ratings, outcome.log) == (frozenset(), (), None)


def test_a_replay_shows_it_and_a_later_success_takes_its_place(command: Command) -> None:
    _run(command)
    trial = _unfinished()[0].trial
    listed = command("replay", *STORE)
    assert trial[:12] in listed.out
    assert "turn 2: SystemFailed" in listed.out
    watched = command("replay", trial[:10], *STORE)
    assert watched.code == 0
    for said in ("Try this.", r"[no usable answer: SystemFailed: frail: out of\x1b[2J memory]"):
        assert said in " ".join(watched.out.split())
    assert "failed in round 2, not rated" in watched.out
    assert "\x1b" not in watched.out
    (shown,) = json.loads(command("replay", trial, "--json", *STORE).out)["unfinished"]
    assert (shown["trial"], shown["round"]) == (trial, 2)
    assert shown["log"]["interaction"][0]["text"] == "Try this."
    both = json.loads(command("replay", "--all", "--json", *STORE).out)
    assert (len(both["debates"]), len(both["unfinished"])) == (0, 2)
    Path("mended").touch()
    _run(command, code=0)
    assert _unfinished() == []
    assert json.loads(command("replay", "--json", *STORE).out)["unfinished"] == []
    (debate,) = json.loads(command("replay", trial, "--json", *STORE).out)["debates"]
    assert debate["trial"] == trial


def test_an_export_has_it_in_a_phase_of_its_own(command: Command) -> None:
    _run(command)
    command("export", "out", "--format", "jsonl", *STORE)
    turns = [json.loads(line) for line in Path("out/turns.jsonl").read_text("utf-8").splitlines()]
    assert {turn["phase"] for turn in turns} == {"history", "unfinished"}
    failed = [turn for turn in turns if turn["failure"]]
    assert [turn["position"] for turn in failed] == [2, 2]
    trials = Path("out/trials.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["ending"] for line in trials] == [None, None]


def test_the_report_shows_it_with_the_reason(command: Command) -> None:
    _run(command, PLAYED, "--report", "report.html")
    page = Path("report.html").read_text("utf-8")
    assert page.count("Failed in round 2 <span>sample/test#") == 2
    assert "(not rated, and in no mean)" in page
    assert page.count("Try this.") >= 2


@pytest.mark.parametrize(
    ("kind", "ending", "place"),
    [
        ("user", Ending.BROKEN_OFF, "in round 2"),
        ("persuasiveness", Ending.ROUND_LIMIT, "after round 5"),
    ],
)
def test_what_a_failing_model_leaves_is_kept_too(
    command: Command, kind: str, ending: Ending, place: str
) -> None:
    """The user's model is lost in the second round, or after the conversation."""
    Path("mended").touch()
    spoken = 0

    def script(body: Body) -> Answer:
        nonlocal spoken
        spoken += player.kind(body) == kind
        lost = player.kind(body) == kind and (kind == "persuasiveness" or spoken == 2)
        return Fault("status", status=400, text="lost") if lost else player.play(body)

    with ScriptedEndpoint(script) as endpoint:
        model = f"model: {{base_url: '{endpoint.url}', name: scripted, retries: 0}}\n"
        result = _run(command, PLAYED.replace("limit: 2", "limit: 1") + model)
    assert result["trials"]["failed"] == 1
    (failed,) = _unfinished()
    assert (failed.log.ending, failed.place) == (ending, place)
    assert "lost" in failed.reason
