"""A store in PostgreSQL: copied from and to SQLite, and what a broken database does to a run."""

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from recjury.campaign import CampaignConfig, run_campaign
from recjury.errors import StoreError
from recjury.store import Store
from recjury.store.engine import BUSY_SECONDS
from recjury.store.merging import copy_store
from recjury.store.postgres import _WRITE_LOCK
from recjury.store.schema import read_secret
from recjury.store.writer import Transaction
from tests.campaign.test_shared import ROOT, Campaign
from tests.cli.front_door import recjury
from tests.endpoint import RemoteEndpoint
from tests.postgres_server import LOCKED, PostgresServer

CONFIG = {
    "scenarios": [{"corpus": "sample", "limit": 1}],
    "systems": ["retrieval", "chatcrs"],
    "evaluators": ["core", "outcome"],
}
OFFLINE = ROOT / "examples" / "offline.yaml"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def endpoint() -> Iterator[RemoteEndpoint]:
    with RemoteEndpoint("tests.campaign.player:play", latency=0.1) as running:
        yield running


def _content(url: str) -> list[object]:
    with Store.open(url, read_only=True) as store:
        results = [
            (each.conversation, each.log, each.evaluations, store.whole(each.conversation))
            for each in store.results()
        ]
        calls = [(c.identity, c.request, c.reply) for c in store.calls()]
        verified = store.verify()
        assert verified.problems == ()
        return [results, calls, verified.rows, store.read(read_secret), store.campaigns()]


def test_a_store_is_copied_to_the_other_database_and_back(
    postgres: PostgresServer, endpoint: RemoteEndpoint, tmp_path: Path
) -> None:
    model = {"base_url": endpoint.url, "name": "scripted"}
    first, second = str(tmp_path / "first.db"), str(tmp_path / "second.db")
    asyncio.run(run_campaign(CampaignConfig.model_validate({**CONFIG, "model": model}), first))
    database = postgres.create("copied")
    rows = copy_store(first, database).rows
    assert copy_store(database, second).rows == rows
    assert _content(first) == _content(database) == _content(second)
    for source, full in ((first, database), (database, second)):
        with pytest.raises(StoreError, match=r"has results already: copy to an empty place"):
            copy_store(source, full)


def _start(folder: Path, endpoint: RemoteEndpoint, store: str) -> "subprocess.Popen[str]":
    return Campaign(folder, endpoint, store).start()


def _refusal(process: "subprocess.Popen[str]") -> str:
    """The one line with which a command ended that the user can put right."""
    _, said = process.communicate(timeout=120)
    assert process.returncode == 2, said
    (line,) = (each for each in said.splitlines() if each.startswith("recjury:"))
    assert "Traceback" not in said
    return line


def _do(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for each in statements:
            connection.execute(each)


def test_a_database_that_cannot_be_used_is_one_line(
    postgres: PostgresServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    other, locked, frozen = (
        postgres.create("other"),
        postgres.create(LOCKED),
        postgres.create("frozen"),
    )
    _do(other, "CREATE TABLE wines (name text)")
    with Store.open(frozen):
        pass
    _do(frozen, "ALTER DATABASE frozen SET default_transaction_read_only = on")
    said = {
        postgres.url("nowhere"): 'database "nowhere" does not exist: make it with createdb',
        postgres.url("other").replace("recjury@", "reader@"): 'role "reader" does not exist: name',
        other: "expected a recjury store, got another database (with table wines)",
        locked.replace("recjury@", "recjury:not-this-one@"): "password authentication failed",
        frozen: "read-only transaction: it must be writable",
        "postgresql://recjury@127.0.0.1:1/closed": "Connection refused",
    }
    for url, expected in said.items():
        ended = recjury(monkeypatch, capsys, "run", OFFLINE, "--store", url)
        assert ended.code == 2
        (line,) = ended.err.splitlines()
        assert expected in line
        assert "not-this-one" not in line


def test_readers_do_not_wait_for_writers(postgres: PostgresServer) -> None:
    url = postgres.create("read")
    with Store.open(url):
        pass
    with psycopg.connect(url) as other:
        other.execute("SELECT pg_advisory_xact_lock(%s)", [_WRITE_LOCK])
        with Store.open(url, read_only=True) as store:
            assert store.campaigns() == ()


def test_a_writer_whose_machine_is_lost_has_the_lock_for_less_than_others_wait(
    postgres: PostgresServer,
) -> None:
    def set_for(own: Transaction) -> list[int]:
        asked = (f"SHOW tcp_keepalives_{name}" for name in ("idle", "interval", "count"))
        return [int(own.connection.exec_driver_sql(each).scalar_one()) for each in asked]

    with Store.open(postgres.create("lost")) as store:
        idle, interval, count = store.write(set_for)
    assert 0 < idle + count * interval < BUSY_SECONDS


FULL = """
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF (SELECT count(*) FROM call) > 30 THEN
    RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
  END IF;
  RETURN NEW;
END $$
"""


def test_a_full_database_ends_a_run_and_keeps_what_was_acknowledged(
    postgres: PostgresServer, endpoint: RemoteEndpoint, tmp_path: Path
) -> None:
    url = postgres.create("full")
    with Store.open(url):
        pass
    _do(url, FULL, "CREATE TRIGGER full_disk BEFORE INSERT ON call EXECUTE FUNCTION fail()")
    line = _refusal(_start(tmp_path, endpoint, url))
    assert "No space left on device" in line
    assert line.endswith(": free some space and run again, what was acknowledged is kept")
    _goes_on(postgres, endpoint, tmp_path, url, "DROP FUNCTION fail CASCADE")


def test_a_database_that_goes_away_ends_a_run_and_keeps_what_was_acknowledged(
    postgres: PostgresServer, endpoint: RemoteEndpoint, tmp_path: Path
) -> None:
    url, before = postgres.create("gone"), len(endpoint.bodies)
    running = _start(tmp_path, endpoint, url)
    while len(endpoint.bodies) < before + 30:
        assert running.poll() is None
    postgres.stop()
    try:
        line = _refusal(running)
    finally:
        postgres.start()
    assert f"the store {postgres.url('gone').replace('recjury@', '')}: " in line
    _goes_on(postgres, endpoint, tmp_path, url)


def _goes_on(
    postgres: PostgresServer, endpoint: RemoteEndpoint, folder: Path, url: str, *first: str
) -> None:
    """The same command finishes the campaign, and asks nothing again that was stored."""
    _do(url, *first)
    with Store.open(url, read_only=True) as store:
        kept = sum(1 for _ in store.calls())
    assert kept
    before = len(endpoint.bodies)
    process = _start(folder, endpoint, url)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    with Store.open(url, read_only=True) as store:
        assert store.verify().problems == ()
        assert sum(1 for _ in store.calls()) == kept + len(endpoint.bodies) - before
        (campaign,) = store.campaigns()
        counts = store.counts(campaign.id).conversations
        assert counts.done == counts.planned
        assert store.running(campaign.id).state is None
