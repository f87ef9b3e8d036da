"""What a shared campaign costs: `python -m benchmarks.shared_campaigns PART…`, in JSON.

`persistence`: calls that are recorded, in SQLite and in a PostgreSQL on this machine, in turn.
`overhead`: a campaign by one process, by shards, by two processes, and by two nodes of Ray.
`actor`: a neural system asked directly, and as a Ray actor, by 64 conversations at once.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.workload import many_requests
from recjury.llm import EndpointSpec, call_identity, gather
from recjury.records import CallRecord, ChatRequest, Conversation, Reply, Speaker, Turn, Usage
from recjury.store import Store
from tests.campaign.player import play
from tests.campaign.test_shared import ROOT, Campaign
from tests.endpoint import Answer, Body, ScriptedEndpoint
from tests.postgres_server import PostgresServer, postgres_server

Figures = dict[str, object]
_Parts = Sequence[tuple[str, int, Sequence[str]]]
_AT_ONCE = 128
_CONVERSATIONS = 64
_CALL_SECONDS = 10 / 11
_TEN_SECONDS_EACH = "evaluators: [outcome]\nrepeats: 2\n"  # of 48 scenarios, with 11 calls each


def persistence(server: PostgresServer, folder: Path, repeats: int) -> Figures:
    """Seconds and seconds of this process's CPU for 2,000 calls, in each database."""
    requests = many_requests(2000)
    found: dict[str, list[tuple[float, float]]] = {"sqlite": [], "postgresql": []}
    for number in range(repeats):
        for name, taken in found.items():
            url = server.create(f"p{number}") if name == "postgresql" else f"{folder}/p{number}.db"
            with Store.open(url) as store:
                wall, cpu = time.perf_counter(), time.process_time()
                asyncio.run(_record(store, requests))
                taken.append((time.perf_counter() - wall, time.process_time() - cpu))
    ratios = [
        [theirs[which] / ours[which] for ours, theirs in zip(*found.values(), strict=True)]
        for which in (0, 1)
    ]
    wall, cpu = (statistics.median(each) for each in ratios)
    return {"wall_ratio": wall, "cpu_ratio": cpu, "wall_and_cpu_seconds": found}


async def _record(store: Store, requests: list[ChatRequest]) -> None:
    spec = EndpointSpec(base_url="http://127.0.0.1:1/v1", name="m")
    async with store.recorder() as recorder:

        async def record(request: ChatRequest) -> None:
            identity = call_identity(request, spec, 0)
            text = "I counted them. <rating>3</rating>"
            reply = Reply(identity, text, "stop", "m", Usage(900, 60))
            if await recorder.recall(identity) is None:
                await recorder.record(CallRecord(identity, request, reply, None, 0.0))

        await gather(map(record, requests), at_once=_AT_ONCE, keep=False)


def overhead(server: PostgresServer, folder: Path, repeats: int) -> Figures:
    """Campaigns by one process, by four shards that are merged, by two processes, and by two nodes.

    All have eight calls at once, and 96 conversations whose calls take ten seconds.
    """
    os.environ.update({"PYTHONPATH": str(ROOT), "RAY_USAGE_STATS_ENABLED": "0"})
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "include_dashboard": False}
    cluster: Any = Cluster(initialize_head=True, head_node_args=node)
    cluster.add_node(num_cpus=1)
    nodes = ["--executor", "ray", "--address", cluster.address, "--workers", "2"]
    found: dict[str, list[Figures]] = {}
    at_once: _Parts
    for number in range(repeats):
        one, *shards = (f"sqlite:///{folder}/{number}_{each}.db" for each in range(5))
        parts = [(url, 2, ["--shard", f"{n}/4"]) for n, url in enumerate(shards, 1)]
        merged = ["store", "merge", *shards, "--into", f"sqlite:///{folder}/merged{number}.db"]
        at_once = [(server.create(f"two{number}"), 4, [])] * 2
        for name, parts_of, then in (
            ("one process", [(one, 8, [])], []),
            ("four shards", parts, merged),
            ("two processes", at_once, []),
            ("two nodes", [(server.create(f"nodes{number}"), 8, nodes)], []),
        ):
            found.setdefault(name, []).append(_timed(folder, parts_of, then))
    cluster.shutdown()
    return dict(found)


