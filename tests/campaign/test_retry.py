"""What an earlier run left without a score or an end is done by the next one, and nothing else."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recjury.records import Factor, Status
from recjury.store import Store
from tests.campaign import player
from tests.cli.front_door import Ended, recjury
from tests.endpoint import Answer, Body, Fault, Script, ScriptedEndpoint, fingerprint, prompt

Command = Callable[..., Ended]
STORE = "sqlite:///runs.db"
PLAYED = "scenarios: [{corpus: sample, limit: 1}]\nsystems: [retrieval]\n"
UNREADABLE = (Factor.COHERENCE, Factor.NOVELTY)


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    """`recjury`, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return lambda *arguments: recjury(monkeypatch, capsys, *arguments)


class Switched:
    """A server that is ill until `healthy` is set."""

    def __init__(self, ill: Script):
        self._ill, self.healthy = ill, False

    def __call__(self, body: Body) -> Any:
        """An answer."""
        return player.play(body) if self.healthy else self._ill(body)


def _factor(body: Body) -> Factor | None:
    if player.kind(body) != "judge":
        return None
    return next(f for f in Factor if f"You judge one factor: {f}." in prompt(body))


def _mumbling(body: Body) -> Answer:
    """Two judges give no rating."""
    return "Hm." if _factor(body) in UNREADABLE else player.play(body)


def _run(
    command: Command, url: str, *more: str, campaign: str = PLAYED, as_json: bool = True
) -> Ended:
    model = f"model: {{base_url: '{url}', name: scripted, retries: 0}}\n"
    Path("campaign.yaml").write_text(campaign + model, "utf-8")
    return command("run", "campaign.yaml", "--store", STORE, *["--json"] * as_json, *more)


def _asked_first(bodies: list[Body]) -> Counter[str]:
    """How often each request was sent that does not say what was wrong with an earlier reply."""
    return Counter(fingerprint(body) for body in bodies if "could not be used" not in prompt(body))


def _kinds(bodies: list[Body]) -> Counter[str]:
    return Counter(map(player.kind, bodies))


def _core(store: Store) -> tuple[str, dict[str, Status]]:
    """The evaluation by `core` that counts, and the status of each of its ratings."""
    (result,) = store.results()
    (core,) = (each for each in result.evaluations if each.label == "core")
    return core.evaluation, {str(r.factor): r.status for r in core.ratings}


def test_the_next_run_asks_only_for_what_is_missing(command: Command) -> None:
    script = Switched(_mumbling)
    with ScriptedEndpoint(script) as endpoint:
        _run(command, endpoint.url)
        first = len(endpoint.bodies)
        assert _kinds(endpoint.bodies)["judge"] == 10 + 2 * 3
        with Store.open(STORE) as store:
            before, statuses = _core(store)
            held = store.debate(before)
        assert [f for f, status in statuses.items() if status is Status.UNREADABLE] == [
            factor for factor in Factor if factor in UNREADABLE
        ]
        script.healthy = True
        assert _run(command, endpoint.url).code == 0
        sent = endpoint.bodies[first:]
        asked_again = [prompt(body) for body in sent if player.kind(body) == "judge"]
        assert len(asked_again) == 2
        assert all("could not be used: no <rating>" in text for text in asked_again)
        # The two roles that had no such rating say in round 1 what they said before.
        assert _kinds(sent) == {"judge": 2, "debate": 2 + 12}
        assert max(_asked_first(endpoint.bodies).values()) == 1
        again = len(endpoint.bodies)
        assert _run(command, endpoint.url).code == 0
        assert len(endpoint.bodies) == again
    with Store.open(STORE) as store:
        now, statuses = _core(store)
        assert set(statuses.values()) == {Status.SCORED}
        assert store.attempts(now) == (before, now)
        assert store.debate(before) == held
        assert store.debate(now) != held
        rated = {r.factor: len(r.calls) for r in store.stage_results(now)["rate"].ratings}
        assert {factor: rated[factor] for factor in UNREADABLE} == dict.fromkeys(UNREADABLE, 4)
    verified = json.loads(command("replay", "--verify", "--json", "--store", STORE).out)
    assert verified == {"debates": 2, "verified": 2, "different": []}
    listed = json.loads(command("replay", "--json", "--store", STORE).out)["debates"]
    assert [(each["evaluation"], each["superseded"]) for each in listed] == [
        (before, True),
        (now, False),
    ]
    (row,) = json.loads(command("replay", store_conversation(), "--json", "--store", STORE).out)[
        "debates"
    ]
    assert row["evaluation"] == now


