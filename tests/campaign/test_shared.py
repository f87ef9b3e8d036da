"""Two processes run one campaign at the same time, on SQLite and on PostgreSQL."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from recjury.campaign import CampaignConfig, Progress, RunResult, run_campaign, runner
from recjury.campaign.left import Left
from recjury.campaign.plan import pages
from recjury.campaign.progress import UnitCounts
from recjury.cli.output import SOME_FAILED
from recjury.cluster import driver
from recjury.errors import SystemFailed
from recjury.records import JSON, Conversation, SystemReply
from recjury.store import Store, Worker
from recjury.store.workers import Lease, beat, lease, whose
from tests.campaign.player import play
from tests.endpoint import RemoteEndpoint, ScriptedEndpoint
from tests.postgres_server import PostgresServer

CAMPAIGN = """
scenarios: [{{corpus: sample, limit: {limit}}}]
systems: [{systems}]
model: {{base_url: "{url}", name: scripted, price_in: 10, price_out: 40}}
concurrency: 4
{more}"""
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[RemoteEndpoint]:
    with RemoteEndpoint("tests.campaign.player:play", latency=0.1) as running:
        yield running


class Campaign:
    """A campaign that is run by processes, in one store."""

    def __init__(
        self,
        folder: Path,
        endpoint: RemoteEndpoint | ScriptedEndpoint,
        store: str,
        systems: str = "chatcrs",
        *,
        limit: int = 6,
        more: str = "",
    ):
        """Its file is in `folder`."""
        self.store = store
        self._changes = {"systems": systems, "limit": limit, "more": more}
        self._file = folder / "campaign.yaml"
        self.write_file(endpoint)

    def write_file(self, endpoint: RemoteEndpoint | ScriptedEndpoint) -> None:
        """Have its model answer at this endpoint."""
        text = CAMPAIGN.format(url=endpoint.url, **self._changes)
        self._file.write_text(text, "utf-8")

    @property
    def command(self) -> list[str]:
        """What is given to `recjury` so that it runs it."""
        return ["run", str(self._file), "--store", self.store]

    def start(self, *more: str) -> "subprocess.Popen[str]":
        """One more process that runs it."""
        return subprocess.Popen(
            [sys.executable, "-m", "recjury", *self.command, *more],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    def results(self) -> dict[str, Any]:
        """What its store has in the end, without what a clock says."""
        with Store.open(self.store, read_only=True) as store:
            found = {
                each.conversation: [
                    (one.label, rating.factor, rating.score)
                    for one in each.evaluations
                    for rating in one.ratings
                    if rating.factor != "seconds_per_turn"
                ]
                for each in store.results()
            }
            (campaign,) = store.campaigns()
            assert store.running(campaign.id).state is None
            verdicts = [(each.conversation, each.score) for each in store.debates(campaign.id)]
            spent = store.spent(campaign.id)
        tokens = spent.prompt_tokens + spent.completion_tokens
        return {"results": found, "verdicts": verdicts, "calls": spent.calls, "tokens": tokens}

    def costs(self) -> list[float]:
        """The US dollars that each of its calls took."""
        with Store.open(self.store, read_only=True) as store:
            taken = [each.reply.usage for each in store.calls()]
        return [(10 * each.prompt_tokens + 40 * each.completion_tokens) / 1e6 for each in taken]


def _wait(process: "subprocess.Popen[str]") -> str:
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    return said


@pytest.fixture(scope="module")
def alone(endpoint: RemoteEndpoint, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The campaign by one process."""
    folder = tmp_path_factory.mktemp("alone")
    campaign = Campaign(folder, endpoint, f"sqlite:///{folder}/store.db")
    _wait(campaign.start())
    return campaign.results()


@pytest.fixture(params=["sqlite", "postgres"])
def campaign(request: pytest.FixtureRequest, tmp_path: Path, endpoint: RemoteEndpoint) -> Campaign:
    if request.param == "sqlite":
        return Campaign(tmp_path, endpoint, f"sqlite:///{tmp_path}/store.db")
    server: PostgresServer = request.getfixturevalue("postgres")
    name = "".join(filter(str.isalnum, request.node.name)).lower()
    return Campaign(tmp_path, endpoint, server.create(name))


def test_what_another_run_did_meanwhile_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "pages", partial(pages, size=1))
    starts = iter((0, 4))
    monkeypatch.setattr(Worker, "start", lambda *_: next(starts))
    given = {"scenarios": [{"corpus": "sample", "limit": 8}], "systems": ["retrieval"]}
    config = CampaignConfig.model_validate({**given, "evaluators": ["outcome"], "concurrency": 1})

    def check(progress: Progress) -> None:  # each conversation has one evaluation, which is later
        judged = progress.evaluations.get("outcome", UnitCounts())
        assert judged.done <= progress.conversations.done

    async def both() -> list[RunResult]:
        url = f"sqlite:///{tmp_path}/store.db"
        runs = (run_campaign(config, url, progress=Progress(changed=check)) for _ in range(2))
        return list(await asyncio.gather(*runs))

    assert [(each.planned, each.done) for each in asyncio.run(both())] == [(8, 8), (8, 8)]


class _Failing:
    """A system that never answers."""

    name = "retrieval"
    settings: Mapping[str, JSON] = {}

    async def respond(self, conversation: Conversation) -> SystemReply:
        raise SystemFailed("no answer")

    async def aclose(self) -> None:
        """It holds nothing."""


