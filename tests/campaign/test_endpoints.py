"""Campaigns against endpoints that refuse, fall over, or have odd addresses."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from recjury.campaign.progress import Progress, UnitCounts
from recjury.cli.async_work import describe
from recjury.llm import GatewayUsage
from recjury.llm.endpoint_check import CHECK_PROMPT
from recjury.store import Store
from tests.campaign import player
from tests.cli.front_door import Command
from tests.endpoint import Answer, Body, Fault, ScriptedEndpoint, fingerprint, prompt

STORE = ("--store", "sqlite:///runs.db")
PLAYED = (
    "scenarios: [{corpus: sample, limit: 2}]\nsystems: [{kind: chatcrs, list_source: from_text}]\n"
)


def run(
    command: Command, url: str, model: str = "", *, code: int | None = 0
) -> tuple[dict[str, Any], str]:
    """The summary of a campaign with the model at `url`, and what it says on standard error."""
    given = f"model: {{base_url: '{url}', name: scripted{model}}}\n"
    Path("campaign.yaml").write_text(PLAYED + given, "utf-8")
    ended = command("run", "campaign.yaml", "--json", *STORE)
    assert code is None or ended.code == code, ended.err
    return json.loads(ended.out), ended.err


def refusal(status: int, message: str) -> Fault:
    """An error answer with that message."""
    return Fault("status", status, message)


def strict(body: Body) -> Answer:
    """A small model's server: no system role, strict turns, no temperature of 0, no max_tokens."""
    messages = body["messages"]
    assert isinstance(messages, list)
    roles = [message["role"] for message in messages]
    if "system" in roles:
        return refusal(400, "System role not supported")
    if roles != ["user", "assistant"] * (len(roles) // 2) + ["user"]:
        return refusal(500, "Jinja Exception: Conversation roles must alternate user/assistant/...")
    if body.get("temperature") == 0:
        return refusal(422, "Input validation error: `temperature` must be strictly positive")
    if "max_tokens" in body:
        return refusal(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'.")
    return player.play(body)


def test_a_server_of_a_small_model_is_served_without_a_setting(command: Command) -> None:
    with ScriptedEndpoint(strict, scripted_checks=True) as endpoint:
        result, _ = run(command, endpoint.url)
        sent = len(endpoint.bodies)
        asked = [body for body in endpoint.bodies if CHECK_PROMPT not in prompt(body)]
        assert all(body.get("temperature") != 0 for body in asked), "the check has learned that"
        run(command, endpoint.url)
        assert len(endpoint.bodies) <= sent + 6, "only the check"
    assert result["conversations"] == {"planned": 2, "done": 2, "failed": 0}
    assert result["evaluations"]["core"]["done"] == 2
    with Store.open("sqlite:///runs.db", create=False) as store:
        (campaign,) = store.campaigns()
    learned = campaign.learned["main"]
    assert isinstance(learned, dict)
    assert learned["system"] is True
    assert learned["lowest_temperature"] == 0.01
    assert learned["max_tokens"] == "max_completion_tokens"


def test_a_campaign_outlasts_an_outage(command: Command) -> None:
    since: list[float] = []

    def script(body: Body) -> Answer:
        if len(endpoint.bodies) > 25:
            since.append(time.monotonic())
            if time.monotonic() - since[0] < 2.5:
                return Fault("status", 503, "no healthy upstream")
        return player.play(body)

    with ScriptedEndpoint(script, scripted_checks=True) as endpoint:
        result, said = run(command, endpoint.url)
    assert result["conversations"] == {"planned": 2, "done": 2, "failed": 0}
    assert result["evaluations"]["core"]["done"] == 2
    assert said.count("endpoint does not answer") == 1
    assert said.count("endpoint answers again") == 1


def test_what_an_outage_took_is_left_to_do_and_nothing_else(command: Command) -> None:
    is_down = [True]

    def script(body: Body) -> Answer:
        if is_down[0] and len(endpoint.bodies) > 40:
            return Fault("drop")
        return player.play(body)

    with ScriptedEndpoint(script, scripted_checks=True) as endpoint:
        result, _ = run(command, endpoint.url, ", outage_patience: 1, retries: 1", code=3)
        answered = {fingerprint(body) for body in endpoint.bodies[:40]}
        assert result["evaluations"]["core"]["done"] < 2
        is_down[0] = False
        before = len(endpoint.bodies)
        result, _ = run(command, endpoint.url, ", outage_patience: 1, retries: 1")
        later = [
            body
            for body in endpoint.bodies[before:]
            if "test of the connection" not in prompt(body)
        ]
        assert not answered & {fingerprint(body) for body in later}
    assert result["conversations"] == {"planned": 2, "done": 2, "failed": 0}
    assert result["evaluations"]["core"]["done"] == 2


def test_a_moderation_403_stops_no_campaign_and_a_wrong_key_does(command: Command) -> None:
    def moderated(body: Body) -> Answer:
        if "Novelty" in prompt(body):
            return refusal(403, "Your input was flagged for violence")
        return player.play(body)

    with ScriptedEndpoint(moderated) as endpoint:
        result, _ = run(command, endpoint.url, code=None)  # a factor is unscored
    assert result["conversations"]["done"] == result["evaluations"]["core"]["done"] == 2
    with ScriptedEndpoint(player.play, key="secret") as endpoint:
        Path("campaign.yaml").write_text(
            PLAYED + f"model: {{base_url: '{endpoint.url}', name: scripted}}\n", "utf-8"
        )
        ended = command("run", "campaign.yaml", *STORE)
    assert ended.code == 2
    assert "HTTP 401" in ended.err


@pytest.mark.parametrize("more", ["/chat/completions", "/chat/completions/", "/completions", "/"])
def test_the_address_of_a_call_is_an_address(command: Command, more: str) -> None:
    with ScriptedEndpoint(player.play) as endpoint:
        result, _ = run(command, endpoint.url + more)
        again, _ = run(command, endpoint.url)
        assert endpoint.counts.most_common(1)[0][1] == 1
    assert result["campaign"] == again["campaign"]


@pytest.mark.parametrize(
    "given", ["api_key: sk-real", "token: sk-real", "extra: {api_key: sk-real}", "key_env: sk-real"]
)
def test_a_key_in_the_file_is_refused_and_not_shown(command: Command, given: str) -> None:
    model = f"model: {{base_url: 'http://127.0.0.1:1/v1', name: m, {given}}}\n"
    Path("campaign.yaml").write_text(PLAYED + model, "utf-8")
    ended = command("run", "campaign.yaml", *STORE)
    assert (ended.code, ended.out) == (2, "")
    (line,) = ended.err.splitlines()
    assert "key_env" in line
    assert "sk-real" not in line


def test_the_progress_line_says_how_long_an_endpoint_is_silent() -> None:
    usage = GatewayUsage(down={"http://127.0.0.1:1/v1 (m)": 100.0})
    progress = Progress(usage=usage, clock=lambda: 225.0)
    progress.begin(UnitCounts(4, 1), {})
    assert "http://127.0.0.1:1/v1 (m) has not answered for 2m05s" in describe(progress)
