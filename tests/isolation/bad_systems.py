"""Systems that do what no system should, each when the user's last words name it."""

import asyncio
import builtins
import contextlib
import ctypes
import gc
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from recjury.errors import SystemFailed
from recjury.isolation.launch import ShownCorpus
from recjury.records import JSON, Conversation, ItemRef, SystemReply

FINE = SystemReply(text="Try Ran.")
BAD: dict[str, Callable[[], Any]] = {}
UNCHECKED_TEXT: dict[str, Any] = {"text": b"bytes"}
UNCHECKED_ITEMS: dict[str, Any] = {"text": "So.", "items": ("Ran",)}


def bad(action: Callable[[], Any]) -> Callable[[], Any]:
    """List an action under its name."""
    BAD[action.__name__] = action
    return action


class Bad:
    """Does what the user says, in a thread; anything else is answered properly."""

    def __init__(self, corpus: ShownCorpus, *, name: str):
        self.name = name
        self.settings: Mapping[str, JSON] = {}

    def respond(self, conversation: Conversation) -> Any:
        action = BAD.get(conversation.turns[-1].text)
        return FINE if action is None else action()

    def aclose(self) -> None:
        """Nothing to release."""


class BadInLoop(Bad):
    """The same in the event loop."""

    async def respond(self, conversation: Conversation) -> Any:
        return super().respond(conversation)


class Unspeakable(Exception):
    """Its message cannot be read."""

    def __str__(self) -> str:
        raise RuntimeError


class Stop(BaseException):
    """What `except Exception` does not catch."""


class Pretender:
    """Says that it is a reply."""

    __class__ = SystemReply  # type: ignore[assignment]


def _raise(error: BaseException) -> None:
    raise error


