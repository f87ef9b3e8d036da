"""What a dry run says is at most asked: held against what a server is asked when all goes wrong."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recjury.agents.chat_system import ANSWERS
from recjury.campaign import CampaignConfig
from recjury.campaign.estimate import estimate
from recjury.corpora import open_corpus
from recjury.llm import ATTEMPTS
from recjury.records import Scenario, Speaker, Turn
from tests.campaign import player
from tests.cli.front_door import Ended, recjury
from tests.endpoint import Answer, Body, ScriptedEndpoint, prompt

Command = Callable[..., Ended]
STORE = ("--store", "sqlite:///runs.db")


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return lambda *arguments: recjury(monkeypatch, capsys, *arguments)


def _kind(body: Body) -> str:
    kind = player.kind(body)
    if kind != "user":
        return {"persuasiveness": "simulator/persuasiveness"}.get(kind, kind)
    rewrites = "You were about to say" in prompt(body)
    return "simulator/rewrite" if rewrites else "simulator/speak"


class _Worst:
    """The last reply that is asked for is the first usable one, every utterance names the target,
    and nobody agrees."""

    def __init__(self) -> None:
        self._asked: Counter[str] = Counter()

    def __call__(self, body: Body) -> Answer:
        kind, said = _kind(body), prompt(body)
        asked = said.partition("Your last reply to this could not be used")[0].strip()
        self._asked[asked] += 1
        if self._asked[asked] < (ANSWERS if kind == "system" else ATTEMPTS):
            return ""
        del self._asked[asked]
        if kind == "system":
            return 'Try "Zanzibar Nights".'
        if kind == "simulator/speak":
            title = re.search("title: (.*)", said)
            assert title is not None
            return f"Something like {title[1]}, please."
        return player.play(body)


def _dry(command: Command, campaign: str) -> dict[str, Any]:
    Path("campaign.yaml").write_text(campaign, "utf-8")
    ended = command("run", "campaign.yaml", "--dry-run", "--json", *STORE)
    assert ended.code == 0, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


def _models(endpoint: ScriptedEndpoint) -> str:
    return (
        "models:\n"
        f"  main: {{base_url: '{endpoint.url}', name: scripted, price_in: 1, price_out: 1}}\n"
        f"  vectors: {{base_url: '{endpoint.url}', name: vectors, embedding: true, price_in: 1}}\n"
    )


def test_when_all_goes_wrong_that_can_so_many_calls_are_made_and_no_more(command: Command) -> None:
    with ScriptedEndpoint(_Worst(), models=("scripted", "vectors")) as endpoint:
        played = "systems: [{kind: chatcrs, list_source: from_text}]\n"
        campaign = "scenarios: [{corpus: sample, limit: 2}]\n" + played + _models(endpoint)
        said = _dry(command, campaign)
        assert endpoint.bodies == []
        assert command("run", "campaign.yaml", *STORE, "--json").code == 0
        made = Counter(map(_kind, endpoint.bodies))
    most = dict(said["by_model"]["main"])
    assert most.pop("check") == 1, "each model is tried with a word or two"
    assert made == most
    assert said["calls"] == made.total() + len(said["by_model"])
    assert said["once"]["calls"] == 2 * (5 + 1 + 5 + 12 + 16) + 2
    assert said["cost"] > said["once"]["cost"] > 0


def test_embeddings_are_counted_by_batch_and_by_answer(command: Command) -> None:
    with ScriptedEndpoint(player.play, models=("scripted", "vectors")) as endpoint:
        systems = (
            "systems:\n"
            "  - {kind: chatcrs, name: near, embeddings: vectors}\n"
            "  - {kind: chatcrs, name: too, embeddings: vectors}\n"
            "  - {kind: chatcrs, name: named, list_source: from_text, embeddings: vectors}\n"
        )
        campaign = "scenarios: [{corpus: sample, limit: 2}]\n" + systems + _models(endpoint)
        most = _dry(command, campaign)["by_model"]["vectors"]
        assert command("run", "campaign.yaml", *STORE, "--json").code == 0
        made = Counter(
            "items" if str(body["input"][0]).startswith("Title: ") else "conversation"  # type: ignore[index]
            for body in endpoint.embedded
        )
    assert most["embedding/items"] == made["items"] > 1
    assert most["embedding/conversation"] == 2 * 2 * 5 >= made["conversation"] > 0


def test_who_opens_is_counted() -> None:
    """Where the history ends on the system, or there is none, the user says one thing more."""
    histories = [(), ("system",), ("system", "user")]
    scenarios = [
        Scenario(
            corpus="own/test",
            record=str(number),
            history=tuple(Turn(speaker=Speaker(who), text="Well.") for who in history),
        )
        for number, history in enumerate(histories)
    ]
    config = CampaignConfig.model_validate(
        {
            "scenarios": ["own"],
            "systems": ["retrieval", {"kind": "retrieval", "name": "again"}],
            "repeats": 3,
            "model": {"base_url": "http://127.0.0.1:1/v1", "name": "m"},
        }
    )
    found = estimate(config, {"own": open_corpus("sample")}, {"own": scenarios})
    once = {share.kind: share.once for share in found.breakdown}
    assert found.conversations == 2 * 3 * 3
    assert once["simulator/speak"] == 2 * 3 * (6 + 6 + 5)


def test_people_see_the_same_with_what_it_is_made_of(command: Command) -> None:
    campaign = "scenarios: [sample]\nsystems: [retrieval]\n"
    model = "model: {base_url: 'http://127.0.0.1:1/v1', name: m}\n"
    said = _dry(command, campaign + model)
    shown = command("run", "campaign.yaml", "--dry-run", "--limit", "1", *STORE)
    rows = {" ".join(line.split()) for line in shown.out.splitlines()}
    assert {"main: judge 12 36", "main: debate 16 48", "main: simulator/rewrite 0 15"} <= rows
    assert "calls 35 118" in rows
    assert said["calls"] == sum(share["most"] for share in said["breakdown"])
    Path("campaign.yaml").write_text(campaign, "utf-8")
    assert "no model is called" in command("run", "campaign.yaml", "--dry-run", *STORE).err


def test_a_dry_run_and_the_doctor_say_which_price_is_used(command: Command) -> None:
    models = (
        "models:\n"
        "  main: {base_url: 'https://api.openai.com/v1', name: gpt-4o}\n"
        "  own: {base_url: 'https://api.openai.com/v1', name: gpt-4o, price_in: 1, price_out: 2}\n"
        "  local: {base_url: 'http://127.0.0.1:1/v1', name: gpt-4o}\n"
    )
    prices = _dry(command, "scenarios: [sample]\nsystems: [retrieval]\n" + models)["prices"]
    assert prices["main"]["source"].endswith(": openai gpt-4o")
    assert prices["main"]["in"] > prices["main"]["cached"] > 0
    assert prices["own"] == {"in": 1, "out": 2, "cached": None, "source": "campaign file"}
    assert prices["local"] == {"in": None, "out": None, "cached": None, "source": None}
    said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Heat."}]
    Path("logs.jsonl").write_text(json.dumps({"messages": said}) + "\n", "utf-8")
    config = ("--config", "campaign.yaml")
    judged = command("judge", "logs.jsonl", *config, "--dry-run", "--json", *STORE)
    assert judged.code == 0, judged.err
    assert json.loads(judged.out)["prices"]["main"] == prices["main"]
    local = "model: {base_url: 'http://127.0.0.1:1/v1', name: m, price_in: 1, price_out: 2}\n"
    Path("campaign.yaml").write_text("scenarios: [sample]\nsystems: [retrieval]\n" + local)
    looked = command("doctor", "campaign.yaml", *STORE)
    rows = {" ".join(line.split()) for line in looked.out.splitlines()}
    priced = "prompts 1, replies 2 US dollars per million tokens (campaign file)"
    assert f"price of main ok {priced}" in rows
