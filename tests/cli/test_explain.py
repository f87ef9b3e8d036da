"""`recjury explain`: ratings, the evidence for them, and the calls behind them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.front_door import Ended, recjury

Command = Callable[..., Ended]
STORE = ("--store", "runs.db")
OWN = """
from recjury.records import Evidence, Metric, Rating

class Sure:
    metrics = (Metric(id="sure", title="Sure of itself", low=0, high=1),)

    def rate(self, log):
        text = log.interaction[1].text
        start = text.index("certainly")
        return [
            Rating(evaluator="sure", factor="sure", score=1, low=0, high=1, rationale="one word"),
            Evidence(factor="sure", label="certainty", note="strong", turn=1,
                     span_start=start, span_end=start + len("certainly")),
            {extra}
        ]
"""
CAMPAIGN = "evaluators: [outcome, {kind: python, name: own, path: 'own:Sure'}]\n"


@pytest.fixture
def judged(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., Ended]:
    """Judge one conversation with an own evaluator whose list has one more entry."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECJURY_DATA", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    said = [
        {"speaker": "user", "text": "I would like a crime film."},
        {"speaker": "system", "text": "\x1b[31mYou will certainly like Heat."},
    ]
    row = {"id": "d0", "system": "some", "catalogue": "sample", "interaction": said}
    Path("recorded.jsonl").write_text(json.dumps(row), "utf-8")
    Path("campaign.yaml").write_text(CAMPAIGN)

    def judge(extra: str = "") -> Ended:
        monkeypatch.delitem(__import__("sys").modules, "own", raising=False)
        Path("own.py").write_text(OWN.replace("{extra}", extra))
        command = ("judge", "recorded.jsonl", "--config", "campaign.yaml", "--json", *STORE)
        return recjury(monkeypatch, capsys, *command)

    return judge


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """`recjury`, as a function."""
    return lambda *arguments: recjury(monkeypatch, capsys, *arguments)


def test_evidence_is_shown_with_its_rating_and_in_the_report(
    judged: Command, command: Command
) -> None:
    assert judged().code == 0
    out = Path("exported")
    assert command("export", out, *STORE).code == 0
    _, row = (out / "evidence.csv").read_text().splitlines()
    assert row.endswith('"own.sure",1,14,23,"certainty","strong"')
    evaluation = row.split('","')[3]
    shown = command("explain", evaluation[:10], *STORE)
    assert "sure: 1 (0 to 1) by sure\n    one word\n" in shown.out
    assert "- turn 2, certainty 'certainly': strong\n" in shown.out
    told = json.loads(command("explain", evaluation, "--json", *STORE).out)
    ((rating,),) = [each["ratings"] for each in told["evaluations"]]
    assert rating["evidence"][0]["text"] == "certainly"
    whole = command("explain", row.split('","')[0].strip('"'), *STORE).out
    assert "outcome (outcome): evaluation" in whole
    assert "own (python): evaluation" in whole
    assert "\x1b" not in whole
    assert command("report", "--out", "report.html", *STORE).code == 0
    assert "turn 2, certainty &#39;certainly&#39;: strong" in Path("report.html").read_text()


@pytest.mark.parametrize(
    ("extra", "why"),
    [
        ("Evidence(factor='other', label='x')", "which it did not declare"),
        ("Evidence(factor='sure', label='x', turn=7)", "in turn 7, which is not there"),
        (
            "Evidence(factor='sure', label='x', turn=0, span_start=0, span_end=99)",
            "ends after turn 0",
        ),
    ],
)
def test_evidence_that_is_not_in_the_log_fails_its_evaluation(
    judged: Command, extra: str, why: str
) -> None:
    ended = judged(extra)
    assert ended.code == 3
    assert why in ended.out + ended.err


def test_what_is_not_there_is_said_in_one_line(judged: Command, command: Command) -> None:
    assert judged().code == 0
    ended = command("explain", "nosuch", *STORE)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "no evaluation begins with nosuch" in ended.err