def _sockets() -> list[socket.socket]:
    """The connection to recjury, and what the event loop has."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                found.append(socket.socket(socket.AF_UNIX, fileno=os.dup(int(name))))
    return found


def _send_raw(content: bytes) -> None:
    for each in _sockets():
        each.sendall(content)
    time.sleep(600)


def _send(content: bytes) -> None:
    _send_raw(len(content).to_bytes(4) + content)


def _keep(megabytes: int) -> None:
    kept = []
    for _ in range(megabytes // 8):
        kept.append(b"x" * (8 << 20))
        time.sleep(0.005)
    time.sleep(60)


def _in_child(action: Callable[[], Any]) -> int:
    pid = os.fork()
    if pid == 0:
        action()
        os._exit(0)
    return pid


def _far_child() -> None:
    """Leave a child of a child in a session of its own, which ignores what it can."""

    def leave() -> None:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        _in_child(lambda: time.sleep(600))

    os.waitpid(_in_child(leave), 0)


# What it raises.
for _error in (ValueError("no"), SystemExit(3), Stop("no"), GeneratorExit(), StopIteration(1)):
    BAD[f"raise_{type(_error).__name__}"] = partial(_raise, _error)
BAD["raise_unspeakable"] = lambda: _raise(Unspeakable())
BAD["raise_long"] = lambda: _raise(ValueError("x" * 10_000_000))
BAD["raise_lines"] = lambda: _raise(SystemFailed("a\nb\x00\x1b[31m\ud800"))
BAD["interrupt"] = lambda: _raise(KeyboardInterrupt())
BAD["no_memory"] = lambda: bytearray(1 << 60)

# What it returns.
BAD["nothing"] = lambda: None
BAD["text"] = lambda: "Try Ran."
BAD["mapping"] = lambda: {"text": "Try Ran.", "items": []}
BAD["lambda"] = lambda: lambda: 0
BAD["class"] = lambda: SystemReply
BAD["pretender"] = Pretender
BAD["open_file"] = lambda: Path(os.devnull).open()  # noqa: SIM115
BAD["lock"] = threading.Lock
BAD["generator"] = lambda: (each for each in [FINE])
BAD["no_text"] = lambda: SystemReply(text=" ")
BAD["nul"] = lambda: SystemReply(text="a\0b")
BAD["surrogate"] = lambda: SystemReply(text="\ud800")
BAD["unchecked_text"] = lambda: SystemReply.model_construct(**UNCHECKED_TEXT)
BAD["unchecked_items"] = lambda: SystemReply.model_construct(**UNCHECKED_ITEMS)
BAD["too_long"] = lambda: SystemReply(text="x" * 50_000_000)
BAD["too_many"] = lambda: SystemReply(
    text="So.", items=tuple(ItemRef(id=None, name=f"{n:0200}") for n in range(20_000))
)

# How it ends.
BAD["exit_0"] = lambda: os._exit(0)
BAD["exit_3"] = lambda: os._exit(3)
BAD["abort"] = os.abort
BAD["segfault"] = lambda: ctypes.string_at(0)
BAD["kill_itself"] = lambda: os.kill(os.getpid(), signal.SIGKILL)


@bad
def alarm() -> None:
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    time.sleep(600)


@bad
def deep_recursion() -> Any:
    sys.setrecursionlimit(10**9)
    return deep_recursion()


@bad
def shallow_recursion() -> Any:
    return shallow_recursion()


@bad
def say_and_die() -> None:
    print("the last words")  # noqa: T201 (as people do)
    print("on stderr", file=sys.stderr)  # noqa: T201
    os._exit(1)


@bad
def print_lines_and_die() -> None:
    print("\n".join(f"line {n} of many" for n in range(100)))  # noqa: T201
    os._exit(1)


@bad
def print_megabytes_and_die() -> None:
    for _ in range(50):
        sys.stdout.write("many words " * 100_000)
    print("the end")  # noqa: T201
    os._exit(1)


# What it does not do in time.
def _spin() -> None:
    while True:
        pass


BAD["spin"] = _spin
BAD["sleep"] = lambda: time.sleep(600)
BAD["spin_in_c"] = lambda: re.match("(a+)+$", "a" * 60 + "b")
BAD["stop_itself"] = lambda: os.kill(os.getpid(), signal.SIGSTOP)


@bad
def print_forever() -> None:
    while True:
        sys.stdout.write("words " * 10_000)


@bad
def ignore_everything() -> None:
    libc = ctypes.CDLL(None)
    libc.prctl(1, 0, 0, 0, 0)  # no signal when its parent ends
    libc.signal(signal.SIGTERM, 1)
    time.sleep(600)


# What it does to its process.
BAD["close_all"] = lambda: os.closerange(0, 4096)
BAD["eat_memory"] = lambda: _keep(4000)


@bad
def shut_channel() -> None:
    for each in _sockets():
        each.shutdown(socket.SHUT_RDWR)
    _spin()


@bad
def eat_memory_in_child() -> None:
    _in_child(lambda: _keep(4000))
    time.sleep(600)


@bad
def lose_builtins() -> SystemReply:
    builtins.__dict__.clear()
    return FINE


@bad
def lose_json() -> SystemReply:
    orjson.dumps = lambda *_, **__: b"nonsense"
    return FINE


@bad
def leave_child_and_die() -> None:
    _in_child(lambda: time.sleep(600))
    os._exit(1)


@bad
def leave_far_child_and_die() -> None:
    _far_child()
    os._exit(1)


@bad
def leave_program_and_die() -> None:
    subprocess.Popen(["/bin/sleep", "600"], start_new_session=True)
    os._exit(1)


@bad
def fork_and_return_twice() -> SystemReply:
    os.fork()
    return FINE


@bad
def many_children_and_die() -> None:
    for _ in range(20):
        _in_child(lambda: time.sleep(600))
    os._exit(1)


# What it sends.
BAD["send_noise"] = lambda: _send(b"\x80\x04noise")
BAD["send_list"] = lambda: _send(b"[1]")
BAD["send_nothing"] = lambda: _send(b"")
BAD["send_deep"] = lambda: _send(b"[" * 100_000)
BAD["send_foreign_id"] = lambda: _send(b'{"id": 7000, "reply": {"text": "So."}}')
BAD["send_typed_id"] = lambda: _send(b'{"id": [], "reply": {}}')
BAD["send_settings_again"] = lambda: _send(b'{"id": 0, "settings": {}}')
BAD["send_pickle"] = lambda: _send(b"cposix\nsystem\n(S'touch /tmp/taken'\ntR.")
BAD["send_size"] = lambda: _send_raw((2_000_000_000).to_bytes(4))
BAD["send_negative_size"] = lambda: _send_raw(b"\xff\xff\xff\xfe")


@bad
def send_half() -> None:
    for each in _sockets():
        each.sendall(b"\0\0")
    os._exit(1)


# What it does to its event loop.
@bad
def never_ready() -> Any:
    return asyncio.Event().wait()


@bad
def cancel_itself() -> None:
    raise asyncio.CancelledError


@bad
def cancel_everything() -> Any:
    for task in asyncio.all_tasks():
        task.cancel()
    return never_ready()


@bad
def stop_loop() -> Any:
    asyncio.get_running_loop().stop()
    return never_ready()


# What it does to others.
def _recjury() -> int:
    supervisor = Path(f"/proc/{os.getppid()}/stat").read_text("utf-8")
    return int(supervisor.rpartition(")")[2].split()[1])


BAD["kill_supervisor"] = lambda: os.kill(os.getppid(), signal.SIGKILL)
BAD["kill_recjury"] = lambda: os.kill(_recjury(), signal.SIGKILL)
BAD["read_recjury"] = lambda: Path(f"/proc/{_recjury()}/environ").read_bytes()
BAD["read_memory"] = lambda: os.open(f"/proc/{_recjury()}/mem", os.O_RDONLY)
BAD["write_here"] = lambda: Path("taken").write_text("x", "utf-8")
BAD["write_code"] = lambda: os.open(__file__, os.O_WRONLY)
BAD["delete"] = lambda: Path(__file__).unlink()
BAD["read_home"] = lambda: list(Path.home().iterdir())


# What is no fault, but must leave nothing behind.
HARMLESS = ("threads", "children", "change_conversation", "collect", "temporary")


@bad
def threads() -> SystemReply:
    for _ in range(50):
        threading.Thread(target=time.sleep, args=(600,)).start()
    return FINE


@bad
def children() -> SystemReply:
    for _ in range(5):
        _in_child(lambda: time.sleep(600))
    _far_child()
    return FINE


@bad
def change_conversation() -> SystemReply:
    for each in gc.get_objects():
        if isinstance(each, Conversation):
            object.__setattr__(each, "turns", ())
    return FINE


@bad
def temporary() -> SystemReply:
    (Path(os.environ["TMPDIR"]) / "mine").write_text("x", "utf-8")
    return FINE


@bad
def collect() -> SystemReply:
    gc.disable()
    os.chdir("/")
    os.environ.clear()
    sys.path.clear()
    return FINE
