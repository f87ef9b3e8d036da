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
        with Path("answers").open("a") as file:
            file.write(".")
        if any("Try this" in turn.text for turn in conversation.turns):
            if not Path("mended").exists():
                raise SystemFailed("out of\\x1b[2J memory")
        return SystemReply(text="Try this.", items=self._items)

    async def aclose(self):
        pass
"""
PLAYED = """
scenarios: [{corpus: sample, limit: 2}]
systems: [{kind: python, name: frail, path: "frail:Frail", isolate: thread}]
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
        ids = store.unfinished_conversations()
        found = [store.unfinished(each) for each in ids]
        assert [store.log(each) for each in ids] == [None] * len(found)
    return [each for each in found if each is not None]


def test_what_was_said_until_a_system_failed_is_kept(command: Command) -> None:
    result = _run(command)
    assert result["conversations"] == {"planned": 2, "done": 0, "failed": 2}
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
    result = _run(command)
    for found in result["systems"]["frail"].values():
        assert (found["mean"], found["coverage"], found["n"]) == (None, 0.0, 0)
    assert {each["waiting"] for each in result["evaluations"].values()} == {2}
    with Store.open(STORE[1]) as store:
        for conversation in store.results():
            assert (conversation.evaluations, conversation.log) == ((), None)


def test_a_replay_shows_it_and_a_later_success_takes_its_place(command: Command) -> None:
    _run(command)
    trial = _unfinished()[0].conversation
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
    asked = len(Path("answers").read_text("utf-8"))
    Path("mended").touch()
    _run(command, code=0)
    # The first of five turns is kept in both conversations.
    assert len(Path("answers").read_text("utf-8")) == asked + 2 * 4
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
    with Store.open(STORE[1]) as store:
        assert [result.ending for result in store.results()] == [None, None]


def test_the_report_shows_it_with_the_reason(command: Command) -> None:
    _run(command, PLAYED, "--report", "report.html")
    page = Path("report.html").read_text("utf-8")
    assert page.count("Failed in round 2 <span>sample/test#") == 2
    assert "(not rated, and not part of any mean)" in page
    assert page.count("Try this.") >= 2


def test_what_a_failing_user_leaves_is_kept_too(command: Command) -> None:
    """The user's model is lost in the second round."""
    Path("mended").touch()
    spoken = 0

    def script(body: Body) -> Answer:
        nonlocal spoken
        spoken += player.kind(body) == "user"
        lost = player.kind(body) == "user" and spoken == 2
        return Fault("status", status=500, text="lost") if lost else player.play(body)

    with ScriptedEndpoint(script) as endpoint:
        model = f"model: {{base_url: '{endpoint.url}', name: scripted, retries: 0}}\n"
        result = _run(command, PLAYED.replace("limit: 2", "limit: 1") + model)
    assert result["conversations"]["failed"] == 1
    (failed,) = _unfinished()
    assert (failed.log.ending, failed.place) == (Ending.BROKEN_OFF, "in round 2")
    assert "lost" in failed.reason


def test_a_lost_word_on_the_conversation_does_not_lose_the_conversation(command: Command) -> None:
    """Persuasiveness is a stage of its own: only that call is made again."""
    Path("mended").touch()
    lost = True

    def script(body: Body) -> Answer:
        if lost and player.kind(body) == "persuasiveness":
            return Fault("status", status=500, text="lost")
        return player.play(body)

    with ScriptedEndpoint(script) as endpoint:
        model = f"model: {{base_url: '{endpoint.url}', name: scripted, retries: 0}}\n"
        played = PLAYED.replace("limit: 2", "limit: 1") + model
        result = _run(command, played)
        assert result["conversations"] == {"planned": 1, "done": 1, "failed": 0}
        assert result["evaluations"]["outcome"]["failed"] == 1
        assert result["evaluations"]["core"]["done"] == 1
        asked, lost = len(endpoint.bodies), False
        result = _run(command, played, code=0)
        again = [player.kind(body) for body in endpoint.bodies[asked:]]
    assert again == ["persuasiveness"]
    assert result["systems"]["frail"]["outcome.persuasiveness"]["n"] == 1


SELECTIVE = """
from recjury.agents import SystemContext, load_recommender


class Selective:
    def __init__(self, corpus, *, name):
        self._inner = load_recommender("retrieval", name, {}, SystemContext(corpus, None))
        self.name, self.settings = name, {}

    async def respond(self, conversation):
        if sum(turn.speaker == "system" for turn in conversation.turns) >= 3:
            raise ValueError("sorry")
        return await self._inner.respond(conversation)

    async def aclose(self):
        pass
"""


def test_a_copy_that_raises_from_its_fourth_turn_gains_nothing(command: Command) -> None:
    """Long conversations go badly: it has the means of the short ones."""
    Path("selective.py").write_text(SELECTIVE, "utf-8")
    own = '{kind: python, name: copy2, path: "selective:Selective"}'
    text = f"scenarios: [{{corpus: sample, limit: 6}}]\nsystems: [retrieval, {own}]\n"
    result = _run(command, text)
    failed = result["conversations"]["failed"]
    assert 0 < failed < 6
    honest, copy = (result["systems"][name]["core.overall"] for name in ("retrieval", "copy2"))
    assert copy["mean"] > honest["mean"] > copy["worst_low"]
    assert copy["worst_high"] >= honest["mean"]
    assert copy["lost"] == pytest.approx(failed / 6)
    assert "lost" not in honest
    assert result["answer"]["best"] is None
    said = result["answer"]["lines"][0]
    assert said.startswith("copy2 has the best mean, ")
    assert "retrieval is level with it on the scenarios of both; none is best." in said
    shown = command("run", "campaign.yaml", *STORE, "--retry", "none")
    assert f"lost {round(100 * failed / 6)}%: " in shown.out
    assert "SystemFailed: copy2: raised ValueError: sorry (selective.py:12)" in shown.err
    compared = json.loads(command("compare", "copy2", "retrieval", *STORE, "--json").out)
    assert compared["metrics"]["core.overall"]["a"]["lost"] == copy["lost"]
    assert (
        "copy2 lost ratings: Rule verdict lost"
        in command("compare", "copy2", "retrieval", *STORE).err
    )
