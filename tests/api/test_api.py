"""`import recjury`, from scripts and from notebooks with a running loop."""

import asyncio
import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import recjury
from recjury.corpora import read_recordings
from recjury.store import Store
from tests.cli.front_door import recjury as command

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "python.md").read_text("utf-8")
(EXAMPLE,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
STORE = "sqlite:///runs.db"


class Polite:
    """Recommends one film, whatever is said; its methods are plain."""

    name = "polite"
    settings: dict[str, object] = {}  # noqa: RUF012 (as people write it)

    def respond(self, conversation: recjury.Conversation) -> recjury.SystemReply:
        return recjury.SystemReply(
            text="Please try Heat (1995).", items=(recjury.ItemRef(id=None, name="Heat (1995)"),)
        )

    def aclose(self) -> None:
        pass


class Length:
    """Rates how long the system's answers are."""

    name = "length"
    metrics = (recjury.Metric(id="words", title="Words a turn", digits=1),)

    def rate(self, log: recjury.ConversationLog) -> list[recjury.Rating]:
        words = [len(turn.text.split()) for turn in log.system_turns]
        score = sum(words) / len(words)
        return [recjury.Rating(evaluator="length", factor="words", score=score, high=None)]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _evaluate(**more: Any) -> recjury.Run:
    return recjury.evaluate(
        systems=[Polite(), "retrieval"], scenarios="sample", limit=2, store=STORE, **more
    )


def test_objects_are_evaluated_and_their_results_read() -> None:
    run = _evaluate(evaluators=["core", Length(), "outcome"])
    assert (run.result.planned, run.result.done, run.result.failed) == (4, 4, 0)
    assert run.systems["polite"]["length.words"]["mean"] == 4
    assert run.systems["polite"]["core.overall"]["n"] == 2
    gap = run.compare("polite", "retrieval").gaps["length.words"].difference
    assert gap.n == 2
    assert gap.difference is not None
    assert gap.difference < 0
    assert run.report("report.html").exists()


@pytest.mark.slow
def test_frames_hold_what_the_json_of_a_run_says() -> None:
    run = _evaluate()
    campaign = Path("campaign.yaml")
    campaign.write_text("scenarios: [{corpus: sample, limit: 2}]\nsystems: [retrieval]\n", "utf-8")
    ended = json.loads(
        subprocess.run(
            [sys.executable, "-m", "recjury", "run", "campaign.yaml", "--json", "--store", STORE],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        ).stdout
    )
    rows = recjury.open(STORE).of(ended["campaign"]).frame("ratings").to_pylist()
    for metric, said in ended["systems"]["retrieval"].items():
        scores = [row["score"] for row in rows if row["metric"] == metric]
        known = [score for score in scores if score is not None]
        assert said["n"] == len(known), metric
        if known:
            assert said["mean"] == pytest.approx(sum(known) / len(known)), metric
    assert {"conversation", "evaluation", "evaluator", "metric"} <= set(rows[0])
    for name in ("conversations", "evaluations", "turns", "statements", "calls"):
        assert recjury.open(STORE).frame(name).num_columns > 3
    assert run.campaign != ended["campaign"]


def test_what_is_stored_can_be_opened_and_judged_again() -> None:
    run = _evaluate(evaluators=["outcome"])
    again = recjury.judge(campaign=run.campaign[:6], evaluators=["core"], store=STORE)
    assert again.campaign == run.campaign
    assert again.result.evaluators == ("core",)
    stored = recjury.open(STORE).of(run.campaign)
    assert {"core.overall", "outcome.recall@10"} <= set(stored.systems["polite"])
    with Store.open(STORE) as store:
        logs = [store.log(each.id) for each in store.conversations()]
    elsewhere = recjury.judge(
        [log for log in logs if log is not None], evaluators=["core"], store="sqlite:///other.db"
    )
    assert elsewhere.systems["polite"]["core.overall"] == stored.systems["polite"]["core.overall"]


def test_a_running_loop_is_no_hindrance() -> None:
    async def notebook() -> recjury.Run:
        inner = _evaluate(evaluators=["outcome"])
        outer = await recjury.evaluate_async(
            systems=["retrieval"], limit=1, store=STORE, evaluators=["outcome"]
        )
        assert outer.result.done == 1
        return inner

    assert asyncio.run(notebook()).result.done == 4


@pytest.mark.slow
def test_the_same_objects_in_another_process_are_the_same() -> None:
    Path("mine.py").write_text(EXAMPLE, "utf-8")
    line = [sys.executable, "mine.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for _ in range(2):
        subprocess.run(line, check=True, capture_output=True, env=environment)
    with Store.open(STORE) as store:
        assert len(store.conversations()) == 6


@pytest.mark.slow
def test_the_example_runs_as_a_notebook(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the notebook's own libraries
        import nbformat
        from nbclient import NotebookClient

        definition, call = EXAMPLE.split("run = recjury.evaluate(")
        cells = [
            f"import sys; sys.path.insert(0, {str(ROOT)!r})",
            definition,
            f"run = recjury.evaluate({call}",
            "run = await recjury.evaluate_async(systems=[Mine()], limit=1, store='sqlite:///n.db')",
            "run.systems['mine']['core.overall']['n']",
        ]
        book: Any = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
        new_cell: Any = nbformat.v4.new_code_cell
        book.cells = [new_cell(cell) for cell in cells]
        client = NotebookClient(
            book, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
        )
        client.execute()
    assert book.cells[-1].outputs[0]["data"]["text/plain"] == "1"
    assert (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"systems": ["retreival"]}, "did you mean 'retrieval'"),
        ({"systems": ["retrieval"], "evaluators": ["fase"]}, "did you mean 'face'"),
        ({"systems": ["retrieval"], "evaluators": ["core", "core"]}, "two evaluators are named"),
        ({"systems": [object()]}, "is not a system: it has no"),
        (
            {"systems": ["retrieval"], "evaluators": [object()]},
            "is not an evaluator: it has no metrics",
        ),
        ({"systems": ["retrieval"], "repeat": 2}, "unknown key `repeat`"),
        ({"systems": ["retrieval"], "limt": 2}, "did you mean 'limit'?"),
        ({"systems": ["retrieval"], "limit": 0}, "limit must be at least 1, got 0"),
        ({"systems": [Polite]}, "give an object, such as Polite()"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(given: dict[str, Any], said: str) -> None:
    with pytest.raises(recjury.UserError) as caught:
        recjury.evaluate(**{"store": STORE, "limit": 1, **given})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not Path("runs.db").exists()


def test_every_public_name_is_there_and_nothing_heavy_comes_with_the_first() -> None:
    assert sorted(recjury.__all__) == list(recjury.__all__)
    assert all(hasattr(recjury, name) for name in recjury.__all__)
    probe = "import sys, recjury; print('torch' in sys.modules, 'pydantic' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]


def test_an_export_is_judged_elsewhere_under_the_same_ids(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _evaluate()
    assert command(monkeypatch, capsys, "export", "out", "--store", STORE).code == 0
    other = recjury.judge("out/conversations.jsonl", store="sqlite:///other.db")
    with Store.open(STORE) as one, Store.open("sqlite:///other.db") as two:
        assert {c.id for c in one.conversations()} == {c.id for c in two.conversations()}
        ids = [
            {e.evaluation for r in store.results() for e in r.evaluations if e.label == "core"}
            for store in (one, two)
        ]
    assert ids[0] == ids[1]
    assert other.result.done == 4
    assert len(list(read_recordings([Path("out/conversations.jsonl")]))) == 4
