"""A campaign killed in each stage goes on, and asks again only what was not durable."""

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest

from recjury.store import Store
from tests.campaign import player
from tests.endpoint import RemoteEndpoint
from tests.frozen.adapter import durable_calls

CAMPAIGN = """
scenarios: [{{corpus: sample, limit: 2}}]
systems: [chatcrs, retrieval]
model: {{base_url: "{url}", name: scripted}}
evaluators:
  - outcome
  - core
  - {{kind: rubric, file: "{root}/examples/own_rubric.yaml"}}
  - {{kind: python, name: talk, path: "examples.own_evaluator:Talk"}}
concurrency: 8
"""
ROOT = Path(__file__).parents[2]
Result = dict[str, Any]


class Run(NamedTuple):
    """How a `recjury run` ended, and what it printed as JSON (None if it was killed)."""

    code: int
    result: Result | None


@pytest.fixture(scope="module")
def endpoint() -> Iterator[RemoteEndpoint]:
    with RemoteEndpoint("tests.campaign.player:play", latency=0.005) as running:
        yield running


def _run(
    folder: Path,
    endpoint: RemoteEndpoint,
    kill: tuple[str, int, str] | None = None,
    seconds: float = 300,
) -> Run:
    """Run the campaign, and kill it at a call, or when it has run for some `seconds`."""
    campaign = folder / "campaign.yaml"
    campaign.write_text(CAMPAIGN.format(url=endpoint.url, root=ROOT), "utf-8")
    command = [sys.executable, "-m", "recjury", "run", str(campaign), "--json"]
    command += ["--store", f"sqlite:///{folder}/store.db"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    if kill is not None:
        containing, at, when = kill
        moment: Literal["before", "after"] = "before" if when == "before" else "after"
        endpoint.kill_at(process.pid, at, containing=containing, when=moment)
    try:
        said, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        said, _ = process.communicate()  # it may just have ended
    return Run(process.returncode, json.loads(said) if process.returncode == 0 else None)


def _timeless(result: Result | None) -> Result:
    """A result without what a clock says."""
    assert result is not None
    systems = {
        name: {key: value for key, value in found.items() if key != "outcome.seconds_per_turn"}
        for name, found in result["systems"].items()
    }
    return {**result, "systems": systems}


@pytest.fixture(scope="module")
def whole(endpoint: RemoteEndpoint, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """The same campaign without interruption; the endpoint saw each of its calls once."""
    run = _run(tmp_path_factory.mktemp("whole"), endpoint)
    assert run.result is not None
    assert set(endpoint.counts.values()) == {1}
    return run.result


MOMENTS = (
    ("", 1, "before"),
    (player.SYSTEM, 2, "after"),
    (player.PERSUASIVENESS, 1, "after"),
    (player.JUDGE, 5, "before"),
    (player.JUDGE, 30, "after"),
    ("You judge one factor: Honesty.", 1, "before"),
    ("You judge one factor: Occasion.", 2, "after"),
    (player.DEBATER, 3, "before"),
    (player.DEBATER, 20, "after"),
)
"""Calls during which the campaign is killed, in the order in which it makes them."""


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_killed_in_each_stage_and_resumed(
    endpoint: RemoteEndpoint, whole: Result, tmp_path: Path
) -> None:
    sent, repeated, durable = 0, 0, 0
    for moment in MOMENTS:
        before = len(endpoint.bodies)
        killed = _run(tmp_path, endpoint, moment)
        assert killed.code == -9, f"{moment} came too late: it ended before"
        now = len(endpoint.bodies) - before
        kept = durable_calls(tmp_path / "store.db") - durable
        assert 0 <= kept <= now
        assert now > 0, f"{moment} came after the first call"
        sent, repeated, durable = sent + now, repeated + now - kept, durable + kept

    before = len(endpoint.bodies)
    resumed = _run(tmp_path, endpoint)
    sent += len(endpoint.bodies) - before
    assert _timeless(resumed.result) == _timeless(whole)
    assert sent == durable_calls(tmp_path / "store.db") + repeated, (
        "asked again: only what was not durable"
    )


@pytest.mark.slow
def test_a_finished_campaign_asks_nothing(
    endpoint: RemoteEndpoint, whole: Result, tmp_path: Path
) -> None:
    first = _run(tmp_path, endpoint).result
    assert _timeless(first) == _timeless(whole)
    before = len(endpoint.bodies)
    assert _run(tmp_path, endpoint).result == first
    assert len(endpoint.bodies) == before


KILLS = 200


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_killed_at_random_moments_it_ends_as_one_that_was_not(
    endpoint: RemoteEndpoint, whole: Result, tmp_path: Path
) -> None:
    chance = random.Random(27)
    begun = time.monotonic()
    _run(tmp_path, endpoint)
    longest = time.monotonic() - begun
    kills = 0
    while kills < KILLS:
        (tmp_path / "store.db").unlink()
        while (run := _run(tmp_path, endpoint, seconds=chance.uniform(0, longest))).code != 0:
            assert run.code == -signal.SIGKILL
            kills += 1
        assert _timeless(run.result) == _timeless(whole)
        with Store.open(str(tmp_path / "store.db"), read_only=True) as store:
            assert store.verify().problems == ()
