"""What every test may use, and what none may do."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recjury import safe_text
from tests.cli.front_door import Command, recjury
from tests.postgres_server import PostgresServer, postgres_server

# Each core has a test process already: more threads in each would only wait for one another.
# Read by the libraries when they are imported, and inherited by the processes that tests start.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests reach this machine only: no paid service is ever called by accident."""
    look_up = socket.getaddrinfo

    def local(host: str | bytes | None, *rest: Any, **more: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name not in (None, "", "localhost", "127.0.0.1", "::1", "0.0.0.0"):
            raise AssertionError(f"a test tried to reach {name}")
        return look_up(host, *rest, **more)

    async def refused(*_: object, **__: object) -> Any:
        raise AssertionError("a test tried to look up a host")

    monkeypatch.setattr(socket, "getaddrinfo", local)
    monkeypatch.setattr("aiohttp.resolver.ThreadedResolver.resolve", refused)


@pytest.fixture(autouse=True)
def _no_key_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test takes for a key is none in the next."""
    monkeypatch.setattr(safe_text, "_known", {})


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    """`recjury` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: recjury(monkeypatch, capsys, *arguments)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data; tests that need it are skipped, saying so, where it is missing."""
    named = os.environ.get("RECJURY_DATA")
    folder = Path(named).resolve() if named else Path(__file__).parents[2] / "shared" / "data"
    if not (folder / "ievalm").is_dir():
        pytest.skip("needs the real data: set RECJURY_DATA to a folder that holds ievalm/")
    return folder


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A real PostgreSQL; a test that stops it starts it again."""
    with postgres_server() as running:
        yield running
