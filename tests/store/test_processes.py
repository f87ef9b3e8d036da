"""Several processes, killed processes, full disks and folders that may not be written."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from recjury.errors import UserError
from recjury.store import Store
from tests.store.samples import UNIT, reply, request, started

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
_COMMON = """
import asyncio, os, resource, sys
from recjury.errors import UserError
from recjury.store import Store
from tests.store.samples import UNIT, reply, request, started
path = sys.argv[1]
"""
WRITES_SOME = (
    _COMMON
    + """
async def main(first):
    with Store(path) as store:
        store.end(started(store, campaign=f"c{first}"), "finished")
        for n in range(first, first + 60):
            await store.record([reply(f"k{n}", f"by {first}")], request(f"p{n % 7}"), "main", UNIT)
asyncio.run(main(int(sys.argv[2])))
"""
)
WRITES_UNTIL_IT_ENDS = (
    _COMMON
    + """
async def main():
    if len(sys.argv) > 2:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
    with Store(path) as store:
        started(store)
        for n in range(10**6):
            done = reply(f"k{n}", "x" * 5000 + str(n))
            await store.record([done], request(f"p{n}"), "main", UNIT)
            print(f"k{n}", flush=True)
try:
    asyncio.run(main())
except UserError as error:
    print(error, file=sys.stderr)
"""
)
READS_AS_NOBODY = (
    _COMMON
    + """
Store().close()  # whoever is nobody may not read the modules
if os.getuid() == 0:
    os.setuid(65534)
try:
    Store(path).close()
except UserError as error:
    print(error, file=sys.stderr)
with Store(path, readonly=True) as store:
    print(*store.campaigns(), *asyncio.run(store.recall(["k1"])))
"""
)


def begin(program: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


async def test_several_processes_begin_and_write_one_store(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    processes = [begin(WRITES_SOME, str(path), str(first)) for first in (0, 30, 60, 90)]
    assert [(process.communicate()[1], process.returncode) for process in processes] == [
        ("", 0)
    ] * 4
    with Store(path) as store:
        assert len(await store.recall([f"k{n}" for n in range(150)])) == 150
        assert sorted(store.campaigns()) == ["c0", "c30", "c60", "c90"]
        assert store.check() == []


async def test_what_was_acknowledged_outlasts_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    process = begin(WRITES_UNTIL_IT_ENDS, str(path))
    assert process.stdout is not None
    calls = [process.stdout.readline().strip() for _ in range(50)]
    with Store(path) as store:
        with pytest.raises(UserError, match=f"being run by process {process.pid} on .* wait until"):
            store.start("films", {}, {})
        process.kill()
        calls += process.stdout.read().split()
        assert store.runs("films")[0].state in ("interrupted", "running")
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222
        store.start("films", {}, {})  # the process is gone, though nobody has waited for it
        process.wait()
        process.communicate()
        assert [run.state for run in store.runs("films")] == ["running", "interrupted"]
        assert (await store.recall(calls)).keys() == set(calls)
        assert store.check() == []


async def test_a_full_disk_ends_in_one_line_and_the_store_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    process = begin(WRITES_UNTIL_IT_ENDS, str(path), "1000000")
    printed, error = process.communicate()
    calls = printed.split()
    assert len(calls) > 10
    assert error.startswith(f"the store {path}: ")
    assert error.count("\n") == 1
    with Store(path) as store:
        assert (await store.recall(calls)).keys() == set(calls)
        started(store)
        await store.record([reply("more")], request("?"), "main", UNIT)
        assert store.check() == []


async def test_a_run_on_another_host_may_be_taken_over(tmp_path: Path) -> None:
    with Store(tmp_path / "x.db") as store:
        started(store)
        with store.database.transaction() as connection:
            connection.exec_driver_sql("UPDATE run SET host = 'elsewhere'")
        assert store.runs("films")[0].state == "running"
        with pytest.raises(UserError, match=r"on elsewhere .* --take-over"):
            store.start("films", {}, {})
        store.start("films", {}, {}, take_over=True)
        assert store.runs("films")[1].state == "interrupted"


async def test_a_folder_that_may_not_be_written_can_be_read() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.db"
        with Store(path) as store:
            started(store)
            await store.record([reply("k1")], request("?"), "main", UNIT)
        path.chmod(0o444)
        os.chmod(folder, 0o555)
        printed, error = begin(READS_AS_NOBODY, str(path)).communicate()
        os.chmod(folder, 0o755)
        assert printed.split() == ["films", "k1"]
        assert error.count("\n") == 1
        assert "name another store" in error
        assert os.listdir(folder) == ["x.db"]
