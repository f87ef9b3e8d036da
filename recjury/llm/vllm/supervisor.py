"""Runs one server as its child, and ends it with everything it started when recjury ends.

`python supervisor.py SECONDS COMMAND...` is run as a file, by any Python, and imports nothing of
recjury. Its standard input is a pipe that recjury holds open: it closes however recjury ends, also
by SIGKILL. The supervisor leads a process group of its own, which the server's processes are in.
What the server writes goes to the supervisor's standard error. The supervisor writes two lines to
its standard output: the server's process id, and its exit status if it ends by itself. If the
supervisor itself is killed, Linux ends the server (PR_SET_PDEATHSIG).
"""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from types import FrameType

_EVERY = 0.2
_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Run the command until it ends or standard input closes."""
    grace, command = float(sys.argv[1]), sys.argv[2:]
    stopped = _Stopped()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stopped.note)
    try:
        server = subprocess.Popen(  # noqa: S603 (given by recjury)
            command,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            stderr=sys.stderr,
            preexec_fn=_end_with_parent,
        )
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        _say(f"exit {error.errno or 1}")
        return
    _say(f"pid {server.pid}")
    while server.poll() is None and not stopped.is_noted and not _input_is_closed():
        pass
    if server.poll() is not None:
        _say(f"exit {server.returncode}")
    else:
        server.terminate()
        ends = time.monotonic() + grace
        while server.poll() is None and time.monotonic() < ends:
            time.sleep(_EVERY / 4)
    os.killpg(os.getpgrp(), signal.SIGKILL)  # what is left of the server, and the supervisor


class _Stopped:
    def __init__(self) -> None:
        self.is_noted = False

    def note(self, _number: int, _frame: FrameType | None) -> None:
        self.is_noted = True


def _input_is_closed() -> bool:
    """Whether recjury closed its end of the pipe; waits for that a moment."""
    ready, _, _ = select.select([0], [], [], _EVERY)
    return bool(ready) and os.read(0, 1024) == b""


def _end_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _say(line: str) -> None:
    with contextlib.suppress(OSError):  # recjury may have ended
        os.write(1, f"{line}\n".encode())


if __name__ == "__main__":
    main()
