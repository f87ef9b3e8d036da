"""Opening: new, old, newer and foreign files, and two processes at once."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recjury.errors import StoreError
from recjury.store import Store
from tests.cli.front_door import Command
from tests.store import values


def test_a_new_store_makes_its_folder_and_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b with 100% odd ?#name" / "runs.db"
    with Store.open(str(path)) as store:
        values.begun(store)
    with Store.open(str(path), create=False) as store:
        assert store.campaigns()[0].name == "first"


def test_a_store_of_a_newer_schema_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    Store.open(str(path)).close()
    values.alter(path, "UPDATE schema_version SET number = 99")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"schema is 99, and .* that made the store") as refused:
        Store.open(str(path))
    assert "\n" not in str(refused.value)
    assert path.read_bytes() == before


def test_a_store_of_an_earlier_version_says_how_its_conversations_come_out(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    values.alter(path, "CREATE TABLE alembic_version (version_num TEXT)")
    values.alter(path, "INSERT INTO alembic_version VALUES ('0006_waited')")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"0006_waited of an earlier recjury: .*recjury export"):
        Store.open(str(path))
    assert path.read_bytes() == before


def test_a_second_row_of_the_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    Store.open(str(path)).close()
    values.alter(
        path, "INSERT INTO schema_version SELECT number + 1, secret, seal FROM schema_version"
    )
    with pytest.raises(StoreError, match="of table schema_version in the store was changed"):
        Store.open(str(path))


@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_log_that_is_no_file_is_refused(
    ending: str, make: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / "runs.db"
    Store.open(str(path)).close()
    make(tmp_path / f"runs.db{ending}")
    for read_only in (True, False):
        with pytest.raises(StoreError, match=f"runs.db{ending} is not a regular file: remove it"):
            Store.open(str(path), read_only=read_only)


def test_another_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    values.alter(path, "CREATE TABLE recipes (name TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="with table recipes"):
        Store.open(str(path))
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"not SQLite, but long enough to be read as a header " * 40])
def test_a_file_that_is_no_database_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "notes.txt").write_bytes(content)
    with pytest.raises(StoreError, match=r"notes.txt: .*expected an SQLite file") as refused:
        Store.open(str(tmp_path / "notes.txt"))
    assert "\n" not in str(refused.value)
    assert (tmp_path / "notes.txt").read_bytes() == content


def test_a_missing_store_is_not_made_when_it_is_to_be_read(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store at"):
        Store.open(f"sqlite:///{tmp_path}/none.db", create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="its folder cannot be made"):
        Store.open(f"sqlite:///{tmp_path}/file/sub/runs.db")


def test_a_place_that_cannot_be_written_is_named() -> None:
    # Not even root can make a file there.
    with pytest.raises(StoreError, match=r"/proc/runs.db: .*must exist and be writable"):
        Store.open("sqlite:////proc/runs.db")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("sqlite://", "needs a file"),
        ("sqlite:///:memory:", "needs a file"),
        (":memory:", "needs a file"),
        ("", "needs a file"),
        ("sqlite:///runs.db?mode=ro", "takes no options: leave out what follows"),
        ("sqlite:///runs/", "a file, not a folder"),
        ("runs/", "a file, not a folder"),
        ("..", "a file, not a folder"),
        ("sqlite://runs.db", "expected sqlite:///runs.db"),
        ("runs\0.db", "cannot hold the character NUL"),
        ("postgresql://localhost", "name the database"),
        ("mysql:/wrong://", "expected a store like sqlite:///runs.db"),
    ],
)
def test_what_is_no_store_url_is_refused(
    url: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match=expected):
        Store.open(url)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:pw-9183@host:notaport/runs",
        "postgresql://ann:pw-9183@[::1/runs",
        "postgresql://ann:pw-9183@host:1/runs?no_option=1",
        "postgresql://ann:pw-9183@host:1/runs?row_factory=x",
        "postgresql://ann:pw-9183@host:1/runs?port=x",
        "postgresql://ann:pw-9183@127.0.0.1:1/runs?password=pw-9183",
        "postgresql://ann:pw-9183@host:1/runs\udcff",
        "postgresql:/ann:pw-9183@host/runs",
        "://ann:pw-9183@host/runs",
        "sqlite://ann:pw-9183@host/runs.db",
        "sqlite://ann:pw-9183@host/runs.db?mode=ro",
        "sqlite://ann:pw-9183@/runs/",
    ],
)
def test_a_refused_url_is_one_line_without_its_password(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError) as refused:
        Store.open(url)
    assert "pw-9183" not in str(refused.value)
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


_OPEN = """
import asyncio, sys
from recjury.store import Store
from tests.store import values

