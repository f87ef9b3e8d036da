"""The evaluators that ask a model are killed in each stage, and continued by the same command.

`tests/campaign/test_killed.py` kills a campaign in its conversations, its judges and its debate,
`tests/campaign/test_batches_killed.py` one that judges in batches.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.batch_judging import made_up_log
from tests.endpoint import RemoteEndpoint
from tests.frozen.adapter import durable_calls
from tests.frozen.played import command

ROOT = Path(__file__).parents[2]
ASPECTS = "[relevance, efficiency]"
EVALUATORS = (
    f"{{kind: face, aspects: {ASPECTS}, samples: 2, votes: 1}}",
    f"{{kind: g-eval, aspects: {ASPECTS}}}",
    "{kind: paireval, examples: {number: 1}}",
    "dialogue-quality",
    f"{{kind: llm-direct, aspects: {ASPECTS}}}",
    f"{{kind: llm-cot-icl, aspects: {ASPECTS}}}",
)
MOMENTS = (
    (1, "Divide what stands in <turn>", 2, "before"),
    (1, "Work by these instructions", 6, "after"),
    (2, "three to six numbered steps", 1, "after"),
    (2, "Evaluation form", 2, "before"),
    (3, "Reply with A or B alone", 3, "after"),
    (4, "Judge how satisfied", 2, "before"),
    (5, "Rate the turn in <rated_turn>", 1, "after"),
    (6, "<rated_turn>", 2, "before"),
)
"""How many of the evaluators judge, and the call during which they are killed."""


@pytest.fixture(scope="module")
def endpoint() -> Iterator[RemoteEndpoint]:
    with RemoteEndpoint("tests.frozen.player:play", latency=0.005) as running:
        yield running


def _prepare(folder: Path, endpoint: RemoteEndpoint, evaluators: int) -> list[str]:
    """The arguments of the command that judges; some evaluators have been added before it."""
    (folder / "logs.jsonl").write_text("".join(map(made_up_log, range(2))), "utf-8")
    text = f'model: {{base_url: "{endpoint.url}", name: scripted}}\n'
    text += f"concurrency: 4\nevaluators: [{', '.join(EVALUATORS[:evaluators])}]\n"
    (folder / "judges.yaml").write_text(text, "utf-8")
    store = "--store=sqlite:///store.db"
    return ["judge", "logs.jsonl", "--config", "judges.yaml", "--json", store]


def _ratings(folder: Path) -> list[str]:
    """All ratings, without the identities of evaluations and calls."""
    ended = command(folder, "export", "out", "--format", "jsonl", "--store=sqlite:///store.db")
    assert ended.code == 0, ended.err
    lines = (folder / "out" / "ratings.jsonl").read_text("utf-8").splitlines()
    rows = map(json.loads, lines)
    ids = {"conversation", "evaluation", "calls"}
    return sorted(json.dumps({k: v for k, v in row.items() if k not in ids}) for row in rows)


def _killed(folder: Path, endpoint: RemoteEndpoint, moment: tuple[int, str, int, str]) -> int:
    evaluators, containing, at, when = moment
    arguments = _prepare(folder, endpoint, evaluators)
    process = subprocess.Popen(
        [sys.executable, "-m", "recjury", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
    )
    wanted: Literal["before", "after"] = "before" if when == "before" else "after"
    endpoint.kill_at(process.pid, at, containing=containing, when=wanted)
    return process.wait(timeout=300)


def _finished(folder: Path, endpoint: RemoteEndpoint) -> Any:
    ended = command(folder, *_prepare(folder, endpoint, len(EVALUATORS)))
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


@pytest.mark.slow
def test_each_evaluator_is_killed_and_continued(
    endpoint: RemoteEndpoint, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = tmp_path_factory.mktemp("whole")
    expected = _finished(whole, endpoint)
    calls = durable_calls(whole / "store.db")
    assert sum(endpoint.counts.values()) == calls
    sent, repeated, durable = 0, 0, 0
    for moment in MOMENTS:
        before = len(endpoint.bodies)
        assert _killed(tmp_path, endpoint, moment) == -9, f"{moment} came too late"
        now = len(endpoint.bodies) - before
        kept = durable_calls(tmp_path / "store.db") - durable
        assert 0 <= kept <= now
        sent, repeated, durable = sent + now, repeated + now - kept, durable + kept
    before = len(endpoint.bodies)
    assert _finished(tmp_path, endpoint) == expected
    sent += len(endpoint.bodies) - before
    assert sent == calls + repeated, "asked again: only what was not durable"
    assert durable_calls(tmp_path / "store.db") == calls
    assert _ratings(tmp_path) == _ratings(whole)
