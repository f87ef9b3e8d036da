"""Whole campaigns by a vLLM that recjury starts: read, killed, and started again."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import yaml

from recjury.store import Store

_SECONDS = 1500


class Campaign:
    """A campaign of the tiny model in a folder, run by `recjury run` in a process of its own."""

    def __init__(self, folder: Path, entry: dict[str, Any], scenarios: int, rounds: int = 2):
        """Write its file."""
        self._file, self.store = folder / "campaign.yaml", folder / "run.db"
        self._out = folder / "out.txt"
        content = {
            "name": "tiny",
            "scenarios": [{"corpus": "sample", "limit": scenarios}],
            "systems": ["retrieval"],
            "simulator": {"min_rounds": rounds, "max_rounds": rounds},
            "model": entry,
            "evaluators": ["outcome", "core", {"kind": "face", "aspects": ["relevance"]}],
            "concurrency": 32,
        }
        self._file.write_text(yaml.safe_dump(content), "utf-8")

    def start(self) -> "subprocess.Popen[bytes]":
        """Begin, or continue."""
        command = [sys.executable, "-m", "recjury", "run", str(self._file)]
        command += ["--store", f"sqlite:///{self.store}", "--json"]
        with self._out.open("ab") as out:
            return subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)

    def finish(self, running: "subprocess.Popen[bytes]") -> None:
        """Wait until it has ended well."""
        assert running.wait(_SECONDS) == 0, self._out.read_text("utf-8")[-2000:]

    def calls(self) -> list[tuple[str, str, str, int, int, float, float]]:
        """Purpose, parameters, finish reason, tokens of prompt and reply, start, latency."""
        if not self.store.exists():
            return []
        columns = "purpose, p.body, finish_reason, prompt_tokens, completion_tokens"
        query = f"SELECT {columns}, started_at, latency FROM call JOIN text p ON p.id = params"
        with sqlite3.connect(f"file:{self.store}?mode=ro", uri=True) as connection:
            try:
                return connection.execute(query).fetchall()
            except sqlite3.OperationalError:  # the tables are not there yet
                return []

    def statuses(self) -> Counter[str]:
        """Ratings, statements and turns of FACE by status."""
        found: Counter[str] = Counter()
        with sqlite3.connect(self.store) as connection:
            for table in ("rating", "statement", "face_turn"):
                query = f"SELECT status, count(*) FROM {table} GROUP BY status"
                found.update(dict(connection.execute(query).fetchall()))
        return found

    def server(self) -> dict[str, Any]:
        """What the store has of the server."""
        with Store.open(f"sqlite:///{self.store}") as kept:
            (campaign,) = kept.campaigns()
            learned = json.loads(json.dumps(campaign.learned))
        found: dict[str, Any] = learned["main"]["server"]
        return found


def _until(condition: Callable[[], bool], running: "subprocess.Popen[bytes]") -> None:
    ends = time.monotonic() + _SECONDS
    while not condition():
        assert running.poll() is None
        assert time.monotonic() < ends
        time.sleep(0.1)


def _processes_of(owner: int) -> list[psutil.Process]:
    """The supervisor and the processes of the server that a recjury process has started."""
    for supervisor in psutil.Process(owner).children():
        if any(word.endswith("supervisor.py") for word in supervisor.cmdline()):
            return [supervisor, *supervisor.children(recursive=True)]
    return []


def _asked_again(calls: list[Any]) -> int:
    """The replies that could not be read, so that they were asked for again."""
    return sum("attempt" in json.loads(params) for _, params, *_ in calls)


def test_every_reply_of_a_whole_campaign_is_read(
    tmp_path: Path, entry: dict[str, Any], figures: list[str]
) -> None:
    campaign = Campaign(tmp_path, entry, 2)
    begun = time.monotonic()
    campaign.finish(campaign.start())
    seconds = time.monotonic() - begun
    calls, statuses = campaign.calls(), campaign.statuses()
    kinds = Counter(purpose.split("/")[0] for purpose, *_ in calls)
    cut = sum(reason != "stop" for _, _, reason, *_ in calls)
    assert _asked_again(calls) == cut == 0
    assert set(statuses) <= {"scored", "not_applicable"}
    assert set(kinds) == {"simulator", "judge", "debate", "face"}
    first, last = min(call[5] for call in calls), max(call[5] + call[6] for call in calls)
    assert campaign.server()["restarts"] == 0
    figures += [
        f"whole campaign: {len(calls)} replies, {len(calls) - _asked_again(calls)} read ("
        + ", ".join(f"{kind} {number}" for kind, number in sorted(kinds.items()))
        + f"); {len(calls) / (last - first):.1f} calls a second, {seconds:.0f} s with the start of "
        "the server",
    ]


def test_debates_on_a_long_log_exceed_4096_tokens_and_are_read(
    tmp_path: Path, entry: dict[str, Any], figures: list[str]
) -> None:
    campaign = Campaign(tmp_path, entry | {"longest_text": 800}, 1, rounds=6)
    campaign.finish(campaign.start())
    calls = campaign.calls()
    debate = [call for call in calls if call[0].startswith("debate")]
    prompts = [prompt for _, _, _, prompt, *_ in debate]
    longest = max(prompt + said for _, _, _, prompt, said, *_ in debate)
    assert _asked_again(calls) == sum(call[2] != "stop" for call in calls) == 0
    assert set(campaign.statuses()) <= {"scored", "not_applicable"}
    assert max(prompts) > 4096
    figures.append(
        f"debate on a log of six rounds: {len(debate)} of {len(debate)} replies "
        f"read, {sum(each > 4096 for each in prompts)} of them to prompts of more than 4,096 "
        f"tokens; the longest prompt has {max(prompts):,}, with its reply {longest:,}"
    )


def test_recjury_is_killed_and_then_the_server_under_it(
    tmp_path: Path, entry: dict[str, Any], figures: list[str]
) -> None:
    campaign = Campaign(tmp_path, entry, 2)
    first = campaign.start()
    _until(lambda: len(campaign.calls()) >= 10, first)
    before = _processes_of(first.pid)
    assert len(before) > 2
    first.send_signal(signal.SIGKILL)
    first.wait()
    gone, alive = psutil.wait_procs(before, timeout=30)
    assert not alive
    kept = len(campaign.calls())

    second = campaign.start()
    _until(lambda: len(campaign.calls()) > kept, second)
    supervisor, server, *others = _processes_of(second.pid)
    os.kill(server.pid, signal.SIGKILL)
    campaign.finish(second)
    _, left = psutil.wait_procs([supervisor, server, *others], timeout=30)
    calls, statuses = campaign.calls(), campaign.statuses()
    assert not left
    assert _asked_again(calls) == 0
    assert set(statuses) <= {"scored", "not_applicable"}
    assert campaign.server()["restarts"] == 1
    figures.append(
        f"killed: recjury after {kept} replies ({len(gone)} processes ended by themselves), then "
        f"the server under the second run; {len(calls)} replies in the end, "
        f"{_asked_again(calls)} asked for again, every rating and statement there"
    )
