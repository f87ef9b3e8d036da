"""recjury is killed: its servers end, and one that is left behind is found and ended."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from recjury.llm.vllm import left_behind
from tests.llm.vllm.fake_vllm import FakeVllm

_RUN = """
import asyncio, json, sys, tempfile
tempfile.tempdir = sys.argv[1]
from recjury.llm import Gateway, NullRecorder
from recjury.llm.model_kinds import read_model

async def run():
    async with Gateway({"main": read_model(json.loads(sys.argv[2]))}, NullRecorder()) as gateway:
        await gateway.check()
        print("ready", flush=True)
        await asyncio.sleep(600)

asyncio.run(run())
"""


def _until(condition: Callable[[], bool]) -> None:
    ends = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.02)


def _has_ended(pid: int) -> bool:
    return left_behind.began(pid) is None


def test_nothing_is_left_after_a_kill_of_recjury(tmp_path: Path) -> None:
    fake = FakeVllm(tmp_path / "fake", child=True)
    words = [sys.executable, "-c", _RUN, str(tmp_path), json.dumps(fake.spec())]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as recjury:
        assert recjury.stdout is not None
        assert recjury.stdout.readline() == "ready\n"
        (started,) = fake.seen("started")
        (record,) = (tmp_path / f"recjury-vllm-{os.getuid()}").glob("*.json")
        recjury.kill()
    for pid in (started["pid"], started["child"], int(record.stem)):
        _until(lambda pid=pid: _has_ended(pid))  # type: ignore[misc]


@pytest.fixture
def owner() -> "subprocess.Popen[bytes]":
    """A process that has ended, and its number is not used again."""
    return subprocess.Popen([sys.executable, "-I", "-S", "-c", ""])


def test_a_server_that_was_left_behind_is_found_and_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: "subprocess.Popen[bytes]"
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    group = "import subprocess, sys; subprocess.run([sys.executable, '-c', '{}'])"
    words = [sys.executable, "-c", group.format("import time; time.sleep(600)")]
    server = subprocess.Popen(words, start_new_session=True)
    try:
        _until(lambda: len(_members(server.pid)) == 2)
        path = left_behind.write_record(server.pid, 1234, "/models/llama")
        assert left_behind.left_behind() == []  # this process owns it, and runs
        owner.wait()
        mine = json.loads(path.read_text("utf-8"))
        path.write_text(json.dumps({**mine, "owner": owner.pid}), "utf-8")
        (ended,) = left_behind.end_left_behind()
        assert (ended.port, ended.model) == (1234, "/models/llama")
        server.wait(10)
        assert not _members(server.pid)
        assert not path.exists()
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def test_another_process_with_the_number_of_an_old_server_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: "subprocess.Popen[bytes]"
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    words = [sys.executable, "-c", "import time; time.sleep(600)"]
    other = subprocess.Popen(words, start_new_session=True)
    try:
        path = left_behind.write_record(other.pid, 1234, "/models/llama")
        owner.wait()
        mine = json.loads(path.read_text("utf-8"))
        before = {"owner": owner.pid, "group_began": mine["group_began"] - 60}
        path.write_text(json.dumps({**mine, **before}), "utf-8")
        assert left_behind.end_left_behind() == []
        assert not path.exists()
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def _members(group: int) -> list[int]:
    record = left_behind.ServerRecord(group, left_behind.began(group) or 0.0, 0, 0.0, 0, "")
    return left_behind.group_members(record)
