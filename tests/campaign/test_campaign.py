"""Whole campaigns over real HTTP and a real store."""

import importlib
import json
import linecache
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from recjury.records import Factor, Status, metric_id
from recjury.store import Store
from tests.campaign import player
from tests.cli.front_door import Command
from tests.endpoint import Answer, Body, Fault, RemoteEndpoint, ScriptedEndpoint, completion

PLAYED = "scenarios: [{corpus: sample, limit: 2}]\nsystems: [chatcrs, retrieval]\n"
STORE = "sqlite:///runs.db"


def _campaign(endpoint: ScriptedEndpoint | None, text: str = PLAYED, more: str = "") -> Path:
    path = Path("campaign.yaml")
    model = "" if endpoint is None else _model(endpoint.url)
    path.write_text(text + model + more, "utf-8")
    return path


def _model(url: str) -> str:
    return f"model: {{base_url: '{url}', name: scripted, retries: 0, price_in: 1, price_out: 1}}\n"


def _run(command: Command, *arguments: object, code: int = 0) -> dict[str, Any]:
    ended = command("run", *arguments, "--store", STORE, "--json")
    assert ended.code == code, ended.err
    result: dict[str, Any] = json.loads(ended.out)
    return result


def test_the_object_that_scripts_rely_on(command: Command) -> None:
    with ScriptedEndpoint(player.play) as endpoint:
        result = _run(command, _campaign(endpoint))
    assert result["conversations"] == {"planned": 4, "done": 4, "failed": 0}
    done = {"planned": 4, "done": 4, "failed": 0, "waiting": 0}
    assert result["evaluations"] == {"outcome": done, "core": done}
    assert list(result["systems"]) == ["chatcrs", "retrieval"]
    for system in result["systems"].values():
        assert {f"core.{metric_id(factor)}" for factor in Factor} < set(system)
        assert all(
            set(value) == {"mean", "low", "high", "n", "coverage"} for value in system.values()
        )
        assert {f"outcome.recall@{k}" for k in (1, 5, 10)} < set(system)
        assert system["outcome.persuasiveness"]["coverage"] == 1
        assert (system["core.overall"]["mean"], system["core.overall"]["n"]) == (15.0, 2), (
            "the mean of 0, 10, 20, 30"
        )


def test_a_debate_that_never_agrees_takes_sixteen_calls(command: Command) -> None:
    with ScriptedEndpoint(player.play) as endpoint:
        _run(command, _campaign(endpoint, PLAYED.replace("limit: 2", "limit: 1")))
        kinds = [player.kind(body) for body in endpoint.bodies]
    assert kinds.count("debate") == 2 * 16
    assert kinds.count("judge") == 2 * 12
    assert kinds.count("persuasiveness") == 2
    replayed = json.loads(command("replay", "--all", "--verify", "--store", STORE, "--json").out)
    assert replayed == {"debates": 2, "verified": 2, "different": []}


def _nasty(body: Body) -> Answer:
    """Every judge misbehaves in a way of its own; the rest play on."""
    if player.kind(body) != "judge":
        return player.play(body)
    text = str(body)
    spoiled: dict[Factor, Answer] = {
        Factor.COHERENCE: "Clearly a 7. <rating>7</rating>",
        Factor.RECOVERABILITY: "",
        Factor.PROACTIVENESS: completion("It is <rating>3</rating>", finish_reason="length"),
        Factor.NATURALNESS: '{"score": 4}',
        Factor.EXPLAINABILITY: "<rating>1</rating> or <rating>2</rating>",
        Factor.GROUNDNESS: completion(None),
    }
    for factor, answer in spoiled.items():
        if f"You judge one factor: {factor}." in text:
            return answer
    return "Fine. <rating>2</rating>"


