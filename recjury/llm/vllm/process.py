"""One run of a vLLM server: its process under a supervisor, its log, and why it ended.

A server ends with recjury (`supervisor`). If it does not, its processes still have the environment
variable that names their owner, and `recjury doctor` lists them.
"""

import asyncio
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

import psutil

OWNER = "RECJURY_VLLM_OWNER"
"""The process id of the recjury that started a server, in the server's environment."""

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_GRACE = 15.0  # seconds that a server has to end by itself
_LOOK_AGAIN = 0.05  # seconds
_TAIL = 64_000
_LINES = 3
_LONGEST_LINE = 300
# What vLLM's processes write before a line: (EngineCore pid=17) ERROR 11-22 12:00:00 [core.py:9]
_PREFIX = re.compile(
    r"^(?:\([^)]{1,60}\)\s*)?(?:(?:ERROR|INFO|WARNING)\s+[\d-]+\s+[\d:]+\s*\[[^\]]*\]\s*)?"
)
_ERROR = re.compile(r"^[\w.]*(?:Error|Exception|error)\b.{3,}|^[\w./ -]{0,60}error: ")


class ServerProcess:
    """A server that was started; it ends with this object's `end`, or with this process."""

    def __init__(self, supervisor: "subprocess.Popen[bytes]", log: Path, pid: int, port: int):
        """The supervisor leads the process group of the server, whose process id is `pid`."""
        self._supervisor = supervisor
        self.log, self.pid, self.port = log, pid, port

    @classmethod
    async def start(
        cls, command: Sequence[str], environment: Mapping[str, str], port: int, model: str
    ) -> Self:
        """Start `command`, which is to listen on `port`, and return before it does."""
        log = _new_log(model)
        with log.open("wb") as written:
            supervisor = subprocess.Popen(  # noqa: ASYNC220, S603 (milliseconds; own words)
                [sys.executable, "-I", "-S", str(_SUPERVISOR), str(_GRACE), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=written,
                env={**environment, OWNER: str(os.getpid())},
                start_new_session=True,
            )
        assert supervisor.stdout is not None
        said = await asyncio.to_thread(supervisor.stdout.readline)
        word, _, number = said.decode().partition(" ")
        pid = int(number) if word == "pid" else supervisor.pid
        return cls(supervisor, log, pid, port)

    @property
    def is_running(self) -> bool:
        """Whether the server has not ended."""
        return self._supervisor.poll() is None

    @property
    def url(self) -> str:
        """The server's address."""
        return f"http://127.0.0.1:{self.port}"

    def last_lines(self) -> str:
        """What the server wrote at last, its errors if there are any, on one line."""
        lines = [_PREFIX.sub("", line).strip() for line in self._tail().splitlines()]
        lines = [line[:_LONGEST_LINE] for line in lines if line]
        errors = list(dict.fromkeys(line for line in lines if _ERROR.match(line)))
        shown = errors[:1] + errors[1:][1 - _LINES :] if errors else lines[-_LINES:]
        return " | ".join(shown) or "it wrote nothing"

    async def end(self) -> None:
        """End the server and all its processes, and wait until they have ended."""
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        assert self._supervisor.stdin is not None
        assert self._supervisor.stdout is not None
        self._supervisor.stdin.close()
        try:
            self._supervisor.wait(_GRACE + 5)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
            self._supervisor.wait()
        self._supervisor.stdout.close()
        self._end_group()

    def _end_group(self) -> None:
        """End what a killed supervisor could not end.

        While a process of the group lives, no other group has its number.
        """
        ends = time.monotonic() + _GRACE
        with contextlib.suppress(ProcessLookupError):
            while time.monotonic() < ends:  # zombies that nobody reaps stay in the group
                os.killpg(self._supervisor.pid, signal.SIGKILL)
                time.sleep(_LOOK_AGAIN)

    def _tail(self) -> str:
        with self.log.open("rb") as file:
            file.seek(max(0, self.log.stat().st_size - _TAIL))
            return file.read().decode("utf-8", "replace")


def free_port() -> int:
    """A port of 127.0.0.1 that no program has at this moment."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _new_log(model: str) -> Path:
    """A new file in the folder for temporary files, which only this user can read."""
    name = re.sub(r"[^\w.-]", "_", Path(model).name)[:60]
    number, path = tempfile.mkstemp(prefix=f"recjury-vllm-{name}-", suffix=".log")
    os.close(number)
    return Path(path)


class LeftServer(NamedTuple):
    """A process group with processes of a server, and the process that started it and has ended."""

    group: int
    owner: int


def left_servers() -> list[LeftServer]:
    """The servers of this user whose owner has ended, by process group."""
    owners: defaultdict[int, int] = defaultdict(int)
    for process in psutil.process_iter():
        try:
            owner = process.environ().get(OWNER, "")
            if owner.isdigit() and not psutil.pid_exists(int(owner)):
                owners[os.getpgid(process.pid)] = int(owner)
        except (psutil.Error, OSError):  # another user's, or it has ended meanwhile
            continue
    return [LeftServer(group, owner) for group, owner in sorted(owners.items())]
