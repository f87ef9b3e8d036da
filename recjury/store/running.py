"""What is said to a running campaign, and what it says, in two small files beside the store.

The process that runs the campaign looks for the first one, and removes it when it has done what it
says. The second one says what is not in the store: which requests are open at the moment.
"""

import contextlib
import os
import re
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

import orjson

from recjury.errors import StoreError
from recjury.records import JSON
from recjury.store.claim import lock_path

_HOLDER = re.compile(r"process ([0-9]+) on (\S+)")


class RunningCampaign:
    """A campaign of a store, which a process may be running."""

    def __init__(self, store: Path, campaign: str):
        """`store` is the path of the store's file."""
        self.campaign = campaign
        self._lock = lock_path(store, campaign)
        self._wish = self._lock.with_suffix(".tune.json")
        self._state = self._lock.with_suffix(".state.json")

    @property
    def is_running(self) -> bool:
        """Whether a process runs it. On Windows, whether one has said so and has not ended."""
        if sys.platform == "win32":
            return self._state.exists()
        import fcntl

        try:
            handle = os.open(self._lock, os.O_RDWR)
        except FileNotFoundError:
            return False
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

    def wish(self, settings: Mapping[str, JSON]) -> None:
        """Ask the running process for other settings. Raises StoreError if nobody runs it."""
        if not self.is_running:
            raise StoreError(
                f"campaign {self.campaign} is not running: set it in the campaign file, or with "
                "the options of `recjury run`"
            )
        _write(self._wish, {**(_read(self._wish) or {}), **settings})

    @property
    def is_wished(self) -> bool:
        """Whether settings were asked for that the process has not taken yet."""
        return self._wish.exists()

    def take_wish(self) -> dict[str, JSON] | None:
        """The settings that are asked for, once; None without any. For the running process."""
        if not self._wish.exists():
            return None
        found = _read(self._wish)
        self._wish.unlink(missing_ok=True)
        return found

    def say(self, state: Mapping[str, JSON]) -> None:
        """Say what is open at the moment. For the running process."""
        _write(self._state, state)

    @property
    def state(self) -> dict[str, JSON] | None:
        """What the running process said last; None if there is no such process."""
        return _read(self._state) if self.is_running else None

    def end(self) -> None:
        """Remove both files. For the running process, when it ends."""
        self._wish.unlink(missing_ok=True)
        self._state.unlink(missing_ok=True)


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it belongs to somebody else
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