def test_what_cannot_be_read_is_never_a_score_and_stops_nothing(command: Command) -> None:
    with ScriptedEndpoint(_nasty) as endpoint:
        result = _run(command, _campaign(endpoint), code=3)
    unreadable = {
        Factor.COHERENCE,
        Factor.RECOVERABILITY,
        Factor.PROACTIVENESS,
        Factor.NATURALNESS,
        Factor.EXPLAINABILITY,
        Factor.GROUNDNESS,
    }
    for system in result["systems"].values():
        for factor in Factor:
            found = system[f"core.{metric_id(factor)}"]
            expected = (None, 0.0) if factor in unreadable else (2.0, 1.0)
            assert (found["mean"], found["coverage"]) == expected
    with Store.open(STORE) as store:
        ratings = [
            rating
            for result in store.results()
            for evaluation in result.evaluations
            if evaluation.label == "core"
            for rating in evaluation.ratings
        ]
    assert {r.factor for r in ratings if r.status is Status.UNREADABLE} == unreadable
    assert all(r.reason for r in ratings if r.score is None)


def test_a_call_that_fails_for_good_is_asked_again_by_the_next_run(command: Command) -> None:
    broken = True

    def script(body: Body) -> Answer:
        if broken and "You judge one factor: Novelty." in str(body):
            return Fault("status", status=500, text="out of order")
        return player.play(body)

    with ScriptedEndpoint(script) as endpoint:
        campaign = _campaign(endpoint)
        first = _run(command, campaign, code=3)
        assert first["conversations"] == {"planned": 4, "done": 4, "failed": 0}
        assert first["evaluations"]["core"]["failed"] == 4
        assert first["evaluations"]["outcome"]["done"] == 4
        asked = len(endpoint.bodies)
        broken = False
        second = _run(command, campaign)
        again = [player.kind(body) for body in endpoint.bodies[asked:]]
    assert second["evaluations"]["core"] == {"planned": 4, "done": 4, "failed": 0, "waiting": 0}
    assert again.count("judge") == 4, "one Novelty for each conversation"
    assert set(again) == {"judge", "debate"}


@pytest.mark.slow
def test_a_request_that_breaks_the_server_is_unscored_and_its_stage_is_finished(
    command: Command,
) -> None:
    """Others are answered meanwhile: the other factors are kept, and the debate is held."""

    def script(body: Body) -> Answer:
        if "You judge one factor: Novelty." in str(body):
            return Fault("status", status=500, text="out of order")
        return player.play(body)

    with ScriptedEndpoint(script) as endpoint:
        campaign = _campaign(endpoint)
        text = campaign.read_text("utf-8")
        assert "retries: 0" in text
        campaign.write_text(text.replace("retries: 0", "retries: 2"), "utf-8")
        result = _run(command, campaign, code=3)
        assert result["evaluations"]["core"] == {"planned": 4, "done": 4, "failed": 0, "waiting": 0}
        with Store.open(STORE) as store:
            unscored = [
                rating
                for found in store.results()
                for evaluation in found.evaluations
                if evaluation.label == "core"
                for rating in evaluation.ratings
                if rating.score is None
            ]
        assert {(each.factor, each.status) for each in unscored} == {("Novelty", Status.REFUSED)}
        assert all("HTTP 500: out of order (3 attempts)" in each.reason for each in unscored)
        asked = len(endpoint.bodies)
        _run(command, campaign, "--retry", "none", code=3)
        assert len(endpoint.bodies) == asked


def test_a_larger_limit_goes_on_with_the_same_campaign(command: Command) -> None:
    with ScriptedEndpoint(player.play) as endpoint:
        campaign = _campaign(endpoint, PLAYED.replace("{corpus: sample, limit: 2}", "sample"))
        small = _run(command, campaign, "--limit", 1)
        asked = len(endpoint.bodies)
        large = _run(command, campaign, "--limit", 2)
        new = len(endpoint.bodies) - asked
    assert small["campaign"] == large["campaign"]
    assert large["conversations"] == {"planned": 4, "done": 4, "failed": 0}
    assert large["systems"]["chatcrs"]["core.overall"]["n"] == 2
    assert new <= asked + 2, "the first scenario is not played again"


def test_the_budget_ends_the_spending(command: Command) -> None:
    with ScriptedEndpoint(lambda body: _dear(player.play(body))) as endpoint:
        result = _run(command, _campaign(endpoint), "--budget", 0.05, code=3)
        asked = len(endpoint.bodies)
    assert result["held_back"]["whole"] == 0
    assert result["held_back"]["broken_off"] == 1, "what one takes is not known: one is tried"
    assert asked == 10, "the last call may exceed the budget, no other one"
    status = json.loads(command("status", "--store", STORE, "--json").out)
    assert status["campaigns"][0]["cost"] == pytest.approx(0.005 * asked, rel=0.01)