async def record(store, first):
    async with store.recorder() as recorder:
        await asyncio.gather(*(recorder.record(values.call(n)) for n in range(first, first + 60)))

print("ready", flush=True)
sys.stdin.readline()
with Store.open(sys.argv[1]) as store:
    values.begun(store, conversations=20)
    for first in range(0, 300, 60):
        asyncio.run(record(store, first + int(sys.argv[2])))
"""


@pytest.mark.slow
def test_three_processes_make_and_fill_one_store_at_once(tmp_path: Path) -> None:
    """Half of the calls are the same in two of them, and so are all texts."""
    command = [sys.executable, "-c", _OPEN, str(tmp_path / "runs.db")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    started = [
        subprocess.Popen([*command, first], text=True, **pipes)  # type: ignore[call-overload]
        for first in ("0", "150", "300")
    ]
    for process in started:
        process.stdout.readline()
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in started:
        process.communicate(timeout=60)
        assert process.returncode == 0
    with Store.open(str(tmp_path / "runs.db"), create=False) as store:
        assert {call.identity for call in store.calls()} == set(map(values.identity, range(600)))
        assert store.campaigns()[0].conversations == 20
    assert [path.name for path in tmp_path.iterdir()] == ["runs.db"]


def test_threads_make_stores_at_once(tmp_path: Path) -> None:
    """Four stores by four threads, and one store by four threads."""
    places = [str(tmp_path / f"{name}.db") for name in ("a", "b", "c", "d", *["same"] * 4)]

    def make(place: str) -> int:
        with Store.open(place) as store:
            return len(values.begun(store))

    with ThreadPoolExecutor(len(places)) as threads:
        assert list(threads.map(make, places)) == [1] * len(places)
    assert len(list(tmp_path.iterdir())) == 5


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    path.touch()  # what an earlier recjury left, or `touch`
    with Store.open(str(path)) as store:
        assert len(values.begun(store)) == 1


def test_what_earlier_code_exported_can_be_judged(command: Command) -> None:
    """`data/exported.jsonl` was written by `recjury export` of the code before this schema."""
    exported = Path(__file__).parent / "data" / "exported.jsonl"
    ended = command("judge", exported, "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert found["conversations"]["done"] == found["conversations"]["planned"] == 2


def test_a_store_is_read_where_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "archive ?#100%"
    with Store.open(str(folder / "runs.db")) as store:
        values.begun(store)
    before = (folder / "runs.db").read_bytes()
    (folder / "runs.db").chmod(0o444)
    folder.chmod(0o555)
    if os.getuid() == 0:  # root may write everywhere
        monkeypatch.setattr(os, "access", lambda *_: False)
    try:
        with Store.open(str(folder / "runs.db"), read_only=True) as store:
            assert store.campaigns()[0].name == "first"
            assert [path.name for path in folder.iterdir()] == ["runs.db"]
    finally:
        folder.chmod(0o755)
    assert (folder / "runs.db").read_bytes() == before


def test_a_store_opened_for_reading_cannot_be_changed(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store.open(str(path)) as store:
        values.begun(store)
    with Store.open(str(path), read_only=True) as store:
        with pytest.raises(StoreError, match="readonly"):
            store.begin(values.campaign("second"))
        assert [each.name for each in store.campaigns()] == ["first"]
    assert [each.name for each in tmp_path.iterdir()] == ["runs.db"]


@pytest.mark.parametrize("how", [{"create": False}, {"read_only": True}])
def test_an_empty_file_is_no_store_and_is_left_alone(tmp_path: Path, how: dict[str, bool]) -> None:
    path = tmp_path / "runs.db"
    path.touch()
    with pytest.raises(StoreError, match="there is no store"):
        Store.open(str(path), **how)
    assert path.read_bytes() == b""


def test_a_link_to_a_store_that_is_to_be_made_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    link = tmp_path / "runs.db"
    link.symlink_to(tmp_path / "disk" / "runs.db")
    with Store.open(str(link)) as store:
        values.begun(store)
    assert link.is_symlink()
    assert (tmp_path / "disk" / "runs.db").stat().st_size > 0


def test_a_folder_is_not_taken_for_a_store_with_a_hard_link(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="Is a directory"):
        Store.open(str(tmp_path))


def test_a_store_with_a_hard_link_is_read_and_not_written(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "runs.db")):
        pass
    os.link(tmp_path / "runs.db", tmp_path / "hard.db")
    with pytest.raises(StoreError, match="has another name"):
        Store.open(str(tmp_path / "hard.db"))
    with Store.open(str(tmp_path / "hard.db"), read_only=True) as store:
        assert store.campaigns() == ()
