"""`recjury judge --link-items`: logs without lists get the items that their texts name."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recjury
from recjury.prompts.fence import LINKED_LIST_NOTE
from recjury.records import Factor
from recjury.store import Store
from tests.campaign import player
from tests.cli.front_door import Ended
from tests.cli.front_door import recjury as run_command
from tests.endpoint import ScriptedEndpoint

Command = Callable[..., Ended]
STORE = "sqlite:///runs.db"
LISTED = {
    Factor.EFFECTIVENESS,
    Factor.NOVELTY,
    Factor.DIVERSITY,
    Factor.EXPLAINABILITY,
    Factor.GROUNDNESS,
}


def _row(number: int, **more: Any) -> str:
    said = [
        {
            "role": "user",
            "content": f"Fargo (1996) was number {number} for me. Another crime film?",
        },
        {
            "role": "assistant",
            "content": "Like Fargo (1996), Heat (1995) by Michael Mann is a crime film.",
        },
        {"role": "user", "content": "Thanks!"},
    ]
    row = {"messages": said, "id": str(number), "catalogue": "sample", "targets": ["Heat (1995)"]}
    return json.dumps(row | more)


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECJURY_DATA", raising=False)
    Path("chats.jsonl").write_text("\n".join(map(_row, range(2))), "utf-8")
    return lambda *arguments: run_command(monkeypatch, capsys, *arguments)


def _judge(command: Command, *options: str) -> dict[str, Any]:
    ended = command("judge", "chats.jsonl", "--json", "--store", STORE, *options)
    assert ended.code == 0, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


def _scored(result: dict[str, Any]) -> set[str]:
    (system,) = result["systems"].values()
    return {name for name, figures in system.items() if figures["n"]}


def test_only_linked_logs_have_scores_that_need_a_list(command: Command) -> None:
    plain = _judge(command)
    linked = _judge(command, "--link-items")
    # The measured judges of Groundness and Explainability need no list.
    gained = {
        f"core.{factor.lower()}" for factor in LISTED - {Factor.GROUNDNESS, Factor.EXPLAINABILITY}
    }
    assert gained <= _scored(linked)
    assert not gained & _scored(plain)
    assert {"outcome.recall@1", "outcome.hit_round"} <= _scored(linked) - _scored(plain)
    assert (plain["items_linked"], linked["items_linked"]) == (0, 2)
    assert plain["campaign"] != linked["campaign"]
    (why,) = [each for each in linked["unscored"] if each["metric"] == "Semantic Relevance"]
    assert (why["status"], why["count"]) == ("not_applicable", 2)
    assert "made of the names in the text" in why["reason"]


def test_it_is_said_in_the_terminal_the_report_the_replay_and_the_export(
    command: Command,
) -> None:
    judged = ("judge", "chats.jsonl", "--link-items", "--store", STORE, "--report", "page.html")
    said = "Items linked from the text in 2 of 2 conversations"
    assert said in command(*judged).err
    assert said in Path("page.html").read_text("utf-8")
    assert "linked from the text" in command("replay", "--all", "--store", STORE).out
    command("export", "out", "--format", "jsonl", "--store", STORE)
    rows = Path("out/conversation_scores.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(row)["items_linked"] for row in rows] == [True, True]
    again = command("judge", "out/conversations.jsonl", "--json", "--store", "sqlite:///other.db")
    assert json.loads(again.out)["items_linked"] == 2


def test_models_are_told_and_are_not_asked_about_semantic_relevance(command: Command) -> None:
    with ScriptedEndpoint(player.play) as endpoint:
        Path("judges.yaml").write_text(
            f"model: {{base_url: '{endpoint.url}', name: scripted, retries: 0}}\n"
            "evaluators: [{kind: core, debate: {max_rounds: 1}}]\n"
        )
        _judge(command, "--config", "judges.yaml", "--link-items")
        asked = [json.dumps(body["messages"]) for body in endpoint.bodies]
    with_list = [text for text in asked if "<recommendation_list>" in text]
    assert len(with_list) == 2 * (len(LISTED) + 3)
    assert all(LINKED_LIST_NOTE in text for text in with_list)
    assert not any(LINKED_LIST_NOTE in text for text in asked if text not in with_list)
    assert not any("You judge one factor: Semantic Relevance" in text for text in asked)
    ended = command("replay", "--verify", "--store", STORE)
    assert ended.code == 0, ended.out + ended.err


def test_identities_of_logs_that_are_not_linked_stay(command: Command) -> None:
    _judge(command)
    with Store.open(STORE) as store:
        found = {each.id for each in store.conversations()}
    # As they were before logs could be linked.
    assert found == {"a5e3d9a53658edd163ded95a3ea6c3c3", "2c7e1e481565c2cc2cd14b80cbed874b"}


def test_without_a_catalogue_nothing_is_judged(command: Command) -> None:
    Path("chats.jsonl").write_text(_row(1, catalogue=None, targets=[]), "utf-8")
    for more in ((), ("--dry-run",)):
        ended = command("judge", "chats.jsonl", "--link-items", "--store", STORE, *more)
        assert ended.code == 2
        assert 'names no catalogue, so its items cannot be linked: add "catalogue"' in ended.err
    assert not Path("runs.db").exists()


def test_it_is_about_files_not_about_a_stored_campaign(command: Command) -> None:
    ended = command("judge", "--campaign", "1", "--evaluator", "core", "--link-items")
    assert (ended.code, "--link-items are about files" in ended.err) == (2, True)
    with pytest.raises(recjury.errors.ConfigError, match="link_items is about logs and files"):
        recjury.judge(campaign="1", link_items=True, evaluators=["core"], store=STORE)


def test_from_python_for_files_and_for_logs(command: Command) -> None:
    from recjury.corpora import read_recordings

    run = recjury.judge("chats.jsonl", link_items=True, store=STORE)
    logs = [each.log for each in read_recordings([Path("chats.jsonl")])]
    again = recjury.judge(logs, link_items=True, store=STORE)
    plain = recjury.judge(logs, store=STORE)
    assert len({run.campaign, again.campaign, plain.campaign}) == 3
    with Store.open(STORE) as store:
        linked = [{each.log for each in store.results(r.campaign)} for r in (run, again, plain)]
        assert linked[0] == linked[1] != linked[2]
        assert all(each.items_linked for each in store.results(run.campaign))