def test_what_fails_in_one_of_two_runs_is_counted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "pages", partial(pages, size=1))
    starts = iter((0, 4))
    monkeypatch.setattr(Worker, "start", lambda *_: next(starts))
    given = {"scenarios": [{"corpus": "sample", "limit": 8}], "systems": ["retrieval"]}
    config = CampaignConfig.model_validate({**given, "evaluators": ["outcome"], "concurrency": 1})
    url = f"sqlite:///{tmp_path}/store.db"
    run = partial(run_campaign, config, url, prepare=lambda *_: _Failing())

    async def both() -> list[RunResult]:
        return list(await asyncio.gather(run(), run()))

    results = asyncio.run(both())
    assert [(each.planned, each.done, each.failed) for each in results] == [(8, 0, 8)] * 2
    together = driver.together(results)
    assert (together.planned, together.done, together.failed) == (8, 0, 8)
    with Store.open(url, read_only=True) as store:
        assert [len(store.failures(each)) for each in together.conversations] == [1] * 8


def test_what_another_process_begins_between_two_looks_is_not_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def spent(self: runner.Runner, found: Iterable[Left]) -> Mapping[str, float]:
        """By the second look another process has begun one, which then ends."""
        ids = [each.unit.id for each in found]
        seen.extend(ids)
        return {each: 0.01 for each in ids[:1] if seen.count(each) == 3}

    monkeypatch.setattr(runner.Runner, "_spent", spent)
    given = {"scenarios": [{"corpus": "sample", "limit": 4}], "systems": ["retrieval"]}
    with ScriptedEndpoint(play) as endpoint:
        model = {"base_url": endpoint.url, "name": "scripted", "price_in": 10, "price_out": 40}
        rules = {"simulator": {"kind": "rule"}, "evaluators": ["outcome"], "concurrency": 1}
        config = CampaignConfig.model_validate({**given, **rules, "model": model, "budget": 100})
        result = asyncio.run(run_campaign(config, f"sqlite:///{tmp_path}/store.db"))
    assert len(seen) == 12  # to count, for what was begun, and for the rest
    assert (result.planned, result.done, result.held_back) == (4, 4, None)


def test_what_another_run_is_at_is_waited_for_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    shown: list[int] = []
    progress = Progress()
    lease = Worker._lease

    async def kept_elsewhere(self: Worker, campaign: str, worker: str, unit: str) -> Lease:
        asked.append(unit)
        shown.append(progress.elsewhere)
        is_kept = unit in asked[:2] and len(set(asked)) < 8
        return Lease.ELSEWHERE if is_kept else await lease(self, campaign, worker, unit)

    monkeypatch.setattr(Worker, "_lease", kept_elsewhere)
    given = {"scenarios": [{"corpus": "sample", "limit": 8}], "systems": ["retrieval"]}
    config = CampaignConfig.model_validate({**given, "evaluators": ["outcome"], "concurrency": 1})
    run = run_campaign(config, f"sqlite:///{tmp_path}/store.db", progress=progress)
    assert asyncio.run(asyncio.wait_for(run, 120)).done == 8
    assert (shown, progress.elsewhere) == ([0] * 8 + [2] * 2, 0)


def test_what_a_dead_process_leased_is_leased_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    with Store.open(f"sqlite:///{tmp_path}/store.db") as store:
        for worker in ("first", "second", "dead"):
            process = dead.pid if worker == "dead" else os.getpid()
            with monkeypatch.context() as patch:
                patch.setattr("os.getpid", lambda process=process: process)
                store.write(partial(beat, campaign="one", worker=worker, state={}))
        for worker in ("dead", "first", "second"):
            store.write(partial(lease, campaign="one", worker=worker, unit="u"))
            owner = store.read(partial(whose, campaign="one", worker=worker, unit="u"))
            assert (owner is Lease.OURS) == (worker != "second")


@pytest.mark.slow
def test_two_processes_do_together_what_one_does(
    campaign: Campaign, alone: dict[str, Any], endpoint: RemoteEndpoint
) -> None:
    before = len(endpoint.bodies)
    for process in [campaign.start(), campaign.start()]:
        _wait(process)
    assert campaign.results() == alone
    assert len(endpoint.bodies) - before == alone["calls"]


@pytest.mark.slow
def test_what_a_killed_process_was_at_is_done_by_the_other_one(
    campaign: Campaign, alone: dict[str, Any], endpoint: RemoteEndpoint
) -> None:
    before = len(endpoint.bodies)
    killed, other = campaign.start(), campaign.start()
    endpoint.kill_at(killed.pid, 60)
    _wait(other)
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert campaign.results() == alone
    assert len(endpoint.bodies) - before <= alone["calls"] + 2 * 4


@pytest.mark.slow
def test_four_processes_keep_to_one_budget(campaign: Campaign) -> None:
    with RemoteEndpoint("tests.campaign.player:metered", latency=0.1) as metered:
        campaign.write_file(metered)
        running = [campaign.start("--budget", "1") for _ in range(4)]
        for each in running:
            each.communicate(timeout=300)
            assert each.returncode == SOME_FAILED  # the budget did not cover all
    costs = campaign.costs()
    assert 0.5 < sum(costs) <= 1 + 4 * max(costs)