def _dear(answer: Answer) -> Answer:
    assert isinstance(answer, str)
    return completion(answer, prompt_tokens=5_000, completion_tokens=0)


def test_a_system_that_raises_fails_its_conversations_and_no_others(command: Command) -> None:
    Path("broken_system.py").write_text(
        "class Broken:\n"
        "    def __init__(self, corpus, *, name):\n"
        "        self.name, self.settings = name, {}\n"
        "    async def respond(self, conversation):\n"
        "        raise RuntimeError('no idea')\n"
        "    async def aclose(self):\n"
        "        pass\n",
        "utf-8",
    )
    systems = "[retrieval, {kind: python, name: broken, path: 'broken_system:Broken'}]"
    result = _run(command, _campaign(None, PLAYED.replace("[chatcrs, retrieval]", systems)), code=3)
    assert result["conversations"] == {"planned": 4, "done": 2, "failed": 2}
    assert result["evaluations"]["core"] == {"planned": 4, "done": 2, "failed": 0, "waiting": 2}
    broken = result["systems"]["broken"]["core.overall"]
    assert (broken["mean"], broken["coverage"]) == (None, 0.0)
    assert result["systems"]["retrieval"]["core.overall"]["coverage"] == 1
    with Store.open(STORE) as store:
        reasons = {result.failure or "" for result in store.results()}
    assert any("RuntimeError: no idea" in reason for reason in reasons)


def test_the_same_campaign_twice_gives_the_same_numbers(command: Command) -> None:
    campaign = _campaign(None, PLAYED.replace("[chatcrs, retrieval]", "[retrieval]"))
    first = _run(command, campaign)
    Path("runs.db").unlink()
    assert _timeless(_run(command, campaign)) == _timeless(first)


def _timeless(result: dict[str, Any]) -> dict[str, Any]:
    """A result without what a clock says."""
    for system in result["systems"].values():
        system.pop("outcome.seconds_per_turn")
    return result


def test_a_dry_run_says_what_it_would_cost_and_writes_nothing(command: Command) -> None:
    with ScriptedEndpoint(player.play) as endpoint:
        ended = command("run", _campaign(endpoint), "--dry-run", "--json", "--store", STORE)
        assert endpoint.bodies == []
    estimate = json.loads(ended.out)
    assert estimate["conversations"] == 4
    assert estimate["once"]["calls"] == 1 + 4 * (6 + 12 + 16) + 2 * 5
    assert estimate["cost"] > 0
    assert not Path("runs.db").exists()


def test_an_endpoint_that_refuses_midway_ends_in_one_line_and_goes_on_later(
    command: Command,
) -> None:
    refuses = False

    def script(body: Body) -> Answer:
        nonlocal refuses
        refuses = refuses or "You judge one factor" in str(body)
        return Fault("status", status=401, text="revoked") if refuses else player.play(body)

    with ScriptedEndpoint(script, scripted_checks=True) as endpoint:
        campaign = _campaign(endpoint)
        # Else the refusal is believed after half a minute.
        text = campaign.read_text("utf-8").replace("retries: 0", "retries: 0, outage_patience: 0")
        campaign.write_text(text, "utf-8")
        ended = command("run", campaign, "--store", STORE)
        assert ended.code == 2
        assert [line for line in ended.err.splitlines() if "401" in line] == [
            ended.err.splitlines()[-1]
        ]
        asked = len(endpoint.bodies)
        endpoint.server._script = player.play
        result = _run(command, campaign)
        again = [player.kind(body) for body in endpoint.bodies[asked:]]
    assert result["evaluations"]["core"]["done"] == 4
    assert again.count("system") < 2 * 5, "some of the conversation was kept"


