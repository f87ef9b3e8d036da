"""What was acknowledged survives whatever ends the process; a campaign is run by one process."""

import asyncio
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy import event

from recjury.errors import StoreError
from recjury.store import Store
from tests.store import values

_RECORD = """
import asyncio, sys
from recjury.store import Store
from tests.store import values

async def one(recorder, number):
    await recorder.record(values.call(number, parts=("rubric", f"log {number // 12} " * 99)))
    print(values.identity(number), flush=True)

async def main(store):
    async with store.recorder() as recorder:
        for first in range(0, 1_000_000, 64):
            await asyncio.gather(*(one(recorder, first + n) for n in range(64)))

with Store.open(sys.argv[1]) as store:
    asyncio.run(main(store))
"""


@pytest.mark.parametrize("acknowledged", [1, 65, 700])
@pytest.mark.slow
def test_what_was_acknowledged_survives_a_kill(tmp_path: Path, acknowledged: int) -> None:
    """Killed while the next batches are on their way."""
    path = str(tmp_path / "runs.db")
    command = [sys.executable, "-c", _RECORD, path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        seen = [process.stdout.readline().strip() for _ in range(acknowledged)]
        process.send_signal(signal.SIGKILL)
        seen += [line.strip() for line in process.stdout if len(line) == 33]
    assert process.returncode == -signal.SIGKILL
    with Store.open(path, create=False) as store:
        for identity in seen:
            assert store.call(identity).reply.text == "3"
        stored = list(store.calls())
    # At most what was under way at once had been written and not yet acknowledged.
    assert len(seen) <= len(stored) <= len(seen) + 64
    assert _check(path) == "ok"


def _check(path: str) -> str:
    connection = sqlite3.connect(path)
    try:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])
    finally:
        connection.close()


def test_closing_loses_nothing_that_nobody_waits_for_any_more(tmp_path: Path) -> None:
    async def leave(store: Store) -> None:
        recorder = store.recorder()
        calls = [asyncio.ensure_future(recorder.record(values.call(n))) for n in range(300)]
        await asyncio.sleep(0)  # each has handed its call over
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)

    with Store.open(f"sqlite:///{tmp_path}/runs.db") as store:
        asyncio.run(leave(store))
    with Store.open(f"sqlite:///{tmp_path}/runs.db") as store:
        assert len(list(store.calls())) == 300


def test_calls_under_way_together_share_transactions(tmp_path: Path) -> None:
    async def record(store: Store) -> None:
        async with store.recorder() as recorder:
            await asyncio.gather(*(recorder.record(values.call(n)) for n in range(256)))

    with Store.open(f"sqlite:///{tmp_path}/runs.db") as store:
        commits: list[object] = []
        event.listen(store._engine, "commit", commits.append)
        asyncio.run(record(store))
        assert 1 <= len(commits) <= 20
        assert len(list(store.calls())) == 256


def test_a_full_disk_reaches_every_waiter_in_one_line_and_passes(tmp_path: Path) -> None:
    async def record(store: Store, first: int, last: int) -> list[BaseException | None]:
        recorder = store.recorder()
        calls = [values.call(n, parts=(f"{n} {n * 7919}" * 500,)) for n in range(first, last)]
        waiting = (recorder.record(call) for call in calls)
        return list(await asyncio.gather(*waiting, return_exceptions=True))

    with Store.open(f"sqlite:///{tmp_path}/runs.db") as store:
        limit = _Limit(store, pages=80)
        assert asyncio.run(record(store, 0, 1)) == [None]
        failed = [error for error in asyncio.run(record(store, 1, 900)) if error is not None]
        assert failed
        for error in failed:
            assert isinstance(error, StoreError)
            assert "disk is full: free some space" in str(error)
            assert "\n" not in str(error)
        limit.lift()
        assert asyncio.run(record(store, 900, 950)) == [None] * 50
        assert store.call(values.identity(0)).unit == values.conversation().id


class _Limit:
    """SQLite's own limit on a file's size stands in for a full disk: the error is the same."""

    def __init__(self, store: Store, pages: int):
        self.pages = pages
        event.listen(store._engine, "begin", self._set)

    def _set(self, connection: object) -> None:
        connection.exec_driver_sql(f"PRAGMA max_page_count = {self.pages}")  # type: ignore[attr-defined]

    def lift(self) -> None:
        self.pages = 1_000_000


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/runs.db")
    store.close()
    with pytest.raises(StoreError, match="the store is closed"):
        asyncio.run(store.recorder().record(values.call()))


def test_closing_ends_the_writers_thread(tmp_path: Path) -> None:
    others = set(threading.enumerate())  # stores that other tests left open have writers, too
    with Store.open(f"sqlite:///{tmp_path}/runs.db") as store:
        asyncio.run(store.recorder().record(values.call()))
        (writer,) = set(threading.enumerate()) - others
        assert writer.name == "recjury-writer"
    assert not writer.is_alive()


def _killed(store: Store, folder: Path) -> Path:
    """The files of an open store, copied as a kill leaves them."""
    folder.mkdir()
    for file in values.file_of(store).parent.glob("runs.db*"):
        shutil.copy(file, folder)
    return folder / "runs.db"


def _count(path: Path) -> int:
    with Store.open(str(path), read_only=True) as store:
        return len(list(store.calls()))


def test_a_lost_write_ahead_log_is_noticed_until_it_is_put_back(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/runs.db") as store:
        asyncio.run(store.recorder().record(values.call(0)))
        earlier = _killed(store, tmp_path / "earlier").with_name("runs.db-wal")
        asyncio.run(store.recorder().record(values.call(1)))
        path = _killed(store, tmp_path / "killed")
    log = path.with_name("runs.db-wal")
    content = log.read_bytes()
    for replaced in (None, b"", earlier.read_bytes()):
        log.unlink(missing_ok=True)
        if replaced is not None:
            log.write_bytes(replaced)
        for how in ({}, {"create": False}, {"read_only": True}):
            with pytest.raises(StoreError, match=r"has lost \d+ of \d+ changes of rows") as lost:
                Store.open(str(path), **how)
            assert "\n" not in str(lost.value)
            with pytest.raises(StoreError, match="has lost"):
                Store.at(str(path))
    log.write_bytes(content)
    assert _count(path) == 2


def test_one_goes_on_with_what_is_left_by_removing_the_number(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/runs.db") as store:
        asyncio.run(store.recorder().record(values.call()))
        path = _killed(store, tmp_path / "killed")
    path.with_name("runs.db-wal").unlink()
    path.with_name("runs.db.acknowledged").unlink()
    assert _count(path) == 0


def test_a_kill_loses_nothing_whoever_opens_the_store_next(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/runs.db") as store:
        asyncio.run(store.recorder().record(values.call()))
        path = _killed(store, tmp_path / "killed")
    assert _count(path) == 1  # a reader, which writes the log into the store and removes it
    assert not path.with_name("runs.db-wal").exists()
    assert _count(path) == 1
    with Store.open(str(path)) as store:
        asyncio.run(store.recorder().record(values.call(1)))
    assert [file.name for file in path.parent.iterdir()] == ["runs.db"]


def test_a_number_that_is_a_pipe_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    Store.open(str(path)).close()
    os.mkfifo(tmp_path / "runs.db.acknowledged")
    with pytest.raises(StoreError, match=r"runs.db.acknowledged is not a regular file"):
        Store.open(str(path))