def _timed(folder: Path, parts: _Parts, then: Sequence[str]) -> Figures:
    """A campaign by processes: each has a store, calls at once, and options.

    `wall` are the seconds from the start of the first one to the end of the last. `over_ideal`
    compares those between the first and the last call with what the calls took, shared by eight.
    """
    slow = _Slow()
    with ScriptedEndpoint(slow) as endpoint:
        begun = time.monotonic()
        running = [
            Campaign(folder, endpoint, url, limit=48, more=_TEN_SECONDS_EACH).start(
                "--concurrency", str(calls), *options
            )
            for url, calls, options in parts
        ]
        for each in running:
            _, said = each.communicate()
            assert each.returncode == 0, said
        if then:
            subprocess.run([sys.executable, "-m", "recjury", *then], cwd=ROOT, check=True)
        wall = time.monotonic() - begun
    calling = max(end for _, end in slow.calls) - min(start for start, _ in slow.calls)
    took = sum(end - start for start, end in slow.calls)
    return {"wall": wall, "over_ideal": calling * 8 / took, "calls": len(slow.calls), "took": took}


class _Slow:
    """Answers slowly, and keeps when each call began and ended."""

    def __init__(self) -> None:
        self.calls: list[tuple[float, float]] = []

    async def __call__(self, body: Body) -> Answer:
        begun = time.monotonic()
        await asyncio.sleep(_CALL_SECONDS)
        self.calls.append((begun, time.monotonic()))
        return play(body)


def actor(repeats: int) -> Figures:
    """Answers a second of the sample's KBRD."""
    os.environ.update({"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"})
    import ray

    from recjury.campaign import CampaignConfig, Retry
    from recjury.campaign.plan import ALL
    from recjury.cluster import Job
    from recjury.cluster.worker import SystemActor

    config = CampaignConfig.model_validate(
        {"scenarios": [{"corpus": "sample", "limit": 1}], "systems": ["kbrd"]}
    )
    job = Job(config, "none.db", None, Retry.NONE, ALL, str(Path.cwd()))
    ray.init(address="local", include_dashboard=False, log_to_driver=False)
    found: Figures = {}
    for system in config.systems:
        direct = SystemActor(job, system)
        shared: Any = ray.remote(SystemActor).options(num_cpus=0).remote(job, system)
        direct.prepare("sample")
        ray.get(shared.prepare.remote("sample"))
        ways = (partial(direct.respond, "sample"), partial(shared.respond.remote, "sample"))
        rates = [[asyncio.run(_answers(each)) for each in ways] for _ in range(repeats + 1)][1:]
        ratio = statistics.median(other / one for one, other in rates)
        found[system.name] = {"ratio": ratio, "direct_and_actor": rates}
        ray.kill(shared)
    ray.shutdown()
    return found


async def _answers(respond: Callable[[Conversation], Any]) -> float:
    """Answers a second: each conversation has two, one after the other."""

    async def talk(number: int) -> None:
        turns: list[Turn] = []
        for turn in range(2):
            said = f"Something like film {number * 7 + turn} please, with a good story."
            turns.append(Turn(speaker=Speaker.USER, text=said))
            reply = await respond(Conversation(turns=tuple(turns)))
            turns.append(Turn(speaker=Speaker.SYSTEM, text=reply.text, items=reply.items))

    begun = time.perf_counter()
    await gather(map(talk, range(_CONVERSATIONS)))
    return 2 * _CONVERSATIONS / (time.perf_counter() - begun)


def main() -> None:
    """The parts that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="+", choices=["persistence", "overhead", "actor"])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    measured: Figures = {"load": os.getloadavg()}
    with tempfile.TemporaryDirectory() as folder, postgres_server() as server:
        parts = {
            "persistence": lambda: persistence(server, Path(folder), options.repeats),
            "overhead": lambda: overhead(server, Path(folder), options.repeats),
            "actor": lambda: actor(options.repeats),
        }
        for part in options.parts:
            measured[part] = parts[part]()
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