def store_conversation() -> str:
    """The id of the one conversation."""
    with Store.open(STORE) as store:
        return store.conversations()[0].id


@pytest.mark.parametrize("retry", ["failed", "none"])
def test_what_could_not_be_read_can_be_left_as_it_is(command: Command, retry: str) -> None:
    script = Switched(_mumbling)
    with ScriptedEndpoint(script) as endpoint:
        _run(command, endpoint.url)
        first = len(endpoint.bodies)
        script.healthy = True
        _run(command, endpoint.url, "--retry", retry)
        assert len(endpoint.bodies) == first
    with Store.open(STORE) as store:
        evaluation, _ = _core(store)
        assert store.attempts(evaluation) == (evaluation,)
    assert "unscored, failed, none" in _run(command, endpoint.url, "--retry", "all").err


def test_what_cannot_be_read_again_changes_nothing(command: Command) -> None:
    with ScriptedEndpoint(_mumbling) as endpoint:
        _run(command, endpoint.url)
        with Store.open(STORE) as store:
            before = _core(store)
        first = len(endpoint.bodies)
        _run(command, endpoint.url, campaign=PLAYED + "attempts: 2\n")
        assert _kinds(endpoint.bodies[first:]) == {"judge": 2 * 2}
        with Store.open(STORE) as store:
            assert _core(store) == before
            assert store.attempts(before[0]) == (before[0],)


def test_a_rating_that_is_refused_for_good_keeps_the_others(command: Command) -> None:
    def filtered(body: Body) -> Answer:
        if _factor(body) is Factor.DIVERSITY:
            return Fault("status", status=400, text="the prompt triggered the content filter")
        return player.play(body)

    script = Switched(filtered)
    with ScriptedEndpoint(script) as endpoint:
        _run(command, endpoint.url)
        with Store.open(STORE) as store:
            before, statuses = _core(store)
        assert statuses.pop(Factor.DIVERSITY) is Status.REFUSED
        assert set(statuses.values()) == {Status.SCORED}
        assert "Overall" in statuses
        first = len(endpoint.bodies)
        _run(command, endpoint.url, "--retry", "none")
        assert len(endpoint.bodies) == first
        script.healthy = True
        assert _run(command, endpoint.url, "--retry", "failed").code == 0
        assert _kinds(endpoint.bodies[first:])["judge"] == 1
    with Store.open(STORE) as store:
        now, statuses = _core(store)
        assert set(statuses.values()) == {Status.SCORED}
        assert store.attempts(now) == (before, now)


def test_a_debate_lost_to_an_outage_after_better_ratings_is_still_to_do(command: Command) -> None:
    script = Switched(_mumbling)

    def down(body: Body) -> Answer:
        return Fault("drop") if player.kind(body) == "debate" else player.play(body)

    with ScriptedEndpoint(lambda body: script(body)) as endpoint:
        _run(command, endpoint.url)
        script = Switched(down)
        assert _run(command, endpoint.url).code == 3
        with Store.open(STORE) as store:
            now, statuses = _core(store)
            assert len(store.attempts(now)) == 2
            assert set(statuses) == set(map(str, Factor))
            assert set(statuses.values()) == {Status.SCORED}
        script.healthy = True
        assert _run(command, endpoint.url).code == 0
    with Store.open(STORE) as store:
        assert _core(store)[0] == now
        assert store.debate(now) is not None


