"""A campaign on an endpoint of which 5 % of the requests fail in five ways, mixed."""

import itertools
import json
from collections import Counter
from pathlib import Path

import pytest

from recjury.records import Factor, Status
from recjury.store import Store
from tests.campaign import player
from tests.cli.front_door import recjury
from tests.endpoint import Answer, Body, Fault, ScriptedEndpoint, fingerprint

FAULTS = (
    Fault("status", 429, "slow down"),
    Fault("status", 500, "the worker failed"),
    Fault("drop"),
    Fault("raw", text='{"choices": [{"message": {"content": "<rating>3'),
    Fault("hang"),
)
TRIALS = 28
CAMPAIGN = f"""
scenarios: [{{corpus: sample, limit: {TRIALS}}}]
systems: [retrieval]
evaluators: [outcome, core]
model: {{base_url: 'URL', name: scripted, timeout: 8}}
"""


class Faulty:
    """A server that fails at every twentieth request, and notes what it has answered."""

    def __init__(self) -> None:
        self._number, self._kinds = itertools.count(1), itertools.cycle(FAULTS)
        self.answered: list[str] = []
        self.faults: Counter[str] = Counter()

    def __call__(self, body: Body) -> Answer:
        """An answer, or a fault."""
        if next(self._number) % 20 == 0:
            fault = next(self._kinds)
            self.faults[f"{fault.kind} {fault.status}"] += 1
            return fault
        self.answered.append(fingerprint(body))
        return player.play(body)


@pytest.mark.slow
def test_all_trials_finish_and_no_answered_call_is_sent_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    script = Faulty()
    with ScriptedEndpoint(script, latency=0.01) as endpoint:
        Path("campaign.yaml").write_text(CAMPAIGN.replace("URL", endpoint.url), "utf-8")
        ended = recjury(monkeypatch, capsys, "run", "campaign.yaml", "--store", "runs.db", "--json")
        sent = len(endpoint.bodies)
    assert ended.code == 0, ended.err
    json.loads(ended.out)
    with Store.open("runs.db") as store:
        results = [*store.results()]
        unfinished = store.unfinished_conversations()
        calls = len([*store.calls()])
        debates = store.debates()
    assert len(results) == TRIALS
    assert not unfinished
    for result in results:
        core = next(each for each in result.evaluations if each.label == "core")
        assert not core.failures
        scored = {rating.factor for rating in core.ratings if rating.status is Status.SCORED}
        assert scored >= set(Factor)
    assert len(debates) == TRIALS
    assert all(debate.score is not None for debate in debates)
    assert set(Counter(script.answered).values()) == {1}
    assert len(script.answered) == calls
    assert len(script.faults) == len(FAULTS)
    assert sent - len(script.answered) == sum(script.faults.values()) >= sent // 20
