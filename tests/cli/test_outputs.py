"""What commands print: the keys that scripts rely on, tables, progress off a terminal."""

import asyncio
import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recjury.agents.training.progress import Progress as TrainingProgress
from recjury.campaign.progress import Progress
from recjury.cli import train_progress
from recjury.cli.display import describe
from recjury.llm import GatewayUsage
from recjury.records import Factor
from recjury.store import Store
from tests.cli.front_door import Ended, recjury

Command = Callable[..., Ended]
STORE = ("--store", "sqlite:///runs.db")


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    """`recjury` in a folder with a store that holds two systems' recorded conversations."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECJURY_DATA", raising=False)

    def run(*arguments: object) -> Ended:
        return recjury(monkeypatch, capsys, *arguments)

    return run


def _line(system: str, number: int, answer: str) -> str:
    said = [
        {"speaker": "user", "text": "I would like a crime film. What do you recommend?"},
        {"speaker": "system", "text": answer, "items": ["Heat (1995)", "Alien (1979)"]},
        {"speaker": "user", "text": "Thank you!"},
    ]
    row = {"id": f"d{number}", "system": system, "catalogue": "sample", "interaction": said}
    return json.dumps(row | {"targets": ["Heat (1995)"]})


def _judged(command: Command) -> dict[str, Any]:
    for system, answer in (
        ("good", "You could try Heat (1995), since it is a crime film. Would you like that?"),
        ("bad", "She go to a a apple, he have much film."),
    ):
        lines = [_line(system, n, answer) for n in range(4)]
        Path(f"{system}.jsonl").write_text("\n".join(lines), "utf-8")
    ended = command("judge", "good.jsonl", "bad.jsonl", "--format", "jsonl", "--json", *STORE)
    assert ended.code == 0, ended.err
    result: dict[str, Any] = json.loads(ended.out)
    return result


def test_judge_prints_the_same_object_as_run(command: Command) -> None:
    result = _judged(command)
    assert result["trials"] == {"planned": 8, "done": 8, "failed": 0}
    assert set(result["systems"]) == {"good", "bad"}
    for system in result["systems"].values():
        assert set(system["factors"]) == {factor.value for factor in Factor}
        assert set(system["overall"]) == {"mean", "coverage"}
        assert set(system["recall"]) == {"1", "5", "10"}
        assert system["recall"]["1"] == 1.0
    assert (
        result["systems"]["good"]["overall"]["mean"] > result["systems"]["bad"]["overall"]["mean"]
    )


def test_compare_prints_the_keys_that_scripts_rely_on(command: Command) -> None:
    _judged(command)
    ended = command("compare", "good", "bad", "--json", *STORE)
    result = json.loads(ended.out)
    assert result["pairs"] == 0 or result["pairs"] == 4
    assert set(result["factors"]) == {factor.value for factor in Factor}
    for gap in (*result["factors"].values(), result["overall"]):
        assert {"difference", "low", "high", "p"} <= set(gap)
    assert result["overall"]["difference"] > 0


def test_replays_and_their_verification(command: Command) -> None:
    _judged(command)
    verified = json.loads(command("replay", "--all", "--verify", "--json", *STORE).out)
    assert verified == {"debates": 8, "verified": 8, "different": []}
    trial = json.loads(command("replay", "--json", *STORE).out)["debates"][0]["trial"]
    shown = command("replay", trial[:8], *STORE)
    assert "round 1" in shown.out
    assert "Common User (rule)" in shown.out


def test_export_report_status_and_doctor(command: Command) -> None:
    _judged(command)
    files = json.loads(command("export", "out", "--json", *STORE).out)["files"]
    with Path(next(file for file in files if file.endswith("trials.csv"))).open() as file:
        assert len(list(csv.DictReader(file))) == 8
    assert command("report", "--out", "r.html", *STORE).code == 0
    assert Path("r.html").read_text("utf-8").startswith("<!")
    standing = json.loads(command("status", "--json", *STORE).out)["campaigns"][0]
    assert (standing["planned"], standing["done"], standing["left"]) == (8, 8, 0)
    looked = json.loads(command("doctor", "--json", *STORE).out)
    assert looked["fine"] is True


def test_progress_off_a_terminal_is_plain_lines_on_standard_error(command: Command) -> None:
    Path("c.yaml").write_text("scenarios: [sample]\nsystems: [retrieval]\n", "utf-8")
    ended = command("run", "c.yaml", "--limit", 2, *STORE)
    assert ended.code == 0
    assert "2/2 trials" in ended.err
    assert "\x1b" not in ended.err + ended.out
    assert "retrieval" in ended.out


def test_a_report_that_could_not_be_written_is_refused_before_anything_is_run(
    command: Command,
) -> None:
    Path("c.yaml").write_text("scenarios: [sample]\nsystems: [retrieval]\n", "utf-8")
    Path("file").touch()
    for place in ("/dev/null", ".", "file/report.html"):
        ended = command("run", "c.yaml", "--limit", 1, "--report", place, "--store", "new.db")
        assert (ended.code, ended.out) == (2, "")
        assert f"cannot write the report to {place}: " in ended.err
    assert not Path("new.db").exists()


def test_a_training_says_which_epoch_it_is_in_and_how_long_it_may_take() -> None:
    clock = iter((0.0, 30.0, 60.0)).__next__
    training = TrainingProgress(clock=clock)
    assert train_progress.describe(training) == "reading data"
    training.begin("recommender", epochs=4, steps=3)
    assert train_progress.describe(training).endswith("epoch 1 of 4 at most: 0/3 batches")
    for _ in range(3):
        training.step()
    assert train_progress.describe(training) == (
        "recommender, epoch 1 of 4 at most: 3/3 batches · 1m30s left"
    )
    training.step()
    assert "epoch 2 of 4 at most: 1/3 batches · 2m00s left" in train_progress.describe(training)


def test_progress_before_anything_is_planned_counts_nothing() -> None:
    assert describe(Progress(usage=GatewayUsage())) == "reading data and loading systems"


def test_progress_says_how_often_something_was_tried_again() -> None:
    progress = Progress(planned=3, usage=GatewayUsage(calls=2))
    assert describe(progress) == "0/3 trials · 2 calls (0 reused, 0 in flight) · 0 tokens · $0.0000"
    assert progress.usage is not None
    progress.usage.retried = 7
    assert "2 calls (0 reused, 0 in flight, 7 tried again)" in describe(progress)


def test_a_trial_without_a_debate_shows_how_far_it_came(command: Command) -> None:
    text = "scenarios: [sample]\nsystems: [retrieval]\ndebate: {kind: off}\n"
    Path("c.yaml").write_text(text, "utf-8")
    assert command("run", "c.yaml", "--limit", 1, *STORE).code == 0
    command("export", "out", "--format", "jsonl", *STORE)
    trial = json.loads(Path("out/trials.jsonl").read_text("utf-8"))["trial"]
    (shown,) = json.loads(command("replay", trial, "--json", *STORE).out)["undebated"]
    assert (shown["trial"], len(shown["log"]["interaction"])) == (trial, 2 * 3)
    assert {rating["factor"] for rating in shown["ratings"]} >= set(Factor)
    watched = command("replay", trial, *STORE)
    assert watched.code == 0
    assert re.search(r"Coherence: [0-4]  ", watched.out)
    assert "the debate is off" in watched.out


def test_what_failed_and_was_done_since_is_not_why_there_is_no_debate(command: Command) -> None:
    text = "scenarios: [sample]\nsystems: [retrieval]\ndebate: {kind: off}\n"
    Path("c.yaml").write_text(text, "utf-8")
    assert command("run", "c.yaml", "--limit", 1, *STORE).code == 0
    with Store.open(STORE[1]) as store:
        (trial,) = (each.id for each in store.trials())
        for stage, shown in (("rate", "the debate is off"), ("debate", "debate failed: too dear")):
            asyncio.run(store.save_failure(trial, stage, "too dear"))
            found = json.loads(command("replay", trial, "--json", *STORE).out)["undebated"]
            assert shown in found[0]["reason"]