def test_a_stage_that_failed_is_left_as_it_is_too(command: Command) -> None:
    def down(body: Body) -> Answer:
        return Fault("drop") if player.kind(body) == "debate" else player.play(body)

    script = Switched(down)
    with ScriptedEndpoint(script) as endpoint:
        assert _run(command, endpoint.url).code == 3
        first = len(endpoint.bodies)
        script.healthy = True
        assert _run(command, endpoint.url, "--retry", "none").code == 3
        assert len(endpoint.bodies) == first
        assert _run(command, endpoint.url).code == 0


def test_a_conversation_goes_on_at_the_turn_that_failed(command: Command) -> None:
    spoken = 0

    def silent(body: Body) -> Answer:
        nonlocal spoken
        if player.kind(body) == "user":
            spoken += 1
            if spoken > 2:
                return ""
        return player.play(body)

    script = Switched(silent)
    campaign = PLAYED.replace("retrieval", "{kind: chatcrs, list_source: from_text}")
    with ScriptedEndpoint(script) as endpoint:
        assert _run(command, endpoint.url, campaign=campaign).code == 3
        first = len(endpoint.bodies)
        assert _run(command, endpoint.url, "--retry", "none", campaign=campaign).code == 3
        assert len(endpoint.bodies) == first
        with Store.open(STORE) as store:
            (conversation,) = store.unfinished_conversations()
            failed = store.unfinished(conversation)
        assert failed is not None
        script.healthy = True
        assert _run(command, endpoint.url, campaign=campaign).code == 0
        with Store.open(STORE) as store:
            log = store.log(conversation)
        assert log is not None
        kept = len(failed.log.interaction)
        assert log.interaction[:kept] == failed.log.interaction
        played = _kinds(endpoint.bodies[first:])
        assert played["user"] == sum(t.speaker == "user" for t in log.interaction[kept:])
        assert played["system"] == sum(t.speaker == "system" for t in log.interaction[kept:])
        assert max(_asked_first(endpoint.bodies).values()) == 1


def test_what_is_missing_is_said_and_ends_with_an_exit_code(command: Command) -> None:
    def ill(body: Body) -> Answer:
        if _factor(body) in UNREADABLE:
            return "Hm."
        names = ("You are the Linguist", "You are the HCI Expert")
        mute = player.kind(body) == "debate" and any(name in prompt(body) for name in names)
        return "I would rather not." if mute else player.play(body)

    script = Switched(ill)
    with ScriptedEndpoint(script) as endpoint:
        assert _run(command, endpoint.url).code == 3
        told = _run(command, endpoint.url, "--retry", "none", "--report", "r.html", as_json=False)
        result = json.loads(_run(command, endpoint.url, "--retry", "none").out)
        script.healthy = True
        healed = _run(command, endpoint.url, as_json=False)
    assert (told.code, healed.code) == (3, 0)
    lines = [line.strip() for line in told.err.splitlines()]
    assert "1 of 1 verdicts by core are missing" in lines
    why = lines[lines.index("1 of 1 verdicts by core are missing") + 1]
    assert why.startswith("1 x unreadable: ")
    assert "Linguist" in why
    place = lines.index(
        "2 ratings by core have no score because something failed, was refused or could not be read"
    )
    assert lines[place + 1] == "2 x unreadable: no <rating> from 0 to 4 with its code was given"
    assert "verdicts" not in healed.err
    assert "could not be read" not in healed.err
    assert result["verdicts"]["core"]["scored"] == 0
    assert list(result["verdicts"]["core"]["missing"].values()) == [1]
    unread = [each for each in result["unscored"] if each["status"] == "unreadable"]
    assert {each["metric"] for each in unread} == {"Coherence", "Novelty"}
    assert [each["count"] for each in unread] == [1, 1]
    page = Path("r.html").read_text("utf-8")
    assert "1 of 1 verdicts by core are missing" in page
    everything = sum(each["count"] for each in result["unscored"])
    assert f"{everything} ratings without a score" in page
