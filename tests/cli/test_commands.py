"""The commands over a real endpoint: run, status, replay, store verify."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Recjury, campaign, honest
from tests.scripted_endpoint import Body, Reply, ScriptedEndpoint, completion, error, prompt_of


@pytest.fixture
def ran(tmp_path: Path, recjury: Recjury, endpoint: ScriptedEndpoint) -> Recjury:
    """The program after a finished campaign `c`."""
    campaign(tmp_path / "c.yaml", endpoint.url)
    assert recjury("run", "c.yaml").code == 0
    return recjury


def test_a_run_shows_means_and_says_what_it_did(
    tmp_path: Path, recjury: Recjury, endpoint: ScriptedEndpoint
) -> None:
    campaign(tmp_path / "c.yaml", endpoint.url)
    done = recjury("run", "c.yaml", "--log", "log.jsonl")
    assert done.code == 0
    assert done.out.startswith("c: 4 conversations. Highest core.overall: ")
    assert "outcome.success" in done.out
    assert max(map(len, done.out.splitlines())) <= 120
    assert "4 of 4 conversations were finished" in done.err
    lines = (tmp_path / "log.jsonl").read_text().splitlines()
    events = [json.loads(line)["event"] for line in lines]
    for what in ("run", "conversation", "evaluation", "call"):
        assert events.count(f"{what} begins") == events.count(f"{what} ends") > 0


def test_what_is_only_rated_is_not_said_to_be_played(
    tmp_path: Path, ran: Recjury, endpoint: ScriptedEndpoint
) -> None:
    shorter = {"kind": "core", "debate": {"max_rounds": 1}}
    campaign(tmp_path / "c.yaml", endpoint.url, evaluators=["outcome", shorter])
    assert "4 conversations are left to rate" in ran("run", "c.yaml", "--dry-run").out
    assert "4 of 4 conversations were finished, 0 were played" in ran("run", "c.yaml").err


def test_a_store_beside_the_file_is_named(
    tmp_path: Path, ran: Recjury, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert f"--store {Path('..') / 'recjury.db'}" in ran("run", "../c.yaml", "--dry-run").err


@pytest.mark.parametrize("command", ["doctor", "run --dry-run", "run"])
def test_a_budget_in_dollars_wants_prices_everywhere(
    tmp_path: Path, recjury: Recjury, endpoint: ScriptedEndpoint, command: str
) -> None:
    model = {"name": "m", "base_url": endpoint.url}
    campaign(tmp_path / "c.yaml", endpoint.url, model=model, budget=1.0)
    done = recjury(*command.split(), "c.yaml")
    assert "set `price_in` and `price_out`" in done.out + done.err
    assert (done.code, endpoint.asked) == (3 if command == "doctor" else 2, [])


def test_json_has_stable_keys(ran: Recjury) -> None:
    found = ran("run", "c.yaml", "--json").json
    assert set(found) >= {"campaign", "systems", "caveats"}
    assert set(found["systems"]) == {"popular", "chatcrs"}
    overall = found["systems"]["popular"]["core.overall"]
    assert set(overall) == {"mean", "low", "high", "n", "coverage"}
    assert overall["n"] == 2


def test_work_that_is_done_says_so(ran: Recjury, endpoint: ScriptedEndpoint) -> None:
    """Newcomers' item 2: a changed system behind the same address is not silently left unasked."""
    before = len(endpoint.asked)
    done = ran("run", "c.yaml")
    assert len(endpoint.asked) == before
    assert "nothing was played" in done.err
    assert "version:" in done.err
    assert "--fresh" in done.err


def test_a_dry_run_sends_nothing(
    tmp_path: Path, recjury: Recjury, endpoint: ScriptedEndpoint
) -> None:
    campaign(tmp_path / "c.yaml", endpoint.url)
    done = recjury("run", "c.yaml", "--dry-run")
    assert done.code == 0
    assert "4 conversations are left" in done.out
    assert "$" in done.out
    assert not endpoint.asked
    assert not (tmp_path / "recjury.db").exists()


def test_status(ran: Recjury) -> None:
    done = ran("status")
    assert done.code == 0
    assert "4 of 4 conversations done" in done.out
    found = ran("status", "--json").json
    assert found["conversations"]["done"] == 4
    assert found["spent"]["dollars"] > 0
    assert found["runs"][0]["started_at"].endswith("+00:00")


