"""Copies of the stores that earlier code made, and who answers where their campaigns ask."""

import asyncio
import errno
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self, TypeVar
from unittest.mock import patch

from tests.agents.http_system import HttpSystem, says
from tests.endpoint import Script, ScriptedEndpoint

FOLDER = Path(__file__).parent / "old"
NAMES = ("measured", "models", "face", "half")
# Addresses are part of identities, so that these ports cannot be others.
_MODELS, _SHOP = 48123, 48124
Value = TypeVar("Value")


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
        _when_free(self._listen)
        self.url = f"http://127.0.0.1:{_MODELS}/v1"
        return self

    def _listen(self) -> None:
        started = self.server.start(_MODELS)
        asyncio.run_coroutine_threadsafe(started, self._loop).result(10)


def _when_free(listen: Callable[[], Value]) -> Value:
    """What `listen` returns once no other test process has the port."""
    until = time.monotonic() + 120
    while True:
        try:
            return listen()
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() > until:
                raise
        time.sleep(0.1)


@contextmanager
def shop_as_then() -> Iterator[HttpSystem]:
    """The system `shop`, which answers otherwise each time, where the campaign's file says."""

    class AtItsPort(ThreadingHTTPServer):
        def __init__(self, _: object, handler: Any):
            super().__init__(("127.0.0.1", _SHOP), handler)

    with patch("tests.agents.http_system.ThreadingHTTPServer", AtItsPort):
        system = _when_free(lambda: HttpSystem(lambda _: says({"text": "Something new."})))
    with system:
        yield system
