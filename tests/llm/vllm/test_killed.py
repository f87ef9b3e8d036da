"""recjury is killed: its servers end, and one that is left behind is found and ended."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recjury.errors import ConfigError
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
        path = _recorded(server.pid, tmp_path)
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
        path = _recorded(other.pid, tmp_path)
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


_ORPHANS = """
import os, signal, subprocess, sys
{}
deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
log = open(sys.argv[1], "w")
sleeping = "import time; time.sleep(600)"
one = subprocess.Popen([sys.executable, "-I", "-S", "-c", sleeping], stdout=log, stderr=log)
quiet = subprocess.DEVNULL
two = subprocess.Popen([sys.executable, "-I", "-S", "-c", deaf], stdout=quiet, stderr=quiet)
print(one.pid, two.pid, flush=True)
os.read(0, 1)
"""


class _Orphans:
    """Two processes of a group whose first process is about to end; one of them writes to `log`."""

    def __init__(self, log: Path, *, is_session: bool):
        lead = "os.setsid()" if is_session else "os.setpgid(0, 0)"
        self.log = log
        self._leader = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _ORPHANS.format(lead), str(log)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._leader.stdout is not None
        self.group = self._leader.pid
        self.pids = [*map(int, self._leader.stdout.readline().split())]

    def end_leader(self) -> None:
        self._leader.communicate(b"x")

    def end(self) -> None:
        self._leader.kill()
        self._leader.communicate()
        for pid in self.pids:
            if not _has_ended(pid):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture(params=[True, False])
def orphans(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[_Orphans]:
    """With a session of their own, and in that of the tests."""
    found = _Orphans(tmp_path / "its.log", is_session=request.param)
    yield found
    found.end()


@pytest.mark.parametrize("orphans", [True], indirect=True)
def test_a_server_whose_keeper_has_ended_is_found_and_all_of_it_is_ended(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    owner: "subprocess.Popen[bytes]",
    orphans: _Orphans,
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("recjury.llm.vllm.left_behind.end_group.__defaults__", (0.3,))
    owner.wait()
    path = _recorded(orphans.group, tmp_path, log=orphans.log, owner=owner.pid)
    orphans.end_leader()
    assert [each.group for each in left_behind.end_left_behind()] == [orphans.group]
    assert [*map(_has_ended, orphans.pids)] == [True, True]
    assert not path.exists()


def test_a_group_that_has_the_number_of_an_old_server_and_no_first_process_is_left_alone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    owner: "subprocess.Popen[bytes]",
    orphans: _Orphans,
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    owner.wait()
    before = {"owner": owner.pid, "group_began": time.time() - 3 * 86400}
    path = _recorded(orphans.group, tmp_path, **before)
    orphans.end_leader()
    assert left_behind.end_left_behind() == []
    assert [*map(_has_ended, orphans.pids)] == [False, False]
    assert not path.exists()


@pytest.mark.parametrize("orphans", [True], indirect=True)
@pytest.mark.parametrize("other", [{"boot": "another"}, {"group_began": time.time() + 3600}])
def test_a_group_of_another_boot_or_from_before_the_record_is_left_alone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    owner: "subprocess.Popen[bytes]",
    orphans: _Orphans,
    other: dict[str, Any],
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    owner.wait()
    _recorded(orphans.group, tmp_path, log=orphans.log, owner=owner.pid, **other)
    orphans.end_leader()
    assert left_behind.end_left_behind() == []
    assert [*map(_has_ended, orphans.pids)] == [False, False]


@pytest.mark.parametrize("target", ["elsewhere", "nowhere"])
def test_a_link_in_place_of_the_folder_of_records_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / f"recjury-vllm-{os.getuid()}"
    link.symlink_to(tmp_path / target)
    with pytest.raises(ConfigError, match=r"must be a folder of your own, .* remove it, or set"):
        left_behind.end_left_behind()
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "elsewhere", link])


def _recorded(group: int, folder: Path, **other: Any) -> Path:
    record = left_behind.new_record(group, 1234, "/models/llama", folder / "a.log")
    other = {name: str(each) if name == "log" else each for name, each in other.items()}
    return left_behind.write_record(record._replace(**other))


def _members(group: int) -> list[int]:
    return left_behind.group_members(left_behind.new_record(group, 0, "", Path("a.log")))
