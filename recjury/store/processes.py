"""Whether the process of a run is still there."""

import os
import socket
from typing import Any

import psutil
from sqlalchemy import Row

from recjury.errors import UserError

_CLOCK = 2.0  # seconds by which two readings of one process's start may differ


def this_process() -> dict[str, Any]:
    """What a process is known by: host, number, and start in Unix seconds."""
    process = psutil.Process()
    return {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "process_start": process.create_time(),
    }


def is_there(run: Row[Any]) -> bool | None:
    """Whether the process of a run that did not end is there; None if it is of another host."""
    if run.host != socket.gethostname():
        return None
    try:
        process = psutil.Process(run.pid)
        is_same = abs(process.create_time() - run.process_start) < _CLOCK
        return is_same and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def check_gone(run: Row[Any]) -> None:
    """Raise UserError if the process of a run is there, or may be there on another host."""
    found = is_there(run)
    if found is False:
        return
    who = f"{run.campaign} is being run by process {run.pid} on {run.host} since {run.started_at}"
    if found is None:
        raise UserError(f"{who}: wait for it, or use --take-over if that process is gone")
    raise UserError(f"{who}: wait until it ends, or end it")