def test_replay_lists_shows_and_verifies(ran: Recjury) -> None:
    rows = ran("replay", "--json").json["conversations"]
    assert len(rows) == 4
    shown = ran("replay", rows[0]["id"][:10])
    assert shown.code == 0
    for words in ("Targets: ", "1 system: ", "core.coherence: ", "Round 2", "Verdict: "):
        assert words in shown.out
    assert "2 evaluations came out equal" in ran("replay", rows[0]["id"], "--verify").out
    assert "8 evaluations came out equal" in ran("store", "verify").out


def test_replay_has_the_form_of_the_paper(ran: Recjury) -> None:
    """CoRE, table 28."""
    id_ = ran("replay", "--json").json["conversations"][0]["id"]
    found = ran("replay", id_, "--json").json
    assert len(found["agent_scores"]) == 4
    assert 0 <= found["avg_org_score"] <= 4
    assert set(found["chat_history"][0]) == {"evaluator", "statement", "score", "round"}


def test_what_if(tmp_path: Path, ran: Recjury, endpoint: ScriptedEndpoint) -> None:
    id_ = ran("replay", "--json").json["conversations"][0]["id"]
    (tmp_path / "words.txt").write_text("It bored me.")
    command = ("replay", id_, "--score", "linguist=3", "--say", "common user=words.txt")
    done = ran(*command, "--out", "both.json")
    assert done.code == 0
    both = json.loads((tmp_path / "both.json").read_text())
    assert set(both) >= {"original", "variant"}
    first = {s["evaluator"]: s for s in both["variant"]["chat_history"] if s["round"] == 1}
    assert first["Linguist"]["score"] == 3
    assert first["Common User"]["statement"] == "It bored me."
    before = len(endpoint.asked)
    ran(*command)
    assert len(endpoint.asked) == before


def test_something_failed_is_code_3_and_is_listed(tmp_path: Path, recjury: Recjury) -> None:
    def grumpy(body: Body) -> Reply:
        if "You judge one factor: Novelty" in prompt_of(body):
            return Reply(completion("No number today."))
        return honest(body)

    with ScriptedEndpoint(grumpy) as server:
        campaign(tmp_path / "c.yaml", server.url)
        done = recjury("run", "c.yaml")
    assert done.code == 3
    assert "popular: 2 ratings have no score (unreadable" in done.out
    assert "core.novelty" in done.out


def test_a_prompt_that_the_endpoint_cut_is_a_caveat(tmp_path: Path, recjury: Recjury) -> None:
    """Case 04: the server drops most of a prompt, and counts what is left."""

    def cutting(body: Body) -> Reply:
        return Reply(completion(reply(body), tokens=(20, 5)))

    def reply(body: Body) -> str:
        text = honest(body).body["choices"][0]["message"]["content"]
        assert isinstance(text, str)
        return text

    with ScriptedEndpoint(cutting) as server:
        campaign(tmp_path / "c.yaml", server.url)
        done = recjury("run", "c.yaml", "--json")
    assert any("longer than the endpoint read" in line for line in done.json["caveats"])


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (error(401, "Incorrect API key provided"), "Incorrect API key"),
        (error(404, "The model `m` does not exist"), "does not exist"),
        (error(429, "You exceeded your quota", code="insufficient_quota"), "quota"),
    ],
)
def test_an_endpoint_that_ends_the_run_is_one_line(
    tmp_path: Path, recjury: Recjury, answer: Reply, words: str
) -> None:
    with ScriptedEndpoint(lambda body: answer) as server:
        campaign(tmp_path / "c.yaml", server.url)
        assert recjury("run", "c.yaml").is_mistake("recjury: ", words)


def test_no_endpoint_is_one_line_and_the_same_command_goes_on(
    tmp_path: Path, recjury: Recjury, endpoint: ScriptedEndpoint
) -> None:
    campaign(tmp_path / "c.yaml", "http://127.0.0.1:9/v1")
    assert recjury("run", "c.yaml").is_mistake()
    campaign(tmp_path / "c.yaml", endpoint.url)
    assert recjury("run", "c.yaml").code == 0


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("status",), "there is no store"),
        (("replay", "abc"), "there is no store"),
        (("run", "missing.yaml"), "there is no file missing.yaml"),
    ],
)
def test_what_is_not_there_is_one_line(
    recjury: Recjury, command: tuple[str, ...], words: str
) -> None:
    assert recjury(*command).is_mistake(words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ffff",), "ffff"),
        (("\udce2\udc94",), "begins"),
        (("", "--verify", "--campaign", "d"), "no campaign 'd'"),
        (("{id}", "--score", "linguist"), "ROLE=VALUE"),
        (("{id}", "--score", "linguist=many"), "0 to 100"),
        (("{id}", "--score", "lingist=4"), "no role"),
        (("{id}", "--score", "linguist=4", "--round", "7"), "round"),
        (("{id}", "--say", "linguist=no.txt"), "no.txt"),
    ],
)
def test_mistakes_in_replay_are_one_line(
    ran: Recjury, arguments: tuple[str, ...], words: str
) -> None:
    id_ = ran("replay", "--json").json["conversations"][0]["id"]
    assert ran("replay", *(each.replace("{id}", id_) for each in arguments)).is_mistake(words)