def test_a_budget_holds_over_runs_whatever_says_how_to_run(command: Command) -> None:
    with ScriptedEndpoint(lambda body: _dear(player.play(body))) as endpoint:
        _run(command, _campaign(endpoint), "--budget", 0.05, code=3)
        asked = len(endpoint.bodies)
        text = (
            _campaign(endpoint).read_text("utf-8").replace("retries: 0", "retries: 0, timeout: 9")
        )
        Path("campaign.yaml").write_text(text, "utf-8")
        _run(command, "campaign.yaml", "--budget", 0.05, code=3)
        assert len(endpoint.bodies) <= asked + 1, "the worst case of one more may still fit"


def test_conversations_of_an_earlier_version_leave_the_tables(command: Command) -> None:
    text = PLAYED.replace(
        "[chatcrs, retrieval]",
        "[{kind: python, name: mine, path: 'versioned:Mine', isolate: thread}]",
    )
    own = (
        "from recjury.records import SystemReply\n"
        "class Mine:\n"
        "    def __init__(self, corpus, *, name):\n"
        "        self.name, self.settings = name, {{}}\n"
        "        self.items = tuple(item.ref for item in corpus.catalogue)[:{n}]\n"
        "    async def respond(self, conversation):\n"
        "        return SystemReply(text='Try this one.', items=self.items)\n"
        "    async def aclose(self):\n"
        "        pass\n"
    )
    Path("versioned.py").write_text(own.format(n=3), "utf-8")
    first = _run(command, _campaign(None, text))
    sys.modules.pop("versioned")
    Path("versioned.py").write_text(own.format(n=10), "utf-8")
    importlib.invalidate_caches()
    linecache.clearcache()
    with Store.open(STORE) as store:
        old = [each.id for each in store.conversations(first["campaign"])]
    second = _run(command, _campaign(None, text))
    sys.modules.pop("versioned")
    assert first["campaign"] == second["campaign"]
    assert (first["set_aside"], second["set_aside"]) == (0, 2)
    assert second["conversations"]["planned"] == 2
    with Store.open(STORE) as store:
        assert len(store.conversations(second["campaign"])) == 2
        assert all(store.log(each) is not None for each in old), "nothing was lost"


def test_a_smaller_limit_shows_what_it_planned(command: Command) -> None:
    text = PLAYED.replace("[{corpus: sample, limit: 2}]", "[sample]")
    campaign = _campaign(None, text.replace("[chatcrs, retrieval]", "[retrieval]"))
    _run(command, campaign, "--limit", 3)
    small = _run(command, campaign, "--limit", 1)
    assert small["conversations"]["planned"] == 1
    assert small["systems"]["retrieval"]["core.overall"]["n"] == 1


def test_a_campaign_that_cannot_begin_leaves_another_process_alone(command: Command) -> None:
    Path("bad.yaml").write_text(
        "scenarios: [sample]\nsystems: [{kind: kbrd, checkpoint: nope}]\n", "utf-8"
    )
    with Store.open(STORE) as other:
        assert command("run", "bad.yaml", "--store", STORE).code == 2
        assert other.campaigns() == ()
        assert Path("runs.db").exists()


def test_two_sources_that_draw_one_scenario_play_it_once(command: Command) -> None:
    twice = PLAYED.replace("[{corpus: sample, limit: 2}]", "[sample, sample]")
    campaign = _campaign(None, twice.replace("[chatcrs, retrieval]", "[retrieval]"))
    assert _run(command, campaign, "--limit", 2)["conversations"]["planned"] == 2


def _hear_interrupts() -> None:
    """Whoever runs the tests in the background has them, and all they start, ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.slow
def test_an_interrupted_campaign_says_so_and_goes_on(command: Command) -> None:
    with RemoteEndpoint("tests.campaign.player:play", latency=0.2) as endpoint:
        model = _model(endpoint.url)
        Path("campaign.yaml").write_text(PLAYED + model, "utf-8")
        line = [sys.executable, "-m", "recjury", "run", "campaign.yaml", "--store", STORE]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        running = subprocess.Popen(
            line, stderr=subprocess.PIPE, text=True, env=environment, preexec_fn=_hear_interrupts
        )
        while not endpoint.bodies:
            pass
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
        assert running.returncode == 130
        assert "run the same command to continue" in said
        result = _run(command, "campaign.yaml")
    assert result["evaluations"]["core"]["done"] == 4
