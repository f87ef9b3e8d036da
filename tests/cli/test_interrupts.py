"""Ctrl-C and SIGTERM end a run in order; the same command goes on."""

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.conftest import campaign, honest
from tests.scripted_endpoint import Body, Reply, ScriptedEndpoint, prompt_of

COMMAND = [sys.executable, "-m", "recjury", "run", "c.yaml"]


def slow(body: Body) -> Reply:
    return Reply(honest(body).body, delay=0.1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_goes_on(tmp_path: Path, number: signal.Signals) -> None:
    with ScriptedEndpoint(slow) as server:
        campaign(tmp_path / "c.yaml", server.url)
        with subprocess.Popen(COMMAND, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
            while len(server.asked) < 20:
                time.sleep(0.01)
            process.send_signal(number)
            assert process.stderr is not None
            said = process.stderr.read()
        assert process.returncode == 130
        assert "the same command goes on" in said
        assert "Traceback" not in said
        interrupted = len(server.asked)
        assert subprocess.run(COMMAND, cwd=tmp_path, capture_output=True).returncode == 0
        prompts = Counter(prompt_of(asked.body).split('code="')[0] for asked in server.asked)
        assert interrupted < len(server.asked)
        again = [
            prompt for prompt, times in prompts.items() if times > 1 and '"code"' not in prompt
        ]
        assert not again


def test_a_second_interrupt_ends_at_once(tmp_path: Path) -> None:
    def endless(body: Body) -> Reply:
        return Reply(honest(body).body, delay=30)

    with ScriptedEndpoint(endless) as server:
        campaign(tmp_path / "c.yaml", server.url)
        with subprocess.Popen(COMMAND, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
            while not server.asked:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            assert process.stderr is not None
            while "Ctrl-C again" not in process.stderr.readline():
                pass
            process.send_signal(signal.SIGINT)
            process.wait(10)
        assert process.returncode == -signal.SIGINT


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    with ScriptedEndpoint(honest) as server:
        campaign(tmp_path / "c.yaml", server.url)
        subprocess.run(COMMAND, cwd=tmp_path, capture_output=True, check=True)
    shell = f"{sys.executable} -m recjury replay | head -1"
    done = subprocess.run(shell, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.parametrize("redirection", [">&-", ">/dev/full", ">&- 2>&-", ">/dev/full 2>/dev/full"])
def test_an_output_that_cannot_be_written(tmp_path: Path, redirection: str) -> None:
    shell = f"{sys.executable} -m recjury --help {redirection}"
    done = subprocess.run(shell, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode in (0, 2)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_console_without_unicode(tmp_path: Path, encoding: str) -> None:
    """Case 26: whatever a table, a text or a message has in it."""
    console = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    said = [{"role": "user", "content": "히트 🎬?"}, {"role": "assistant", "content": "→ Amélie ✓"}]
    (tmp_path / "츠.jsonl").write_text(json.dumps({"messages": said, "system": "봇"}))
    for arguments in (
        ["judge", "츠.jsonl"],
        ["replay"],
        ["judge", "없다.jsonl"],
        ["judge", "--help"],
    ):
        command = [sys.executable, "-m", "recjury", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, env=console)
        assert done.returncode == (2 if "없다.jsonl" in arguments else 0), done.stderr
        assert b"Traceback" not in done.stderr
        assert done.stdout or done.stderr
