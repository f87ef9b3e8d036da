import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect

from recjury.errors import UserError
from recjury.store import Store
from tests.store.samples import UNIT, play, reply, request, started, talk

pytestmark = pytest.mark.anyio


def database(*statements: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        connection = sqlite3.connect(path)
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()

    return write


def of_later_version(path: Path) -> None:
    Store(path).close()
    database("PRAGMA user_version = 99")(path)


@pytest.mark.parametrize("readonly", [True, False], ids=["to read", "to write"])
@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda path: path.write_text("name: films\n"), "another kind of file"),
        (lambda path: path.write_bytes(b"SQLi"), "another kind of file"),
        (database("CREATE TABLE song (title)"), "another program, or a store of recjury 0.2"),
        (
            database("CREATE TABLE schema_version (number)", "PRAGMA user_version = 7"),
            "benchmarks.old_store",
        ),
        (of_later_version, "has tables of version 99"),
    ],
    ids=["text", "short", "another program", "recjury 0.2", "later version"],
)
def test_a_file_that_is_no_store_is_named_and_left_alone(
    tmp_path: Path, write: Callable[[Path], None], message: str, readonly: bool
) -> None:
    path = tmp_path / "x.db"
    write(path)
    before = path.read_bytes()
    with pytest.raises(UserError, match=message) as error:
        Store(path, readonly=readonly)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("readonly", [True, False], ids=["to read", "to write"])
def test_a_folder_and_a_missing_folder_are_no_stores(tmp_path: Path, readonly: bool) -> None:
    with pytest.raises(UserError, match="is a folder: name a file in it"):
        Store(tmp_path, readonly=readonly)
    with pytest.raises(UserError, match="there is no folder"):
        Store(tmp_path / "missing" / "x.db", readonly=readonly)


def test_who_reads_a_missing_store_is_told_what_is_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="beside it is none"):
        Store(tmp_path / "x.db", readonly=True)
    Store(tmp_path / "films.db").close()
    with pytest.raises(UserError, match=r"beside it is films\.db"):
        Store(tmp_path / "x.db", readonly=True)
    assert [path.name for path in tmp_path.iterdir()] == ["films.db"]


def test_an_empty_file_becomes_a_store_only_to_be_written(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.touch()
    with pytest.raises(UserError, match="is empty"):
        Store(path, readonly=True)
    Store(path).close()
    Store(path, readonly=True).close()


@pytest.mark.parametrize("name", ["temp?0.db", "a%20b#c.db", "ü & =.db"])
def test_what_follows_sqlite_is_the_path_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for url in (f"sqlite:///{name}", name, Path(name), f"sqlite:///{tmp_path}/{name}"):
        with Store(url) as store:
            store.end(started(store), "finished")
        assert [path.name for path in tmp_path.iterdir()] == [name]
    with Store(name, readonly=True) as store:
        assert len(store.runs("films")) == 4


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", ":memory:"])
def test_memory_has_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.chdir(tmp_path)
    with Store(url) as store:
        started(store)
        assert store.campaigns() == ["films"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://me@host/films", "mysql: stores are files of SQLite"),
        ("nonsense://", "nonsense: stores are files of SQLite"),
        ("://x", "is no database URL"),
    ],
)
def test_other_databases_are_refused(url: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        Store(url)


def test_a_server_that_does_not_answer_is_one_line_without_its_password() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(UserError) as error:
        Store("postgresql://me:secret@127.0.0.1:9/films")
    assert "127.0.0.1:9/films" in str(error.value)
    assert "secret" not in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("readonly", [True, False], ids=["to read", "to write"])
def test_a_store_of_0_2_on_a_server_is_named_and_left_alone(
    empty_postgres: str, readonly: bool
) -> None:
    engine = create_engine(empty_postgres.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE campaign (id text)")
    with pytest.raises(UserError, match=r"benchmarks\.old_store"):
        Store(empty_postgres, readonly=readonly)
    assert inspect(engine).get_table_names() == ["campaign"]
    engine.dispose()


async def test_the_file_alone_is_the_whole_store_once_it_is_closed(tmp_path: Path) -> None:
    path, copy = tmp_path / "x.db", tmp_path / "copy.db"
    store = Store(path)
    started(store)
    await play(store, "a1")
    await store.record([reply("k1")], request("?"), "main", UNIT)
    store.close()
    store.close()
    assert os.listdir(tmp_path) == ["x.db"]
    copy.write_bytes(path.read_bytes())
    with Store(copy, readonly=True) as again:
        assert await again.log("a1") == talk()
        assert (await again.recall(["k1"])).keys() == {"k1"}
        assert again.check() == []


async def test_a_store_that_is_only_read_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    Store(path).close()
    with Store(path, readonly=True) as store:
        with pytest.raises(UserError, match="readonly"):
            started(store)
        with pytest.raises(UserError, match="readonly"):
            await store.record([reply("k1")], request("?"), "main", UNIT)
        assert store.campaigns() == []


async def test_a_reader_sees_what_is_written_meanwhile(tmp_path: Path) -> None:
    with Store(tmp_path / "x.db") as store, Store(tmp_path / "x.db", readonly=True) as reader:
        run = started(store)
        assert reader.counts("films").conversations == {"planned": 4}
        with reader.connection() as moment:
            query = "SELECT COUNT(*) FROM conversation WHERE state = 'done'"
            before = moment.exec_driver_sql(query).scalar()
            await play(store, "a1")
            assert moment.exec_driver_sql(query).scalar() == before == 0
        assert await reader.log("a1") == talk()
        store.end(run, "finished")
        assert reader.runs("films")[0].state == "finished"


async def test_a_reader_may_look_up_more_while_it_reads(store: Store) -> None:
    started(store)
    with store.connection() as connection:
        assert store.config("films") == {"name": "films"}
        assert connection.exec_driver_sql("SELECT COUNT(*) FROM plan").scalar() == 4


async def test_a_store_goes_on_where_the_process_changes_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Store("x.db") as store:
        monkeypatch.chdir("/")
        started(store)
        await play(store, "a1")
        assert await store.log("a1") == talk()


@pytest.mark.parametrize("replaced", [False, True], ids=["removed", "replaced"])
async def test_a_file_that_is_gone_is_noticed(tmp_path: Path, replaced: bool) -> None:
    path = tmp_path / "x.db"
    with Store(path) as store, Store(path, readonly=True) as reader:
        run = started(store)
        path.unlink()
        if replaced:
            path.write_text("another")
        with pytest.raises(UserError, match="removed or replaced"):
            await store.record([reply("k1")], request("?"), "main", UNIT)
        with pytest.raises(UserError, match="removed or replaced"):
            store.end(run, "finished")
        with pytest.raises(UserError):
            reader.campaigns()
