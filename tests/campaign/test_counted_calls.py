"""What a campaign's calls took, by stage and model: in `status`, the report and Python."""

import json
from pathlib import Path
from typing import Any

import pytest

import recjury
from tests.campaign import player
from tests.cli.front_door import Command
from tests.endpoint import Answer, Body, Fault, ScriptedEndpoint, completion

STORE = "sqlite:///runs.db"


def _answer(body: Body) -> Answer:
    said = player.play(body)
    assert isinstance(said, str)
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "prompt_tokens_details": {"cached_tokens": 40},
    }
    return {**completion(said), "usage": usage}


def test_calls_are_counted_by_stage_and_model(command: Command) -> None:
    busy = iter([True, True])

    def answer(body: Body) -> Answer:
        if player.kind(body) == "judge" and next(busy, False):
            return Fault("status", 429, retry_after="0")
        return _answer(body)

    with ScriptedEndpoint(answer) as endpoint:
        spec = f"base_url: '{endpoint.url}', name: scripted, price_in: 1, price_out: 2"
        Path("campaign.yaml").write_text(
            "scenarios: [{corpus: sample, limit: 1}]\nsystems: [chatcrs]\n"
            f"models:\n  main: {{{spec}}}\n  strict: {{{spec}}}\n"
            "evaluators: [{kind: core, judges: {models: [strict]}, debate: {max_rounds: 1}}]\n",
            "utf-8",
        )
        ended = command("run", "campaign.yaml", "--store", STORE, "--report", "page.html")
        assert ended.code == 0, ended.err
    shown = command("status", "--store", STORE)
    (campaign,) = json.loads(command("status", "--json", "--store", STORE).out)["campaigns"]
    counts: dict[str, Any] = campaign["model_calls"]
    stages = {(each["stage"], each["model"]): each for each in counts["by_stage"]}
    assert set(stages) == {
        ("debate", "main"),
        ("judge", "strict"),
        ("simulator", "main"),
        ("system", "main"),
    }
    judged = stages["judge", "strict"]
    assert (judged["calls"], judged["retries"]) == (12, 2)
    assert (judged["prompt_tokens"], judged["cached_tokens"]) == (1200, 480)
    assert judged["cost"] == pytest.approx(12 * (100 + 2 * 10) / 1e6)
    assert 0 < judged["p50"] <= judged["p90"] <= judged["p99"]
    total = counts["total"]
    assert total["calls"] == campaign["calls"] == sum(e["calls"] for e in counts["by_stage"])
    assert [each["model"] for each in counts["by_model"]] == ["main", "strict"]
    for said in ("model calls of", "judge", "1,200", "p99 s"):
        assert said in shown.out
    page = Path("page.html").read_text("utf-8")
    assert '<th scope="row">judge</th><td class="left">strict</td><td>12</td>' in page
    found = recjury.open(STORE).model_calls()
    assert found.as_json() == counts


def test_without_calls_there_is_no_table(command: Command) -> None:
    Path("campaign.yaml").write_text(
        "scenarios: [{corpus: sample, limit: 1}]\nsystems: [retrieval]\n", "utf-8"
    )
    command("run", "campaign.yaml", "--store", STORE, "--report", "page.html")
    assert "model calls" not in command("status", "--store", STORE).out
    assert "Model calls" not in Path("page.html").read_text("utf-8")
    assert recjury.open(STORE).model_calls().total is None
