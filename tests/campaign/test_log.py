"""The log of a run: what begins, ends and fails, in JSON lines beside the result."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.front_door import recjury

SYSTEM = """
from recjury.errors import SystemFailed
from recjury.records import SystemReply


class Own:
    def __init__(self, corpus, *, name):
        self.name, self.settings = name, {}
        self.asked = 0

    async def respond(self, conversation):
        self.asked += 1
        if self.asked == 1:
            raise SystemFailed("no answer from http://host/?api_key=hidden")
        return SystemReply(text="Hello.")

    async def aclose(self):
        raise OSError("Authorization: Bearer hidden")
"""
CAMPAIGN = """
scenarios: [{corpus: sample, limit: 2}]
simulator: {min_rounds: 1, max_rounds: 1}
systems: [{kind: python, name: own, path: "logged_system:Own"}]
evaluators: [{kind: outcome}]
"""


def test_conversations_and_evaluations_are_logged_from_begin_to_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECJURY_LOG", "info,json")
    Path("logged_system.py").write_text(SYSTEM, "utf-8")
    Path("campaign.yaml").write_text(CAMPAIGN, "utf-8")
    ended = recjury(
        monkeypatch, capsys, "run", "campaign.yaml", "--store", "sqlite:///runs.db", "--json"
    )
    assert ended.code == 3, ended.err
    assert "hidden" not in ended.err
    lines = [json.loads(line) for line in ended.err.splitlines() if line.startswith("{")]

    def of(event: str) -> list[dict[str, Any]]:
        return [line for line in lines if line["event"] == event]

    begun = {line["conversation"]: line for line in of("conversation begun")}
    assert len(begun) == 2
    (failed,), (done,) = of("conversation failed"), of("conversation ended")
    assert begun.keys() == {failed["conversation"], done["conversation"]}
    assert {line["system"] for line in begun.values()} == {"own"}
    assert failed["reason"].endswith("own: no answer from http://host/?api_key=[key]")
    assert failed["scenario"] == begun[failed["conversation"]]["scenario"]
    assert done["ending"] == "round_limit"
    (start,), (end,) = of("evaluation begun"), of("evaluation ended")
    assert start["evaluation"] == end["evaluation"]
    assert (end["evaluator"], end["complete"]) == ("outcome", True)
    (unclosed,) = of("system did not close")
    assert (unclosed["level"], unclosed["system"]) == ("warning", "own")
