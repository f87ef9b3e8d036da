"""Kills at random moments of a campaign: `python -m benchmarks.kills [--kills 100]`, in JSON lines.

A small campaign is run by one process, or by two at once, in an SQLite file or in a PostgreSQL on
this machine. At random moments one of its processes is killed (SIGKILL), and another one is started
in its place, until the campaign has ended; then the next campaign begins, until there were so many
kills. The processes are forks of one that has imported recjury, so that most of their time is the
campaign's.

A campaign has held if its results are those of one that nobody killed, every row has its seal, and
no more calls were sent again than were in flight: sent by any process, and not yet in the store.
"""

import argparse
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import product
from multiprocessing.connection import wait
from pathlib import Path

from recjury.__main__ import main as recjury
from recjury.errors import StoreError
from recjury.store import Store
from tests.campaign.player import play
from tests.campaign.test_shared import Campaign
from tests.endpoint import ScriptedEndpoint, fingerprint
from tests.postgres_server import PostgresServer, postgres_server

_LATENCY = 0.01
_SETTLED = 0.02  # seconds until the endpoint has read what a killed process had sent

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(
    [
        "__main__",
        "recjury.campaign.run",
        "recjury.cli.campaign_command",
        "recjury.debate.llm_debaters",
        "recjury.judges.core",
        "recjury.judges.outcome",
        "psycopg",
    ]
)
Process = multiprocessing.process.BaseProcess


@dataclass
class Killed:
    """What became of campaigns of so many `processes`, after so many `kills` of one of them.

    `failed` names the campaigns that did not hold, with the reason. `again` counts the calls that
    were sent more than once, and `most_in_flight` the calls that were in flight at one kill.
    """

    database: str
    processes: int
    kills: int = 0
    campaigns: int = 0
    calls: int = 0
    again: int = 0
    most_in_flight: int = 0
    load: Sequence[float] = ()
    failed: list[str] = field(default_factory=list)
    seconds: float = 0.0


class Killing:
    """Runs campaigns and kills their processes."""

    def __init__(self, folder: Path, endpoint: ScriptedEndpoint, chance: random.Random):
        """The results of one that nobody kills, and how long it takes, are found out at once."""
        self._folder, self._endpoint, self._chance = folder, endpoint, chance
        self._output = folder / "output.txt"
        for name in ("first", "whole"):  # the first one waits for the imports
            whole = Campaign(folder, endpoint, f"sqlite:///{folder}/{name}.db")
            begun = time.monotonic()
            process = self._started(whole)
            process.join()
            self.seconds = time.monotonic() - begun
            assert process.exitcode == 0, self._said(process)
        self._expected = whole.results()

    def run(self, url: str, found: Killed, most: int) -> None:
        """Run a campaign in a new store, with at most so many kills, and see what became of it."""
        self._endpoint.bodies.clear()
        campaign = Campaign(self._folder, self._endpoint, url)
        running = [self._started(campaign) for _ in range(found.processes)]
        kills, allowed = 0, 0
        problems: list[str] = []
        while running:
            until = self._chance.uniform(0, self.seconds) if kills < most else None
            wait([each.sentinel for each in running], until)
            ended = [each for each in running if not each.is_alive()]
            problems += [self._said(each) for each in ended if each.exitcode]
            running = [each for each in running if each not in ended]
            if ended:
                continue
            if self._again() > allowed:
                problems.append(f"{self._again() - allowed} calls too many after kill {kills}")
            in_flight = self._kill(self._chance.choice(running), running, campaign)
            allowed = self._again() + in_flight
            found.most_in_flight = max(found.most_in_flight, in_flight)
            kills += 1
            running = [each for each in running if each.is_alive()] + [self._started(campaign)]
        found.kills += kills
        found.campaigns += 1
        found.calls += len(self._endpoint.bodies)
        found.again += self._again()
        problems += self._problems(campaign, self._again() - allowed)
        if problems:
            found.failed.append(f"{url}: {'; '.join(problems)}")

    def _kill(self, victim: Process, running: list[Process], campaign: Campaign) -> int:
        """Kill a process, and count the calls in flight while the others stand still."""
        # A process that stands still while it makes the store would lock it.
        before = _durable(campaign)
        stopped = [each for each in running if each is not victim] if before else []
        for each in stopped:
            _send(each, signal.SIGSTOP)
        victim.kill()
        victim.join()
        time.sleep(_SETTLED)
        durable = max(before, _durable(campaign))
        sent = len({fingerprint(body) for body in list(self._endpoint.bodies)})
        for each in stopped:
            _send(each, signal.SIGCONT)
        return sent - durable

    def _again(self) -> int:
        return sum(count - 1 for count in self._endpoint.counts.values())

    def _problems(self, campaign: Campaign, too_many: int) -> list[str]:
        with Store.open(campaign.store, read_only=True) as store:
            problems = list(store.verify().problems)
        if too_many > 0:
            problems.append(f"{too_many} calls too many after the last kill")
        if campaign.results() != self._expected:
            problems.append("its results are others")
        return problems

    def _started(self, campaign: Campaign) -> Process:
        process = _forks.Process(target=_command, args=(campaign.command, self._output))
        process.start()
        return process

    def _said(self, process: Process) -> str:
        said = self._output.read_text("utf-8").splitlines()
        return f"exit code {process.exitcode}: {said[-1] if said else 'nothing said'}"


def _send(process: Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):  # it has just ended
        os.kill(process.pid or 0, number)


def _durable(campaign: Campaign) -> int:
    """How many calls its store has."""
    try:
        with Store.open(campaign.store, read_only=True) as store:
            return sum(store.spent(each.id).calls for each in store.campaigns())
    except StoreError:  # it is being made
        return 0


def _command(arguments: list[str], output: Path) -> None:
    """Run `recjury` in this process."""
    sys.argv = ["recjury", *arguments]
    with output.open("w", encoding="utf-8") as said:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
    recjury()


def killed(server: PostgresServer, folder: Path, kills: int, seed: int) -> Iterator[Killed]:
    """What became of campaigns of one and two processes in both databases, by so many kills."""
    with ScriptedEndpoint(play, latency=_LATENCY) as endpoint:
        killing = Killing(folder, endpoint, random.Random(seed))
        for database, processes in product(("sqlite", "postgresql"), (1, 2)):
            found = Killed(database, processes, load=os.getloadavg())
            begun = time.monotonic()
            while found.kills < kills:
                name = f"{found.database}{found.processes}_{found.campaigns}"
                is_file = found.database == "sqlite"
                url = f"sqlite:///{folder}/{name}.db" if is_file else server.create(name)
                killing.run(url, found, kills - found.kills)
            found.seconds = time.monotonic() - begun
            yield found


def main() -> None:
    """Kill, and print what became of the campaigns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="of each kind")
    parser.add_argument("--seed", type=int, default=29)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, postgres_server() as server:
        for found in killed(server, Path(folder), options.kills, options.seed):
            print(json.dumps(asdict(found)), flush=True)


if __name__ == "__main__":
    main()
