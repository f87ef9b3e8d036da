"""Conversations judged in batches by `recjury judge`, which is killed at chosen moments."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.batch_server import BatchEndpoint
from tests.frozen.adapter import durable_calls

ROOT = Path(__file__).parents[1]
PER_LOG = 6
"""The factors of `core` that can be rated in a conversation without lists of items."""
_JUDGES = """
model:
  provider: openai-batch
  base_url: "{url}"
  name: scripted
  batch_size: {size}
  wait: {wait}
  poll: 0.5
evaluators: [{{kind: core, debate: {{kind: {debate}}}}}]
"""


class Ended(NamedTuple):
    """How a run ended: its exit code (-9: killed), its output, seconds (of the clock and of the
    processor), and its most memory in MB."""

    code: int
    out: str
    err: str
    seconds: float
    processor: float
    megabytes: float


class BatchJudging:
    """A folder with conversations, a configuration and a store."""

    def __init__(
        self,
        folder: Path,
        endpoint: BatchEndpoint,
        logs: int,
        *,
        size: int = 50_000,
        wait: float = 1.0,
        debate: str = "off",
    ):
        """Write so many conversations, each judged by six requests."""
        self.folder, self.endpoint, self.requests = folder, endpoint, logs * PER_LOG
        self._store = folder / "judged.db"
        self._logs = folder / "logs.jsonl"
        self._logs.write_text("".join(map(made_up_log, range(logs))), "utf-8")
        self._config = folder / "judges.yaml"
        text = _JUDGES.format(url=endpoint.url, size=size, wait=wait, debate=debate)
        self._config.write_text(text, "utf-8")

    @property
    def stored(self) -> int:
        """How many replies the store has."""
        return durable_calls(self._store)

    def run(
        self,
        until: Callable[[], bool] | None = None,
        *,
        how: signal.Signals = signal.SIGKILL,
        seconds: float = 600,
    ) -> Ended:
        """Judge; once `until` holds, the process is sent the signal `how`."""
        command = [sys.executable, "-m", "recjury", "judge", str(self._logs), "--json"]
        command += ["--config", str(self._config), "--store", f"sqlite:///{self._store}"]
        begun = time.monotonic()
        out, err = self.folder / "out.txt", self.folder / "err.txt"
        with out.open("wb") as said, err.open("wb") as errors:
            process = subprocess.Popen(
                command, stdout=said, stderr=errors, cwd=ROOT, preexec_fn=_interruptible
            )
            sent = until is None
            most = 0.0
            while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
                if not sent and until is not None and until():
                    process.send_signal(how)
                    sent = True
                if time.monotonic() - begun > seconds:
                    process.kill()
                most = max(most, _most_memory(process.pid))
                time.sleep(0.02)
        process.returncode = os.waitstatus_to_exitcode(ended[1])
        return Ended(
            process.returncode,
            out.read_text("utf-8"),
            err.read_text("utf-8"),
            time.monotonic() - begun,
            ended[2].ru_utime + ended[2].ru_stime,
            most,
        )


def _interruptible() -> None:
    """A process that a shell starts in the background ignores interrupts, and so do its own."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _most_memory(pid: int) -> float:
    """In MB; that of `wait4` would be the parent's, if that has more."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("ascii")
    except OSError:
        return 0.0
    found = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
    return int(found[0]) / 1024 if found else 0.0


def made_up_log(number: int) -> str:
    """A conversation without lists of items, as a line of a file."""
    wish = f"I liked film number {number}, quiet and with a good story. What else is there?"
    answer = f"You could try the one after it, number {number + 1}, which is as quiet."
    turns = [
        {"speaker": "user", "text": wish},
        {"speaker": "system", "text": answer},
        {"speaker": "user", "text": "That sounds good. Why this one?"},
        {"speaker": "system", "text": "It has the same director, and the same sad music."},
        {"speaker": "user", "text": "Thanks, I will watch it."},
    ]
    log = {"id": str(number), "system": "mine", "catalogue": "sample", "interaction": turns}
    return json.dumps(log) + "\n"
