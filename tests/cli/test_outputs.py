"""What commands print: the keys that scripts rely on, tables, progress off a terminal."""

import asyncio
import csv
import json
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recjury.agents.training.report import TrainingSteps
from recjury.campaign.progress import Progress, UnitCounts
from recjury.cli.async_work import describe
from recjury.cli.named_analysis import ShownProgress
from recjury.cli.progress_line import progress_line
from recjury.llm import GatewayUsage
from recjury.records import Factor, metric_id
from recjury.store import PlannedEvaluation, Store
from tests.cli.front_door import Ended, recjury
from tests.report.filling import Played, fill

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
    assert set(result) == {
        "answer",
        "caveats",
        "unscored",
        "verdicts",
        "campaign",
        "conversations",
        "evaluations",
        "systems",
        "noise",
        "set_aside",
        "failures",
        "skipped",
        "held_back",
        "stopped",
        "items_linked",
    }
    assert result["conversations"] == {"planned": 8, "done": 8, "failed": 0}
    done = {"planned": 8, "done": 8, "failed": 0, "waiting": 0}
    assert result["evaluations"] == {"outcome": done, "core": done}
    good, bad = (result["systems"][name] for name in ("good", "bad"))
    assert {f"core.{metric_id(factor)}" for factor in Factor} < set(good)
    assert all(set(each) == {"mean", "low", "high", "n", "coverage"} for each in good.values())
    assert good["outcome.recall@1"]["mean"] == 1.0
    assert good["core.overall"]["mean"] > bad["core.overall"]["mean"]
    # Nobody reacted to the system: there is nobody to be persuaded.
    assert good["outcome.persuasiveness"]["coverage"] is None


def test_compare_prints_the_keys_that_scripts_rely_on(command: Command) -> None:
    _judged(command)
    refused = command("compare", "good", "bad", *STORE)
    assert (refused.code, "no scenario in common" in refused.err) == (2, True)
    forced = ("compare", "good", "bad", "--force", *STORE)
    result = json.loads(command(*forced, "--json").out)
    assert (result["pairs"], result["paired"]) == (0, False)
    for gap in result["metrics"].values():
        assert set(gap) == {
            *("difference", "low", "high", "p", "smallest_p", "n", "effect_size", "sd"),
        }
    assert result["metrics"]["core.overall"]["difference"] > 0
    shown = command(*forced, "--metric", "core.overall")
    assert "core.overall" in shown.out
    assert "recall" not in shown.out
    plain = command(*forced).out
    first = next(line for line in plain.splitlines()[3:] if line.strip())
    assert first.split()[0] == "core.overall"
    assert "outcome.rounds" not in plain
    assert "outcome.rounds" in command(*forced, "--all-metrics").out
    assert "outcome.rounds" in command(*forced, "--metric", "outcome.rounds").out
    assert "unpaired" in shown.err
    none = command(*forced, "--metric", "core.appropriateness")
    assert none.out == ""
    assert "none of these metrics has a score of both systems" in none.err


def test_compare_of_many_with_all_that_it_can_show(command: Command, tmp_path: Path) -> None:
    with Store.open("sqlite:///runs.db") as store:
        played = [
            Played(
                system,
                str(record),
                repeat=repeat,
                scores=[(40.0 + 9 * place + 3 * (record % 5) + 2 * repeat,) * 4],
            )
            for place, system in enumerate("abc")
            for record in range(12)
            for repeat in range(2)
        ]
        fill(store, played)
    options = ("--metric", "core.overall", "--margin", "12", "--power", "--good", "core.overall=50")
    result = json.loads(command("compare", "a", "b", "c", *options, "--json", *STORE).out)
    assert set(result) == {"comparisons", "noise", "pass"}
    assert [(each["a"], each["b"]) for each in result["comparisons"]] == [
        ("a", "b"), ("a", "c"), ("b", "c"),
    ]  # fmt: skip
    first = result["comparisons"][0]
    assert first["margin"] == 12
    assert first["metrics"]["core.overall"]["equivalence_p"] < 0.05
    assert result["noise"]["core.overall"]["repeats"] == 36
    assert [each["k"] for each in result["pass"]["c"]] == [1, 2]
    assert result["pass"]["c"][1]["rate"] == 1.0
    shown = command("compare", "a", "b", "c", *options, *STORE)
    assert shown.code == 0, shown.err
    for part in ("effect", "p within ±12", "noise floor", "pass^2", "5% of the scale"):
        assert part in shown.out
    for wrong, said in (
        (("a",), "expected at least two systems"),
        (("a", "b", "--margin", "0"), "--margin must be a number above 0"),
        (("a", "b", "--good", "core.overall"), "expected METRIC=VALUE"),
        (("a", "b", "--good", "core.overal=1"), "did you mean 'core.overall'"),
        (("--evaluators", "a", "b", "c"), "expected two evaluators"),
        (("--evaluators", "a", "b", "--force"), "are for systems"),
    ):
        ended = command("compare", *wrong, *STORE)
        assert (ended.code, ended.err.count("\n")) == (2, 1), ended.err
        assert said in ended.err


