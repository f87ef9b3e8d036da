"""Evaluators in processes of their own: a bad evaluation fails with the reason, others go on."""

import asyncio
import re
from collections.abc import Iterator

import pytest

from recjury.corpora import open_corpus
from recjury.errors import ConfigError, UnitFailed
from recjury.isolation.launch import closes_files
from recjury.judges import Evaluator, EvaluatorContext
from recjury.judges.python.evaluator import PythonEvaluator
from recjury.records import ConversationRecord
from tests.judges.cases import a_log
from tests.judges.python import bad_evaluators
from tests.judges.python.bad_evaluators import LENGTH

PATH = f"{bad_evaluators.__name__}:Bad"
LATE = "^bad gave no ratings within 3 s$"
REASONS = {
    "sleep": LATE,
    "loop": LATE,
    "exit": r"^bad: raised SystemExit: 3 \(bad_evaluators.py:\d+\)$",
    "exit at once": "^bad: its process exited with code 4$",
    "crash": "^bad: its process was ended by signal 11",
    "close descriptors": "^bad: its process (closed its connection|exited with code)|" + LATE,
    "eat memory": r"^bad: its process used more than 300 MB of memory \(`memory_mb`\)",
    "raise": "^bad: raised ZeroDivisionError",
    "nothing": "^bad: expected a list of Rating, got NoneType$",
    "above": "^bad: a rating cannot be used|^bad: length is 11, outside its scale 0 to 10$",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    store = tmp_path_factory.mktemp("kept") / "runs.db"
    store.write_text("targets", "utf-8")
    return str(store)


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    """One event loop for all tests, as a campaign has one."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def bad(place: str) -> Evaluator:
    entry = PythonEvaluator(
        name="bad", path=PATH, options={"place": place}, timeout=3, memory_mb=300
    )
    assert entry.metrics == (LENGTH,)
    return entry.prepared(EvaluatorContext(open_corpus("sample")))


def rated(runner: asyncio.Runner, evaluator: Evaluator, *texts: str) -> list[float | str | None]:
    """The scores of logs that begin with these texts, at once, or why there is none."""

    async def together() -> list[object]:
        records = [ConversationRecord(a_log(text)) for text in texts]
        found = (evaluator.evaluate("rate", record, {}) for record in records)
        return await asyncio.gather(*found, return_exceptions=True)

    results = runner.run(together())
    return [
        str(each) if isinstance(each, UnitFailed) else each.ratings[0].score  # type: ignore[attr-defined]
        for each in results
    ]


@pytest.mark.parametrize("what", REASONS)
def test_a_bad_evaluation_fails_with_its_reason_and_others_go_on(
    runner: asyncio.Runner, bad: Evaluator, what: str
) -> None:
    (reason,) = rated(runner, bad, what)
    assert isinstance(reason, str)
    assert re.search(REASONS[what], reason), reason
    assert rated(runner, bad, "fine", "well") == [4, 4]


def test_it_cannot_read_the_store_by_its_path(runner: asyncio.Runner, bad: Evaluator) -> None:
    if not closes_files():
        pytest.skip("this kernel has no Landlock")
    assert "raised PermissionError" in str(rated(runner, bad, "store")[0])


def test_it_is_the_same_evaluator_wherever_it_runs(bad: Evaluator, place: str) -> None:
    here = PythonEvaluator(path=PATH, options={"place": place}, isolate="thread", name="bad")
    near = here.prepared(EvaluatorContext(open_corpus("sample")))
    assert (near.settings, near.data) == (bad.settings, bad.data)
    assert (near.metrics, near.open_at_once) == (bad.metrics, bad.open_at_once)
    assert near.isolation.startswith("thread (isolate: thread)")
    assert bad.isolation.startswith("process: ")


def test_one_that_takes_the_gateway_is_refused_in_one_line() -> None:
    asking = PythonEvaluator(path=f"{bad_evaluators.__name__}:Asking")
    with pytest.raises(ConfigError, match=r"takes the gateway, .* set `isolate: thread`$"):
        _ = asking.metrics
