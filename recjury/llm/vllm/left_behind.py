"""Records of running servers, so that one that a killed run left behind is found and ended.

A record has the process group of a server, and the recjury process that owns it. Both are told from
later processes with the same number by the time at which they began.
"""

import json
import os
import signal
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil

from recjury.logs import get_logger

logger = get_logger()

_GRACE = 10.0
_CLOCK = 2.0  # seconds by which the clock may have been set since


class ServerRecord(NamedTuple):
    """A server: its process group and when that began, the owner's process, and what it runs.

    Times are in seconds since 1970.
    """

    group: int
    group_began: float
    owner: int
    owner_began: float
    port: int
    model: str


def records_folder() -> Path:
    """The folder of records and logs of this user, which nobody else can write to."""
    folder = Path(tempfile.gettempdir()) / f"recjury-vllm-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.lstat().st_uid != os.getuid():
        folder = Path(tempfile.mkdtemp(prefix="recjury-vllm-"))
    return folder


def write_record(group: int, port: int, model: str) -> Path:
    """Keep a record of the server in the process group `group`, which this process owns."""
    own = os.getpid()
    record = ServerRecord(group, began(group) or time.time(), own, began(own) or 0.0, port, model)
    path = records_folder() / f"{group}.json"
    path.write_text(json.dumps(record._asdict()), "utf-8")
    return path


def left_behind() -> list[ServerRecord]:
    """The servers whose owner has ended, while they have not; records of others are removed."""
    found = []
    for path in sorted(records_folder().glob("*.json")):
        record = _read(path)
        if record is None or not group_members(record):
            path.unlink(missing_ok=True)
        elif not _is_it(record.owner, record.owner_began):
            found.append(record)
    return found


def end_left_behind() -> list[ServerRecord]:
    """End the servers that killed runs left behind, and return them."""
    ended = left_behind()
    for record in ended:
        end_group(record)
        (records_folder() / f"{record.group}.json").unlink(missing_ok=True)
        logger.warning(
            "ended a vLLM server that a killed run left behind",
            model=record.model,
            port=record.port,
        )
    return ended


def end_group(record: ServerRecord, grace: float = _GRACE) -> None:
    """End all processes of a server: SIGTERM, and SIGKILL after `grace` seconds."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not group_members(record):
            return
        try:
            os.killpg(record.group, number)
        except ProcessLookupError:
            return
        ends = time.monotonic() + grace
        while group_members(record) and time.monotonic() < ends:
            time.sleep(0.05)


def group_members(record: ServerRecord) -> list[int]:
    """The living processes of a server. A later group with the same number has none of them."""
    if began(record.group) is not None and not _is_it(record.group, record.group_began):
        return []
    return [pid for pid in psutil.pids() if _group_of(pid) == record.group and began(pid)]


def began(pid: int) -> float | None:
    """When a process began, in seconds since 1970; None if there is none, or if it has ended."""
    try:
        process = psutil.Process(pid)
        if process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
            return None
        return float(process.create_time())
    except psutil.Error:
        return None


def _is_it(pid: int, time_of_begin: float) -> bool:
    found = began(pid)
    return found is not None and abs(found - time_of_begin) < _CLOCK


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except OSError:
        return None


def _read(path: Path) -> ServerRecord | None:
    try:
        return ServerRecord(**json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None