def test_compare_holds_evaluators_against_each_other(command: Command) -> None:
    _judged(command)
    strict = "evaluators: [{kind: core, name: strict, debate: {max_rounds: 1}}]\n"
    Path("c.yaml").write_text(strict, "utf-8")
    campaign = json.loads(command("status", "--json", *STORE).out)["campaigns"][0]["campaign"]
    ended = command("judge", "--campaign", campaign, "--config", "c.yaml", *STORE)
    assert ended.code == 0, ended.err
    ended = command("compare", "--evaluators", "core", "strict", "--json", *STORE)
    result = json.loads(ended.out)
    assert result["pairs"] == 8
    assert result["metrics"]["coherence"]["difference"] == 0.0
    shown = command("compare", "--evaluators", "core", "strict", *STORE)
    assert "Spearman" in shown.out
    assert "over 8 conversations that both rated" in shown.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("godd", "bad"), "no system is called godd; did you mean 'good'"),
        (("good", "bad", "--metric", "core.overal"), "did you mean 'core.overall'"),
        (("--evaluators", "cor", "outcome"), "no evaluator is called cor; did you mean 'core'"),
    ],
)
def test_compare_says_the_nearest_name(
    command: Command, arguments: tuple[str, ...], said: str
) -> None:
    _judged(command)
    ended = command("compare", *arguments, *STORE)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1


def test_replays_and_their_verification(command: Command) -> None:
    _judged(command)
    verified = json.loads(command("replay", "--all", "--verify", "--json", *STORE).out)
    assert verified == {"debates": 8, "verified": 8, "different": []}
    debate = json.loads(command("replay", "--json", *STORE).out)["debates"][0]["evaluation"]
    shown = command("replay", debate[:8], *STORE)
    assert "round 1" in shown.out
    assert "Common User (rule)" in shown.out


def test_export_report_status_and_doctor(command: Command) -> None:
    _judged(command)
    files = json.loads(command("export", "out", "--json", *STORE).out)["files"]
    with Path(next(file for file in files if file.endswith("conversations.csv"))).open() as file:
        assert len(list(csv.DictReader(file))) == 8
    assert command("report", "--out", "r.html", *STORE).code == 0
    assert Path("r.html").read_text("utf-8").startswith("<!")
    standing = json.loads(command("status", "--json", *STORE).out)["campaigns"][0]
    done = {"planned": 8, "done": 8, "failed": 0, "waiting": 0}
    assert standing["conversations"] == done
    assert standing["evaluations"] == {"outcome": done, "core": done}
    assert "core" in command("status", *STORE).out
    looked = json.loads(command("doctor", "--json", *STORE).out)
    assert looked["fine"] is True


def test_progress_off_a_terminal_is_plain_lines_on_standard_error(command: Command) -> None:
    Path("c.yaml").write_text("scenarios: [sample]\nsystems: [retrieval]\n", "utf-8")
    ended = command("run", "c.yaml", "--limit", 2, *STORE)
    assert ended.code == 0
    assert "2/2 conversations" in ended.err
    assert "\x1b" not in ended.err + ended.out
    assert "retrieval" in ended.out