def test_an_altered_rating_is_found(tmp_path: Path, ran: Recjury) -> None:
    with closing(sqlite3.connect(tmp_path / "recjury.db")) as connection, connection:
        connection.execute("UPDATE rating SET score = 4 - score WHERE metric = 'novelty'")
    done = ran("store", "verify")
    assert "novelty" in done.out
    assert done.code == 3


@pytest.mark.parametrize("store", ["", ":memory:", "sqlite://", "sqlite:///:memory:"])
def test_a_store_that_keeps_nothing_is_refused(
    tmp_path: Path, recjury: Recjury, endpoint: ScriptedEndpoint, store: str
) -> None:
    campaign(tmp_path / "c.yaml", endpoint.url)
    assert recjury("run", "c.yaml", "--store", store).code == 2
    assert not endpoint.asked


def test_what_an_endpoint_refuses_verifies(tmp_path: Path, recjury: Recjury) -> None:
    def filtering(body: Body) -> Reply:
        if "You judge one factor: Novelty" in prompt_of(body):
            return error(400, "filtered", code="content_filter")
        return honest(body)

    with ScriptedEndpoint(filtering) as server:
        model = {"name": "m", "base_url": server.url, "patience": 10}
        campaign(tmp_path / "c.yaml", server.url, model=model)
        assert recjury("run", "c.yaml").code == 3
    done = recjury("store", "verify")
    assert done.code == 0
    assert "8 evaluations came out equal, 0 problems" in done.out


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path, recjury: Recjury) -> None:
    def red(body: Body) -> Reply:
        text = honest(body).body["choices"][0]["message"]["content"]
        return Reply(completion(f"\x1b[31m{text}"))

    with ScriptedEndpoint(red) as server:
        campaign(tmp_path / "c.yaml", server.url)
        recjury("run", "c.yaml")
    id_ = recjury("replay", "--json").json["conversations"][0]["id"]
    shown = recjury("replay", id_).out
    assert "\x1b" not in shown
    assert "\\x1b[31m" in shown


def test_own_code_that_prints_does_not_break_json(
    tmp_path: Path, recjury: Recjury, endpoint: ScriptedEndpoint
) -> None:
    (tmp_path / "loud.py").write_text(
        "def talk(conversation):\n    print('hi')\n    return 'Heat'\n"
    )
    campaign(tmp_path / "c.yaml", endpoint.url, systems=["loud:talk"])
    done = recjury("run", "c.yaml", "--json")
    assert done.json["systems"]
    assert "hi" in done.err


def test_help_shows_examples(recjury: Recjury) -> None:
    done = recjury("run", "--help")
    assert done.code == 0
    assert "recjury run campaign.yaml --dry-run" in " ".join(done.out.split())
    assert "recjury" in recjury("--version").out


def test_shards_are_merged(recjury: Recjury, tmp_path: Path, endpoint: ScriptedEndpoint) -> None:
    campaign(tmp_path / "c.yaml", endpoint.url, systems=["popular"], evaluators=["outcome"])
    for number in ("1", "2"):
        assert (
            recjury("run", "c.yaml", "--shard", f"{number}/2", "--store", f"{number}.db").code == 0
        )
    assert recjury("store", "merge", "1.db", "2.db", "--into", "all.db").code == 0
    assert recjury("run", "c.yaml", "--store", "all.db").err.startswith("All 2 conversations")
    for wrong in ("2", "0/2", "3/2", "a/b"):
        assert "--shard" in recjury("run", "c.yaml", "--shard", wrong).err
    assert "itself" in recjury("store", "merge", "1.db", "--into", "1.db").err
    assert recjury("store", "merge", "missing.db", "--into", "all.db").code == 2
