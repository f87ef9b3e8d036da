"""A campaign on a Ray cluster of two nodes on this machine, with its store in PostgreSQL."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from recjury.cli.output import SOME_FAILED
from recjury.errors import StoreError
from recjury.store import Store
from recjury.store.workers import living_workers
from tests.campaign.test_shared import ROOT, Campaign
from tests.cli.front_door import recjury
from tests.endpoint import RemoteEndpoint
from tests.postgres_server import PostgresServer

SYSTEMS = "chatcrs, kbrd"


def test_a_cluster_that_is_not_there_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = ROOT / "examples" / "offline.yaml"
    for address in ("127.0.0.1:1", "nonsense", "ray://127.0.0.1:1"):
        options = ("--executor", "ray", "--address", address, "--store", tmp_path / "none.db")
        ended = recjury(monkeypatch, capsys, "run", file, *options)
        assert ended.code == 2
        assert f"the Ray cluster {address} does not answer" in ended.err.splitlines()[-1]
    ended = recjury(monkeypatch, capsys, "run", file, "--workers", 2)
    assert ended.code == 2
    assert ended.err == "recjury: --address and --workers are for --executor ray\n"
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def endpoint() -> Iterator[RemoteEndpoint]:
    with RemoteEndpoint("tests.campaign.player:play", latency=0.1) as running:
        yield running


@pytest.fixture(scope="module")
def alone(endpoint: RemoteEndpoint, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What one process leaves in its store."""
    folder = tmp_path_factory.mktemp("alone")
    campaign = Campaign(folder, endpoint, f"sqlite:///{folder}/alone.db", SYSTEMS)
    process = campaign.start()
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    return campaign.results()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes with two CPUs each; only what runs in subprocesses connects to them.

    Ray gives its workers the lowest priority but one, with which they starve on a busy machine.
    """
    settings = {"PYTHONPATH": str(ROOT), "RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    os.environ.update(settings)
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 2, "include_dashboard": False}
    started: Any = Cluster(initialize_head=True, head_node_args=node)
    started.add_node(num_cpus=2)
    try:
        yield started
    finally:
        started.shutdown()


@contextmanager
def _started(
    campaign: Campaign, cluster: Any, workers: int = 2, *more: str
) -> "Iterator[subprocess.Popen[str]]":
    """The campaign as it runs; it ends with its test, so that the next one has the workers."""
    options = ("--executor", "ray", "--address", cluster.address, "--workers", str(workers))
    with campaign.start(*options, *more) as running:
        try:
            yield running
        finally:
            running.kill()


def _living(campaign: str, connection: Connection) -> list[Any]:
    return living_workers(connection, campaign)


def _pids(campaign: Campaign, running: "subprocess.Popen[str]") -> list[int]:
    """The processes of the two workers, once both run the campaign."""
    while True:
        assert running.poll() is None, running.communicate()
        try:
            with Store.open(campaign.store, read_only=True) as store:
                found = [
                    row.process
                    for each in store.campaigns()
                    for row in store.read(partial(_living, each.id))
                ]
        except StoreError:  # it is being made
            found = []
        if len(found) == 2:
            return found
        time.sleep(0.5)


def _wait_for_requests(endpoint: RemoteEndpoint, number: int) -> None:
    before = len(endpoint.bodies)
    while len(endpoint.bodies) < before + number:
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_workers_of_which_one_is_killed_do_what_one_process_does(
    cluster: Any,
    postgres: PostgresServer,
    endpoint: RemoteEndpoint,
    alone: dict[str, Any],
    tmp_path: Path,
) -> None:
    shared = Campaign(tmp_path, endpoint, postgres.create("shared"), SYSTEMS)
    with _started(shared, cluster) as running:
        endpoint.kill_at(_pids(shared, running)[0], 60)
        _, said = running.communicate(timeout=300)
    assert running.returncode == 0, said
    assert "12/12 conversations" in said
    assert shared.results() == alone


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_node_that_is_killed_costs_what_its_worker_was_at(
    cluster: Any,
    postgres: PostgresServer,
    endpoint: RemoteEndpoint,
    alone: dict[str, Any],
    tmp_path: Path,
) -> None:
    shared = Campaign(tmp_path, endpoint, postgres.create("node"), SYSTEMS)
    with _started(shared, cluster) as running:
        workers = _pids(shared, running)
        _wait_for_requests(endpoint, 60)
        cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
        _, said = running.communicate(timeout=600)
    cluster.add_node(num_cpus=2)
    assert running.returncode == 0, said
    assert "12/12 conversations" in said
    assert sum(map(_lives, workers)) <= 1
    assert shared.results() == alone


@pytest.mark.long
@pytest.mark.timeout(900)
def test_four_workers_keep_to_one_budget(
    cluster: Any, postgres: PostgresServer, tmp_path: Path
) -> None:
    with RemoteEndpoint("tests.campaign.player:metered", latency=0.1) as metered:
        campaign = Campaign(tmp_path, metered, postgres.create("dollar"))
        with _started(campaign, cluster, 4, "--budget", "1") as running:
            _, said = running.communicate(timeout=600)
    assert running.returncode == SOME_FAILED, said  # the budget did not cover all
    costs = campaign.costs()
    assert 0.5 < sum(costs) <= 1 + 4 * max(costs)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_an_interrupt_ends_all_workers_and_frees_their_leases(
    cluster: Any, postgres: PostgresServer, endpoint: RemoteEndpoint, tmp_path: Path
) -> None:
    campaign = Campaign(tmp_path, endpoint, postgres.create("interrupted"))
    with _started(campaign, cluster) as running:
        workers = _pids(campaign, running)
        _wait_for_requests(endpoint, 30)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=300)
    assert running.returncode == 130, said
    assert "interrupted; finished work is kept" in said.splitlines()[-1]
    with Store.open(campaign.store, read_only=True) as store:
        (kept,) = store.campaigns()
        assert not store.running(kept.id).is_running
        assert store.spent(kept.id).calls > 0
    for _ in range(300):
        if not any(map(_lives, workers)):
            return
        time.sleep(0.1)
    pytest.fail("a worker is left behind")


def _lives(process: int) -> bool:
    return Path(f"/proc/{process}").exists()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_cluster_that_disappears_is_one_line(
    cluster: Any, postgres: PostgresServer, endpoint: RemoteEndpoint, tmp_path: Path
) -> None:
    campaign = Campaign(tmp_path, endpoint, postgres.create("lost"))
    with _started(campaign, cluster) as running:
        workers = _pids(campaign, running)
        _wait_for_requests(endpoint, 30)
        cluster.shutdown()
        _, said = running.communicate(timeout=300)
    assert running.returncode == 2, said
    # Its nodes end before its head.
    assert re.search("the cluster has gone|all workers were lost", said.splitlines()[-1])
    assert "what was finished is kept" in said.splitlines()[-1]
    assert "Traceback" not in said
    assert not any(map(_lives, workers))
    alone = campaign.start()
    _, said = alone.communicate(timeout=300)
    assert alone.returncode == 0, said
