"""Offline campaigns: one reply to each history, from any system, in the tables and exports."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recjury.campaign.config import CampaignConfig
from recjury.campaign.identity import campaign_id
from recjury.judges.surface import words
from recjury.records import ConversationLog, Ending
from recjury.store import Store
from tests.agents.http_system import Asked, SystemServer, says
from tests.campaign import player
from tests.cli.front_door import Command
from tests.endpoint import ScriptedEndpoint
from tests.judges.outcome.test_offline import trec

STORE = "sqlite:///runs.db"
OFFLINE = "session: offline\nscenarios: [sample]\n"


def _ended(command: Command, text: str, code: int = 0, *more: str) -> Any:
    Path("campaign.yaml").write_text(text, "utf-8")
    ended = command("run", "campaign.yaml", "--store", STORE, *more)
    assert ended.code == code, ended.err
    return ended


def _run(command: Command, text: str, code: int = 0) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(_ended(command, text, code, "--json").out)
    return result


def _logs(system: str) -> list[ConversationLog]:
    with Store.open(STORE) as store:
        found = [store.log(each.id) for each in store.conversations() if each.system == system]
    return [log for log in found if log is not None]


def test_the_example_gives_the_means_of_trec_eval(command: Command) -> None:
    text = (Path(__file__).parents[2] / "examples" / "offline.yaml").read_text("utf-8")
    result = _run(command, text)
    assert list(result["systems"]) == ["retrieval", "popular"]
    for system, measured in result["systems"].items():
        logs = _logs(system)
        assert len(logs) == 52
        assert {log.ending for log in logs} == {Ending.OFFLINE}
        assert {len(log.interaction[0].items) for log in logs} == {50}
        by_record = trec(logs)
        new = [log.scenario.id for log in logs if not log.scenario.target_seen]
        for name in ("recall@1", "recall@10", "recall@50", "ndcg@10", "mrr@50"):
            for prefix, records in (("", list(by_record)), ("new_", new)):
                values = [by_record[record][name] for record in records]
                found = measured[f"offline.{prefix}{name}"]
                assert found["mean"] == pytest.approx(sum(values) / len(values), abs=1e-6)
                assert found["n"] == len(values)
                assert found["low"] <= found["mean"] <= found["high"]
    assert result["systems"]["retrieval"]["offline.recall@10"]["mean"] > 0.3
    again = _run(command, text)
    assert again["campaign"] == result["campaign"]
    compared = command("compare", "retrieval", "popular", "--store", STORE, "--json")
    assert "offline.ndcg@10" in json.loads(compared.out)["metrics"]
    assert command("export", "out", "--store", STORE).code == 0
    assert "offline" in Path("out/ratings.csv").read_text("utf-8")
    _assert_table_of_targets(command)


def _assert_table_of_targets(command: Command) -> None:
    """`offline.table` has each target as a query of its own, and all texts together."""
    shown = command("analyse", "offline.table", "--store", STORE, "--json")
    rows = json.loads(shown.out)["tables"]["offline"]
    assert [(row["system"], row["targets"]) for row in rows] == [
        ("retrieval", "all"),
        ("retrieval", "new"),
        ("popular", "all"),
        ("popular", "new"),
    ]
    for row in rows:
        logs = _logs(row["system"])
        if row["targets"] == "new":
            logs = [log for log in logs if not log.scenario.target_seen]
        by_target = trec([one for log in logs for one in _by_target(log)])
        assert (row["replies"], row["n"]) == (len(logs), len(by_target))
        for name in ("recall@1", "recall@50", "ndcg@10", "mrr@10"):
            mean = sum(values[name] for values in by_target.values()) / len(by_target)
            assert row[name]["value"] == pytest.approx(mean, abs=1e-6)
            assert row[name]["low"] <= mean <= row[name]["high"]
    said = [words(log.system_turns[0].text) for log in _logs("popular")]
    pairs = [pair for each in said for pair in itertools.pairwise(each)]
    assert rows[2]["distinct_2"] == pytest.approx(len(set(pairs)) / len(pairs))
    assert rows[2]["distinct_2_by_reply"] == pytest.approx(len(set(pairs)) / len(said))


def _by_target(log: ConversationLog) -> Iterator[ConversationLog]:
    for target in log.scenario.targets:
        changes = {"targets": (target,), "record": f"{log.scenario.record}/{target.id}"}
        yield log.model_copy(update={"scenario": log.scenario.model_copy(update=changes)})


def test_a_table_without_offline_replies_says_what_makes_them(command: Command) -> None:
    limited = "scenarios: [{corpus: sample, limit: 1}]\nsystems: [retrieval]\n"
    _run(command, f"{limited}evaluators: []\n")
    ended = command("analyse", "offline.table", "--store", STORE)
    assert ended.code == 2
    assert "has no replies to recorded histories: run one with `session: offline`" in ended.err
    _run(command, f"session: offline\n{limited}")
    ended = command("analyse", "offline.table", "--store", STORE, "--set", "cutoffs=[100]")
    assert ended.code == 2
    assert "only 50 items of each list count" in ended.err


def test_systems_behind_http_and_endpoints_answer_offline_too(command: Command) -> None:
    heard = []

    def script(asked: Asked) -> Any:
        said = asked.body["conversation"]
        if said[0]["text"] == "Hello":  # the check before the campaign
            return says({"text": "Hello!"})
        heard.append(said)
        assert asked.body["list_length"] == 50
        if len(heard) == 1:
            return says({"text": ""})
        return says({"text": "Try Heat.", "items": ["Heat (1995)"]})

    with SystemServer(script) as server, ScriptedEndpoint(player.play) as endpoint:
        result = _run(
            command,
            "session: offline\nscenarios: [{corpus: sample, limit: 3}]\n"
            "systems:\n"
            f"  - {{kind: http, name: mine, url: '{server.url}', retries: 0}}\n  - chatcrs\n"
            f"model: {{base_url: '{endpoint.url}', name: scripted, retries: 0}}\n",
            code=3,
        )
        asked = [player.kind(body) for body in endpoint.bodies]
    assert asked.count("system") == 3
    assert "user" not in asked
    assert result["conversations"] == {"planned": 6, "done": 5, "failed": 1}
    assert result["systems"]["mine"]["offline.recall@10"]["n"] == 2, "a failure is no miss"
    assert all(said[-1]["speaker"] == "user" for said in heard)


def test_outcomes_of_conversations_do_not_apply(command: Command) -> None:
    text = OFFLINE.replace("sample]", "{corpus: sample, limit: 2}]")
    result = _run(command, f"{text}systems: [retrieval]\nevaluators: [outcome, offline]\n")
    measured = result["systems"]["retrieval"]
    assert measured["outcome.rounds"]["mean"] == 1
    assert measured["outcome.leaks_caught"]["n"] == measured["outcome.persuasiveness"]["n"] == 0
    judged = command(
        "judge", "--campaign", result["campaign"], "--evaluator", "outcome", "--store", STORE
    )
    assert judged.code == 0, judged.err


def test_a_dry_run_counts_one_call_of_a_system_for_each_history(command: Command) -> None:
    model = "model: {base_url: 'http://127.0.0.1:9/v1', name: scripted}\n"
    ended = _ended(command, f"{OFFLINE}systems: [chatcrs]\n{model}", 0, "--dry-run", "--json")
    calls = {each["kind"]: each["once"] for each in json.loads(ended.out)["breakdown"]}
    assert not any(kind.startswith("simulator") for kind in calls)
    assert 52 in calls.values()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"{OFFLINE}systems: [retrieval]\nsimulator: {{kind: rule}}\n",
            "simulator: nobody plays a user in `session: offline`: leave it out",
        ),
        (
            f"{OFFLINE}systems: [retrieval]\nuser: {{knows: wishes}}\n",
            "user: nobody plays a user in `session: offline`: leave it out",
        ),
        (
            f"{OFFLINE}systems: [retrieval]\nevaluators: [offline, core]\n",
            "core rates whole conversations, and `session: offline` has one reply to each history",
        ),
        (
            "scenarios: [sample]\nsystems: [retrieval]\nevaluators: [offline]\n",
            "offline rates single replies to recorded histories: add `session: offline`",
        ),
        (
            f"{OFFLINE}systems: [retrieval]\nevaluators: [{{kind: offline, cutoffs: [0]}}]\n",
            "cutoffs",
        ),
        (
            "session: offlin\nscenarios: [sample]\nsystems: [retrieval]\n",
            "`session`: input should be 'simulated' or 'offline'",
        ),
        (
            "session: offline\nscenarios: ['bare:Bare']\nsystems: [retrieval]\n",
            "bare:Bare/test has no recorded dialogues with targets, which `session: offline` needs",
        ),
    ],
)
def test_what_an_offline_session_cannot_do_is_one_line(
    command: Command, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    Path("bare.py").write_text(
        "from recjury.corpora import ScenarioSet, open_corpus\n"
        "from recjury.records import Scenario\n"
        "class Bare:\n"
        "    name, splits = 'bare:Bare', ('test',)\n"
        "    def __init__(self, data):\n"
        "        self.catalogue = open_corpus('sample').catalogue\n"
        "        self.graph = open_corpus('sample').graph\n"
        "    def scenarios(self, split='test', limit=None, seed=0):\n"
        "        return ScenarioSet((Scenario(corpus='bare:Bare/test', record='1'),))\n"
    )
    monkeypatch.syspath_prepend(str(Path.cwd()))
    ended = _ended(command, text, 2)
    assert message in ended.err
    assert len(ended.err.strip().splitlines()) == 1


def test_older_campaigns_keep_their_identity() -> None:
    plain = {"scenarios": ["sample"], "systems": ["retrieval"]}
    default = campaign_id(CampaignConfig.model_validate(plain))
    assert default == campaign_id(CampaignConfig.model_validate({**plain, "session": "simulated"}))
    assert default != campaign_id(CampaignConfig.model_validate({**plain, "session": "offline"}))


RELUCTANT = """
from recjury.demo.popular import Popular


class Reluctant(Popular):
    async def respond(self, conversation):
        if len(conversation.turns) > 1:
            raise ValueError("sorry")
        return await super().respond(conversation)
"""


def test_replies_that_a_system_failed_to_give_are_lost(command: Command) -> None:
    Path("reluctant.py").write_text(RELUCTANT, "utf-8")
    own = "{kind: python, name: own, path: 'reluctant:Reluctant', isolate: thread}"
    own = own.replace("isolate", "options: {length: 50}, isolate")
    result = _run(command, f"{OFFLINE}systems: [{own}]\n", code=3)
    failed, planned = (result["conversations"][each] for each in ("failed", "planned"))
    assert 0 < failed < planned
    recall = result["systems"]["own"]["offline.recall@10"]
    assert recall["lost"] == pytest.approx(failed / planned)
    assert recall["worst_low"] <= recall["mean"] <= recall["worst_high"]
    shown = command("analyse", "offline.table", "--store", STORE).err
    assert f"{failed} of {planned} conversations failed" in shown
    assert "own lost ratings: " in shown
