"""vLLM servers that are left although the recjury that started them has ended.

A server ends with recjury (`supervisor`). If it does not, its processes still have the environment
variable that names their owner, and `recjury doctor` lists them.
"""

import os
from collections import defaultdict
from typing import NamedTuple

import psutil

OWNER = "RECJURY_VLLM_OWNER"
"""The process id of the recjury that started a server, in the server's environment."""


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
