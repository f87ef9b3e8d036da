"""A campaign that runs in another process is looked at, and its limits are changed."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from recjury.campaign.tuning import parse_settings
from recjury.errors import ConfigError
from tests.campaign import player
from tests.endpoint import ScriptedEndpoint

CAMPAIGN = """
scenarios: [{{corpus: sample, limit: 2}}]
systems: [chatcrs]
model: {{base_url: "{url}", name: scripted}}
evaluators: [outcome, core]
concurrency: 1
limits: {{simulator: 3}}
"""
ROOT = Path(__file__).parents[2]


def recjury(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """`recjury ARGUMENTS` in a process of its own."""
    command = [sys.executable, "-m", "recjury", *arguments, "--store", f"sqlite:///{folder}/s.db"]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, timeout=120, check=False
    )


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until the condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.05)


@pytest.mark.slow
def test_a_running_campaign_is_followed_and_tuned(tmp_path: Path) -> None:
    with ScriptedEndpoint(player.play, latency=0.4) as endpoint:
        campaign = tmp_path / "campaign.yaml"
        campaign.write_text(CAMPAIGN.format(url=endpoint.url), "utf-8")
        store = ["--store", f"sqlite:///{tmp_path}/s.db"]
        command = [sys.executable, "-m", "recjury", "run", str(campaign), "--json", *store]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": ROOT}
        run = subprocess.Popen(command, **pipes)  # type: ignore[call-overload]
        follow = None
        try:
            until(lambda: len(endpoint.bodies) > 2)
            command = [sys.executable, "-m", "recjury", "status", "--follow", "--every", "0.3"]
            follow = subprocess.Popen([*command, "--json", *store], **pipes)  # type: ignore[call-overload]
            assert endpoint.most_in_flight == 1
            found = json.loads(recjury(tmp_path, "status", "--json").stdout)["campaigns"]
            name = found[0]["campaign"]
            wrong = recjury(tmp_path, "tune", name, "concurrency=0")
            assert (wrong.returncode, wrong.stdout) == (2, "")
            assert "concurrency must be from 1 to 4096" in wrong.stderr
            tuned = recjury(tmp_path, "tune", name[:4], "concurrency=16", "judges=6")
            assert (tuned.returncode, tuned.stderr) == (
                0,
                f"campaign {name}: changed: concurrency=16, judges=6\n",
            )
            until(lambda: endpoint.most_in_flight > 1)
            printed, _ = run.communicate(timeout=120)
            assert run.returncode == 0, printed
            assert endpoint.most_in_flight <= 6
            looks = [json.loads(line) for line in follow.communicate(timeout=30)[0].splitlines()]
        finally:
            for process in (run, follow):
                if process is not None and process.poll() is None:
                    process.kill()
        states = [look["running"] for look in looks if look["running"]]
        assert states[0]["limits"] == {"simulator": 3}
        assert {each["concurrency"] for each in states} == {1, 16}
        assert states[-1]["limits"] == {"judges": 6, "simulator": 3}
        assert states[-1]["models"]["main"]["endpoint"].startswith(endpoint.url)
        assert looks[-1]["running"] is None
        assert looks[-1]["conversations"]["done"] == 2
        assert looks[0]["calls"] < looks[-1]["calls"]
        ended = recjury(tmp_path, "tune", name, "concurrency=8")
        assert ended.returncode == 2
        assert ended.stderr.startswith(f"recjury: campaign {name} is not running")
        assert ended.stderr.count("\n") == 1
        assert recjury(tmp_path, "status", "--follow").returncode == 2
        assert {path.name for path in tmp_path.iterdir()} <= {
            "campaign.yaml", "s.db", "s.db-wal", "s.db-shm",
        }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["concurrency"], "'concurrency' is not NAME=NUMBER with one of: concurrency, simulator"),
        (["judge=3"], "'judge=3' is not NAME=NUMBER"),
        (["other.concurrency=3"], "main.concurrency"),
        (["judges=-1"], "judges must be from 1 to 4096, or none, got '-1'"),
        (["concurrency=none"], "concurrency must be from 1 to 4096, got 'none'"),
        (["concurrency=5000"], "got '5000'"),
        ([], "nothing to change"),
    ],
)
def test_a_wrong_setting_is_told_in_one_line(given: list[str], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_settings(given, ["main"])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_settings_are_read() -> None:
    given = ["concurrency=20", "judges=none", "main.concurrency=4"]
    assert parse_settings(given, ["main"]) == {
        "concurrency": 20,
        "judges": None,
        "main.concurrency": 4,
    }
