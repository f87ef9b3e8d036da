"""Records of running servers, so that one that a killed run left behind is found and ended.

A record has the process group of a server, and the recjury process that owns it. Both are told from
later processes with the same number by the boot of the machine and the time at which they began. If
the first process of the group has ended, one that has the server's log open must be in the group:
while a group has processes, no other group gets its number.
"""

import json
import os
import signal
import stat
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil

from recjury.errors import ConfigError
from recjury.logs import get_logger

logger = get_logger()

_GRACE = 10.0
_CLOCK = 2.0  # seconds by which the clock may have been set since


class ServerRecord(NamedTuple):
    """A server: its process group and when that began, the owner's process, and what it runs.

    The group has a session of its own with the same number. Times are in seconds since 1970, `boot`
    is the start of the machine in which they count, and `log` the file that the server writes to.
    """

    group: int
    group_began: float
    owner: int
    owner_began: float
    boot: str
    port: int
    model: str
    log: str


def records_folder() -> Path:
    """The folder of records and logs of this user, which nobody else can write to.

    Raises ConfigError if something else has its name.
    """
    folder = Path(tempfile.gettempdir()) / f"recjury-vllm-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            raise ConfigError(
                f"{folder} must be a folder of your own, and no link, because records of vLLM "
                "servers are kept there: remove it, or set TMPDIR to another folder"
            ) from None
    return folder


def new_record(group: int, port: int, model: str, log: Path) -> ServerRecord:
    """The record of a server that this process has started in the process group `group`."""
    own = os.getpid()
    times = (began(group) or time.time(), own, began(own) or 0.0)
    return ServerRecord(group, *times, _boot(), port, model, str(log.resolve()))


def write_record(record: ServerRecord) -> Path:
    """Keep a record, until its file is removed."""
    path = records_folder() / f"{record.group}.json"
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
    members: dict[int, float] = {}

    def is_left() -> bool:  # also if those that had the log open have ended
        members.update({pid: began(pid) or 0.0 for pid in group_members(record)})
        return any(_is_it(pid, since) for pid, since in members.items())

    for number in (signal.SIGTERM, signal.SIGKILL):
        if not is_left():
            return
        try:
            os.killpg(record.group, number)
        except ProcessLookupError:
            return
        ends = time.monotonic() + grace
        while is_left() and time.monotonic() < ends:
            time.sleep(0.05)


def group_members(record: ServerRecord) -> list[int]:
    """The living processes of a server. A later group with the same number has none of them."""
    if record.boot != _boot():
        return []
    found = [pid for pid in psutil.pids() if _is_member(pid, record)]
    if began(record.group) is not None:
        return found if _is_it(record.group, record.group_began) else []
    return found if any(_has_open(pid, record.log) for pid in found) else []


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


def _is_member(pid: int, record: ServerRecord) -> bool:
    try:
        if os.getpgid(pid) != record.group or os.getsid(pid) != record.group:
            return False
    except OSError:
        return False
    return (began(pid) or 0.0) >= record.group_began - _CLOCK


def _has_open(pid: int, path: str) -> bool:
    try:
        return any(each.path == path for each in psutil.Process(pid).open_files())
    except psutil.Error:
        return False


def _boot() -> str:
    """What tells this start of the machine from every other one."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:  # not Linux
        return f"{psutil.boot_time():.0f}"


def _read(path: Path) -> ServerRecord | None:
    try:
        return ServerRecord(**json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None
