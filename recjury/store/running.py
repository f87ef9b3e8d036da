"""What is said to a running campaign, and what it says, in small files beside the store.

Another process writes a wish. The process that runs the campaign takes it, which removes the file,
and writes an answer, which the other one removes. Whoever removes a wish decides about it, so one
that was taken back is never taken. A third kind of file says what is not in the store: which
requests are open at the moment.
"""

import contextlib
import glob
import os
import re
import secrets
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson

from recjury.errors import StoreError
from recjury.records import JSON
from recjury.store.claim import lock_path, open_beside

_HOLDER = re.compile(r"process ([0-9]+) on (\S+)")
_LOOK_AGAIN = 0.1  # seconds between two looks for an answer
_ANSWER_SECONDS = 5.0  # for an answer to a wish that was taken
_REFUSED = "refused"


class RunningCampaign:
    """A campaign of a store, which a process may be running."""

    def __init__(self, store: Path, campaign: str):
        """`store` is the path of the store's file."""
        self.campaign = campaign
        self._lock = lock_path(store, campaign)
        self._state = self._lock.with_suffix(".state.json")

    @property
    def is_running(self) -> bool:
        """Whether a process runs it. On Windows, whether one has said so and has not ended.

        Raises StoreError if that cannot be found out.
        """
        if sys.platform == "win32":
            return self._state.exists()
        import fcntl

        try:
            handle = open_beside(self._lock, os.O_RDONLY)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise StoreError(f"{self._lock} cannot be read: {error.strerror}") from None
        try:
            # First by the process's number: a lock that is only tried could keep a run from it.
            holder = _HOLDER.match(os.read(handle, 200).decode(errors="replace"))
            if holder and holder[2] == socket.gethostname() and not _exists(int(holder[1])):
                return False
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False

    def ask(self, settings: Mapping[str, JSON], patience: float) -> None:
        """Have the running process change its settings, within `patience` seconds.

        Raises StoreError if nobody runs the campaign, or if the settings are not changed; then they
        are not changed later either.
        """
        if not self.is_running:
            raise StoreError(
                f"campaign {self.campaign} is not running: set it in the campaign file, or with "
                "the options of `recjury run`"
            )
        name = secrets.token_hex(4)
        wish, answer = self._file(f"tune-{name}"), self._file(f"tuned-{name}")
        _write(wish, settings)
        try:
            problem = self._problem(wish, answer, patience)
        finally:
            for path in (wish, answer):
                with contextlib.suppress(OSError):
                    path.unlink(missing_ok=True)
        if problem is not None:
            raise StoreError(f"campaign {self.campaign}: {problem}")

    def _problem(self, wish: Path, answer: Path, patience: float) -> str | None:
        """Why nothing was changed; None if the process answers that it has changed the settings."""
        until = time.monotonic() + patience
        is_taken = False
        while True:
            is_running = self.is_running  # asked first: a process may answer, and then end
            found = _read(answer)
            if found is not None:
                refused = found.get(_REFUSED)
                return None if refused is None else f"not changed: {refused}"
            if not is_running:
                return "not changed: its run has ended"
            if time.monotonic() > until:
                if is_taken:
                    return "asked for, but its process does not say whether it has changed it"
                if _removed(wish):
                    return (
                        f"not changed: its process did not look within {patience:g} seconds; it "
                        "begins, ends, or is very busy: try again"
                    )
                is_taken, until = True, time.monotonic() + _ANSWER_SECONDS
            time.sleep(_LOOK_AGAIN)

    def take_wishes(self) -> Iterator[tuple[str, dict[str, JSON] | None]]:
        """The settings that are asked for, each once, with a name for `answer`; None for those that
        cannot be read. For the running process."""
        for path in self._files("tune-*"):
            found = _read(path)
            if _removed(path):
                yield path.name.removesuffix(".json").rpartition("tune-")[2], found

    def answer(self, name: str, refused: str | None = None) -> None:
        """Answer a wish: it was done, or why not. For the running process."""
        _write(self._file(f"tuned-{name}"), {_REFUSED: refused})

    def say(self, state: Mapping[str, JSON]) -> None:
        """Say what is open at the moment. For the running process."""
        _write(self._state, state)

    @property
    def state(self) -> dict[str, JSON] | None:
        """What the running process said last; None if there is no such process."""
        return _read(self._state) if self.is_running else None

    def forget(self) -> None:
        """Remove what a killed process left. For the running process, when it begins."""
        for path in (self._state, *self._files("tune-*"), *self._files("tuned-*")):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)

    def end(self) -> None:
        """Refuse what is still asked for, and show no state. For the running process, when it
        ends; does not raise."""
        with contextlib.suppress(OSError, StoreError):
            self._state.unlink(missing_ok=True)
            for name, _ in self.take_wishes():
                self.answer(name, "its run has ended")

    def _file(self, name: str) -> Path:
        return self._lock.with_suffix(f".{name}.json")

    def _files(self, pattern: str) -> list[Path]:
        stem = glob.escape(self._lock.stem)
        return sorted(self._lock.parent.glob(f"{stem}.{pattern}.json"))


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it belongs to somebody else
    return True


def _removed(path: Path) -> bool:
    """Remove a file; False if it was removed before."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def _write(path: Path, content: Mapping[str, JSON]) -> None:
    """Write a file in one step, so that nobody reads half of it."""
    fresh = path.with_suffix(f".{os.getpid()}")
    try:
        fresh.write_bytes(orjson.dumps(content))
        fresh.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise StoreError(f"{path} cannot be written: {error}") from None


def _read(path: Path) -> dict[str, JSON] | None:
    try:
        found = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    return found if isinstance(found, dict) else None
