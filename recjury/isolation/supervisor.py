"""Starts a process with code of the user, watches it, and kills it with all its children.

recjury runs this file as a script: it imports the standard library only, and stays small. Standard
input brings one line of JSON (`Launch.instructions`) and stays open. If it is closed, by recjury or
because recjury has ended in whatever way, everything is killed. The last output is one line of
JSON: why the process ended, and what it printed last. Linux only.
"""

import contextlib
import ctypes
import glob
import importlib
import json
import os
import resource
import select
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_RECJURY = 0  # standard input: recjury holds its other end
_SECONDS = 0.1  # between two looks at the memory
_CHUNK, _LAST_OUTPUT = 1 << 16, 400  # bytes that are read at once, and kept
_KILL_ROUNDS = 2000

# prctl(2) and landlock(7)
_DEATH_SIGNAL, _SUBREAPER, _NO_NEW_PRIVILEGES = 1, 36, 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1, 2, 4, 8, 1 << 14
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_SCOPE_SIGNALS = 2
_CAPABILITIES = 0x20080522  # capset(2), version 3

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Supervise one process until it ends, or must end."""
    start = json.loads(sys.stdin.buffer.readline())
    _checked(_libc.prctl(_SUBREAPER, 1, 0, 0, 0))  # children of killed children become ours
    folder = tempfile.mkdtemp(prefix="recjury-")
    output, its_output = os.pipe()
    supervisor = os.getpid()
    worker = os.fork()
    if worker == 0:
        _run_worker(start, its_output, folder, supervisor)
    os.close(its_output)
    os.close(start["channel"])
    reason, printed = _watch(worker, output, start["memory"])
    _kill_descendants()
    while select.select([output], [], [], 0)[0] and (chunk := os.read(output, _CHUNK)):
        printed = (printed + chunk)[-_LAST_OUTPUT:]
    shutil.rmtree(folder, ignore_errors=True)
    _, _, rest = printed.partition(b"\n")
    if len(printed) == _LAST_OUTPUT and rest.strip():  # the first line is not whole
        printed = rest
    shown = printed.decode("utf-8", "replace")
    sys.stdout.write(json.dumps({"reason": reason, "output": shown}))


def _watch(worker: int, output: int, memory: int) -> tuple[str | None, bytes]:
    """Wait until the process ends, or must be killed; return why, and what it printed last.

    There is no reason if recjury closes its end. `memory` is in bytes.
    """
    printed, inputs, look_at = b"", [_RECJURY, output], 0.0
    while True:
        ready, _, _ = select.select(inputs, [], [], _SECONDS)
        if output in ready:
            chunk = os.read(output, _CHUNK)
            printed = (printed + chunk)[-_LAST_OUTPUT:]
            if not chunk:
                inputs.remove(output)
        pid, status = os.waitpid(worker, os.WNOHANG)
        if pid:
            return _ending(os.waitstatus_to_exitcode(status)), printed
        if _RECJURY in ready:
            return None, printed
        if time.monotonic() >= look_at:
            if _resident(worker, memory) > memory:
                return f"used more than {memory >> 20} MB of memory (`memory_mb`)", printed
            look_at = time.monotonic() + _SECONDS


def _ending(code: int) -> str:
    if code >= 0:
        return f"exited with code {code}"
    return f"was ended by signal {-code} ({signal.strsignal(-code)})"


def _descendants(pid: int) -> list[int]:
    """The children of a process, and their children; some may be missing if they fork just now."""
    found: list[int] = []
    pending = [pid]
    while pending:
        for name in glob.glob(f"/proc/{pending.pop()}/task/*/children"):
            with contextlib.suppress(OSError):
                children = [int(child) for child in Path(name).read_text("ascii").split()]
                found += children
                pending += children
    return found


def _resident(pid: int, most: int) -> int:
    """The resident memory of a process and its descendants in bytes, exact if it is above `most`.

    Limits of the kernel count what is mapped: torch maps many times what it uses. The exact number
    divides pages among the processes that share them, and takes long to read.
    """
    processes = (pid, *_descendants(pid))
    pages = sum(int(_read(each, "statm").split()[1]) for each in processes)
    if pages * resource.getpagesize() <= most:
        return pages * resource.getpagesize()
    lines = (line for each in processes for line in _read(each, "smaps_rollup").splitlines())
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))


def _read(pid: int, name: str) -> str:
    """A file that the kernel has about a process; zeros if the process has just ended."""
    try:
        return Path(f"/proc/{pid}/{name}").read_text("ascii", "replace")
    except OSError:
        return "0 0"


def _kill_descendants() -> None:
    for _ in range(_KILL_ROUNDS):
        alive = _descendants(os.getpid())
        if not alive:
            return
        for pid in alive:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.002)


def _run_worker(start: Mapping[str, Any], output: int, folder: str, supervisor: int) -> None:
    """Become the process with the code of the user; does not return."""
    code = 1
    try:
        os.setsid()
        _checked(_libc.prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0))
        if os.getppid() != supervisor:
            return
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(source, target)
        os.close(nothing)
        os.close(output)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        Path("/proc/self/oom_score_adj").write_text("1000", "ascii")  # it goes before recjury
        _close_files(start["readable"], start["listable"], ["/dev", folder])
        os.environ["TMPDIR"] = folder
        sys.path[:] = start["path"]
        importlib.import_module("recjury.isolation.worker").serve(start["channel"])
        code = 0
    except BaseException:  # it is printed like that of any program, and quoted by recjury
        traceback.print_exc()
    finally:
        os._exit(code)


def _close_files(readable: list[str], listable: list[str], writable: list[str]) -> None:
    """Give up all files but these, forever, and signals to other processes.

    Nothing happens if the kernel has no Landlock.
    """
    version = landlock_version()
    if version == 0:
        return
    handled = (1 << 13) - 1 | (1 << 13 if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    rules = struct.pack("=QQQ", handled, 0, _SCOPE_SIGNALS)[: 24 if version >= 6 else 8]
    ruleset = _checked(_libc.syscall(_CREATE_RULESET, rules, len(rules), 0))
    for paths, rights in (
        (readable, _EXECUTE | _READ_FILE | _READ_DIR),
        (listable, _READ_DIR),
        (writable, handled),
    ):
        for path in paths:
            _allow(ruleset, path, rights & handled)
    _checked(_libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _checked(_libc.syscall(_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)
    # Landlock does not keep root from reading the environment of other processes.
    _checked(_libc.capset(struct.pack("=Ii", _CAPABILITIES, 0), bytes(24)))


def landlock_version() -> int:
    """The version of Landlock's interface that the kernel has; 0 for none."""
    version: int = _libc.syscall(_CREATE_RULESET, None, 0, 1)
    return max(0, version)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # what is not there needs no right
        return
    if not os.path.isdir(path):
        rights &= _OF_FILES
    rule = struct.pack("=Qi", rights, place)
    _checked(_libc.syscall(_ADD_RULE, ruleset, 1, rule, 0))
    os.close(place)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


if __name__ == "__main__":
    main()
