"""The harness measures what it says: its ideal, its server, its keys."""

import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from benchmarks.chain import CALLS, WAVES, ideal_wall
from benchmarks.harness import TARGETS, server_process
from benchmarks.workload import many_requests

ROOT = Path(__file__).parents[2]


def test_a_dialogue_is_39_calls() -> None:
    assert (CALLS, sum(WAVES)) == (39, 39)


@pytest.mark.parametrize(
    ("dialogues", "places", "seconds"),
    [
        (1, 1, 39 * 0.2),  # one at a time
        (1, 12, len(WAVES) * 0.2),  # each wave at once
        (1, 4, (11 + 3 + 4) * 0.2),  # the judges in three goes
        (5, 1000, len(WAVES) * 0.2),  # dialogues do not wait for each other
    ],
)
def test_the_ideal_is_the_list_schedule(dialogues: int, places: int, seconds: float) -> None:
    assert ideal_wall(dialogues, places, 0.2) == pytest.approx(seconds)


@pytest.mark.parametrize("places", [32, 64, 128])
def test_no_schedule_beats_the_places(places: int) -> None:
    assert ideal_wall(200, places, 0.2) >= 200 * CALLS * 0.2 / places


def test_the_measured_calls_all_differ() -> None:
    requests = many_requests(100)
    assert len({request.messages for request in requests}) == 100


def test_the_server_answers_after_its_latency_and_never_twice_alike() -> None:
    body = json.dumps({"model": "x", "messages": [{"role": "user", "content": "y" * 5000}]})
    with server_process("benchmarks.server") as port:
        replies, started = [], time.perf_counter()
        for _ in range(2):
            url = f"http://127.0.0.1:{port}/50/v1/chat/completions"
            with urllib.request.urlopen(url, body.encode(), timeout=10) as response:
                replies.append(json.load(response)["choices"][0]["message"]["content"])
        assert time.perf_counter() - started >= 0.095  # the timer counts whole milliseconds
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/stats", timeout=10) as response:
            assert json.load(response)["calls"] == 2
    assert replies[0] != replies[1]
    assert all("<rating>3</rating>" in text for text in replies)


@pytest.mark.slow
def test_a_quick_run_prints_every_figure_that_has_a_target() -> None:
    command = [sys.executable, "-m", "benchmarks.harness", "--quick", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    summary = json.loads(done.stdout)
    for name in TARGETS:
        first, _, rest = name.partition(".")
        value = summary[first][rest] if rest else summary[first]
        assert isinstance(value, float)
    assert summary["judge_prompts"]["different"] == 0
    assert summary["judge_prompt_bytes_per_dialogue"] <= TARGETS["judge_prompt_bytes_per_dialogue"]
