"""Copies of the stores that earlier code made, and who answers where their campaigns ask."""

import asyncio
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from unittest.mock import patch

from tests.agents.http_system import HttpSystem, says
from tests.endpoint import Script, ScriptedEndpoint

FOLDER = Path(__file__).parent / "old"
NAMES = ("measured", "models", "face", "half")
_MODELS, _SHOP = 48123, 48124


def copied(name: str, folder: Path) -> Path:
    """A copy of an old store."""
    return Path(shutil.copy(FOLDER / f"{name}.db", folder / f"{name}.db"))


def rows(path: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    """What a query finds in a store's file."""
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query, values).fetchall()
    finally:
        connection.close()


class EndpointAsThen(ScriptedEndpoint):
    """A scripted model where the campaigns' files say it is: its address is in all identities."""

    def __init__(self, script: Script):
        super().__init__(script)

    def __enter__(self) -> Self:
        """Start listening."""
        self._thread.start()
        started = self.server.start(_MODELS)
        asyncio.run_coroutine_threadsafe(started, self._loop).result(10)
        self.url = f"http://127.0.0.1:{_MODELS}/v1"
        return self


@contextmanager
def shop_as_then() -> Iterator[HttpSystem]:
    """The system `shop`, which answers otherwise each time, where the campaign's file says."""

    class AtItsPort(ThreadingHTTPServer):
        def __init__(self, _: object, handler: Any):
            super().__init__(("127.0.0.1", _SHOP), handler)

    with patch("tests.agents.http_system.ThreadingHTTPServer", AtItsPort):
        system = HttpSystem(lambda _: says({"text": "Something new."}))
    with system:
        yield system
