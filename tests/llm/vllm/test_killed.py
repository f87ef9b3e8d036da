"""recjury is killed: its servers end, and `recjury doctor` names what is left."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from recjury.llm.vllm.process import OWNER, LeftServer, left_servers
from tests.cli.front_door import recjury
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
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_nothing_is_left_after_a_kill_of_recjury(tmp_path: Path) -> None:
    fake = FakeVllm(tmp_path / "fake", child=True)
    words = [sys.executable, "-c", _RUN, str(tmp_path), json.dumps(fake.spec())]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        (started,) = fake.seen("started")
        supervisor = psutil.Process(started["pid"]).ppid()
        process.kill()
    for pid in (started["pid"], started["child"], supervisor):
        _until(lambda pid=pid: _has_ended(pid))  # type: ignore[misc]


def test_doctor_names_a_server_whose_recjury_has_ended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    owner = subprocess.Popen([sys.executable, "-I", "-S", "-c", ""])
    owner.wait()
    words = [sys.executable, "-c", "import time; time.sleep(600)"]
    environment = {**os.environ, OWNER: str(owner.pid)}
    server = subprocess.Popen(words, env=environment, start_new_session=True)
    mine = subprocess.Popen(words, env={**os.environ, OWNER: str(os.getpid())})
    try:
        _until(lambda: LeftServer(server.pid, owner.pid) in left_servers())
        assert not any(each.owner == os.getpid() for each in left_servers())
        ended = recjury(monkeypatch, capsys, "doctor")
        assert ended.code == 2
        assert f"kill -- -{server.pid}" in " ".join(ended.out.split())
    finally:
        for process in (server, mine):
            process.kill()
            process.wait()