def test_progress_off_a_terminal_does_not_repeat_a_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = threading.Event()
    lines = iter(["reading"] * 3 + ["2/2"])

    def line() -> str:
        text = next(lines, "2/2")
        if text == "2/2":
            told.set()
        return text

    with progress_line(line, lambda: 0.0, every=0.001):
        assert told.wait(10)
    assert capsys.readouterr().err.splitlines()[:2] == ["reading", "2/2"]


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
    shown = ShownProgress()
    training = TrainingSteps("recommender", 4, 3, shown, clock, done=2)
    assert shown.line() == "reading data"
    training.step()
    assert shown.line() == "recommender, epoch 1 of 4 at most: 3/3 batches · 1m30s left"
    assert shown.share == 0.25
    training.step()
    assert "epoch 2 of 4 at most: 1/3 batches · 2m00s left" in shown.line()


def test_progress_before_anything_is_planned_counts_nothing() -> None:
    assert describe(Progress(usage=GatewayUsage())) == "reading data and loading systems"
    assert describe(Progress(beginning="waiting for 4")) == "waiting for 4"


def test_progress_says_how_often_something_was_tried_again() -> None:
    progress = Progress(conversations=UnitCounts(planned=3), usage=GatewayUsage(calls=2))
    assert describe(progress) == (
        "0/3 conversations · 2 calls (0 reused, 0 in flight) · 0 tokens · $0.0000"
    )
    assert progress.usage is not None
    progress.usage.retried = 7
    assert "2 calls (0 reused, 0 in flight, 7 tried again)" in describe(progress)


def test_progress_says_what_other_processes_still_do() -> None:
    progress = Progress(elsewhere=2)
    progress.begin(UnitCounts(planned=3), {})
    progress.finish(progress.conversations)
    assert describe(progress) == "1/3 conversations · conversations left with other processes: 2"


_UNDEBATED = "evaluators: [{kind: core, debate: {kind: off}}]\n"


def test_a_conversation_without_a_debate_shows_how_far_it_came(command: Command) -> None:
    text = f"scenarios: [sample]\nsystems: [retrieval]\n{_UNDEBATED}"
    Path("c.yaml").write_text(text, "utf-8")
    assert command("run", "c.yaml", "--limit", 1, *STORE).code == 0
    command("export", "out", "--format", "jsonl", *STORE)
    held = json.loads(Path("out/conversations.jsonl").read_text("utf-8"))["conversation"]
    (shown,) = json.loads(command("replay", held, "--json", *STORE).out)["undebated"]
    assert (shown["conversation"], len(shown["log"]["interaction"])) == (held, 2 * 3)
    assert {rating["factor"] for rating in shown["ratings"]} >= set(Factor)
    watched = command("replay", held, *STORE)
    assert watched.code == 0
    assert re.search(r"Coherence: [0-4]  ", watched.out)
    assert "the debate is off" in watched.out


def test_what_failed_and_was_done_since_is_not_why_there_is_no_debate(command: Command) -> None:
    text = f"scenarios: [sample]\nsystems: [retrieval]\n{_UNDEBATED}"
    Path("c.yaml").write_text(text, "utf-8")
    assert command("run", "c.yaml", "--limit", 1, *STORE).code == 0
    with Store.open(STORE[1]) as store:
        (held,) = store.results()
        (core,) = store.evaluators()
        assert held.log is not None
        planned = PlannedEvaluation(
            identity=held.evaluations[0].evaluation, log=held.log, evaluator=core.id
        )
        for stage, shown in (("rate", "the debate is off"), ("debate", "debate failed: too dear")):
            asyncio.run(store.save_failure(planned.identity, stage, "too dear"))
            found = json.loads(command("replay", held.conversation, "--json", *STORE).out)
            assert shown in found["undebated"][0]["reason"]


def test_an_interrupt_before_the_work_begins_is_one_line(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("recjury.campaign.read_config", interrupt)
    ended = command("demo", *STORE)
    assert ended == (
        130,
        "",
        "recjury: interrupted; finished work is kept: run the same command to continue\n",
    )
