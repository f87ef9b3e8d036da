"""A process with code of the user, as recjury sees it.

The first message to it and examples are pickles; all else is JSON. Nothing that comes back is a
pickle, because reading one runs what it names.
"""

import select
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from multiprocessing import Pipe
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, NamedTuple, cast

import orjson

from recjury.errors import UnitFailed
from recjury.plugins import exception_message
from recjury.safe_text import printable

Answer = Future[dict[str, Any]]

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_LARGEST_ANSWER = 4_000_000  # bytes
_MOST_VALUES = 200_000  # validating one may take a kB and some µs
_SECONDS_TO_REPORT = 1.0  # from a closed connection to the end of the process
_SECONDS_TO_KILL = 10.0


class ProcessEnded(Exception):
    """The process has ended; the message goes on after "its process"."""


class EndedByRequest(ProcessEnded):
    """It ended by itself while only this request was open."""


class Launch(NamedTuple):
    """What a process is started with.

    `instructions` are for the supervisor, and `first` is the first message. `examples` answers a
    process that asks for the examples of a split, until its object has been made.
    """

    instructions: Mapping[str, object]
    first: bytes
    environment: Mapping[str, str]
    examples: Callable[[str], bytes]


class WatchedProcess:
    """A running process. Any thread may ask it; two threads of its own read and write.

    `made` is the answer to the first message, once the object has been made.
    """

    def __init__(self, launch: Launch):
        """Start it, without waiting for it."""
        self.made = Answer()
        self.has_ended = False
        self._was_stopped = False
        self._examples = launch.examples
        self._open = {0: self.made}
        self._lock = threading.Lock()  # for `has_ended` and `_open`
        self._sending = threading.Lock()
        self._last = 0
        self._outbox = SimpleQueue[bytes | None]()
        self._channel, its_channel = Pipe()
        with its_channel:
            descriptor = its_channel.fileno()
            self._supervisor = subprocess.Popen(  # noqa: S603 (its arguments are ours)
                [sys.executable, "-I", "-u", str(_SUPERVISOR)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=dict(launch.environment),
                pass_fds=[descriptor],
                start_new_session=True,  # an interrupt from the keyboard is for recjury alone
            )
        self._lifeline = cast("IO[bytes]", self._supervisor.stdin)
        self._lifeline.write(orjson.dumps({**launch.instructions, "channel": descriptor}) + b"\n")
        self._lifeline.flush()
        self._outbox.put(launch.first)
        for work in (self._read, self._write):
            threading.Thread(target=work, name="recjury-system", daemon=True).start()

    def ask(self, request: Mapping[str, object]) -> Answer:
        """The answer to a request, or ProcessEnded if the process ends before it."""
        answer = Answer()
        with self._lock:
            if self.has_ended:
                answer.set_exception(ProcessEnded("has ended"))
                return answer
            self._last += 1
            self._open[self._last] = answer
            self._outbox.put(orjson.dumps({"id": self._last, **request}))
        return answer

    def stop(self) -> None:
        """Have it killed with all its children, without waiting for that."""
        self._was_stopped = True
        self._close()

    def _close(self) -> None:
        with self._lock:
            self.has_ended = True
        self._outbox.put(None)
        with suppress(OSError):
            self._lifeline.close()

    def _write(self) -> None:
        with suppress(OSError):
            while (content := self._outbox.get()) is not None:
                self._send(content)

    def _send(self, content: bytes) -> None:
        with self._sending:
            self._channel.send_bytes(content)

    def _read(self) -> None:
        fault = "sent what is not an answer"
        try:
            while True:
                self._take(_message(self._channel.recv_bytes(_LARGEST_ANSWER)))
        except EOFError:
            fault = "closed its connection"
        except OSError:
            fault = f"sent more than {_LARGEST_ANSWER} bytes, or closed its connection"
        except (LookupError, TypeError, ValueError):
            pass
        self._end(fault)

    def _take(self, message: dict[str, Any]) -> None:
        if "examples" in message and not self.made.done():
            # Sent by the thread that reads: until they are read, it takes no other message.
            self._send(self._examples(message["examples"]))
            return
        with self._lock:
            answer = self._open.pop(message["id"])
        with suppress(InvalidStateError):  # nobody waits for it any more
            answer.set_result(message)

    def _end(self, fault: str) -> None:
        """Kill what is left of it, and fail what is open with the reason."""
        report = self._report()
        reason = report.get("reason") or fault
        if self._was_stopped:
            reason = "was ended because another turn was late"
        elif report.get("output"):
            reason = f"{reason}; it printed last: {shown_text(report['output'])}"
        with self._lock:
            waiting = [answer for answer in self._open.values() if not answer.done()]
        kind = EndedByRequest if len(waiting) == 1 and not self._was_stopped else ProcessEnded
        for answer in waiting:
            with suppress(InvalidStateError):  # cancelled just now
                answer.set_exception(kind(reason))

    def _report(self) -> dict[str, Any]:
        """Why it ended, as the supervisor says; nothing if that was killed, too."""
        reports = cast("IO[bytes]", self._supervisor.stdout)
        select.select([reports], [], [], 0 if self._was_stopped else _SECONDS_TO_REPORT)
        self._close()
        if not select.select([reports], [], [], _SECONDS_TO_KILL)[0]:
            self._supervisor.kill()
        with reports, self._channel:
            content = reports.read()
            self._supervisor.wait()
        try:
            report: dict[str, Any] = orjson.loads(content)
        except orjson.JSONDecodeError:  # it was killed before it had said all
            report = {}
        return report


def _message(content: bytes) -> dict[str, Any]:
    """What it sent. Raises ValueError and TypeError for what is no JSON or cannot be stored."""
    if content.count(b",") > _MOST_VALUES:
        raise ValueError("too many values")
    message: dict[str, Any] = orjson.loads(content)
    orjson.dumps(message)  # writes less deep values than it reads
    return message


def shown_text(text: object) -> str:
    """A text from the process in one line, shortened."""
    return printable(exception_message(UnitFailed(str(text))))
