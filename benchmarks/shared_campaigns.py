"""What a shared campaign costs: `python -m benchmarks.shared_campaigns PART…`, in JSON.

`persistence`: calls that are recorded, in SQLite and in a PostgreSQL on this machine, in turn.
`processes`: a campaign by one process, and by two with half of its calls at once each.
`actor`: a neural system asked directly, and as a Ray actor, by 64 conversations at once.
`kills`: campaigns, each killed at a random call and run again, against an unbroken one.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.workload import many_requests
from recjury.llm import EndpointSpec, call_identity, gather
from recjury.records import CallRecord, ChatRequest, Conversation, Reply, Speaker, Turn, Usage
from recjury.store import Store
from tests.campaign.test_shared import Campaign
from tests.endpoint import RemoteEndpoint
from tests.postgres_server import PostgresServer, postgres_server

Figures = dict[str, object]
_AT_ONCE = 128
_CONVERSATIONS = 64


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


def processes(server: PostgresServer, folder: Path, repeats: int) -> Figures:
    """Seconds of a campaign, with the start of its processes; each call takes half a second.

    It has as many conversations as the processes open at once, so that both have work to the end.
    """
    walls: dict[str, list[float]] = {"one": [], "two": []}
    with RemoteEndpoint("tests.campaign.player:play", latency=0.5) as endpoint:
        for number in range(repeats):
            for name, at_once in (("one", [6]), ("two", [3, 3])):
                url = server.create(f"{name}{number}")
                campaign = Campaign(folder, endpoint, url, "chatcrs, retrieval")
                begun = time.perf_counter()
                running = [campaign.start("--concurrency", str(each)) for each in at_once]
                for each in running:
                    _, said = each.communicate()
                    assert each.returncode == 0, said
                walls[name].append(time.perf_counter() - begun)
    ratio = statistics.median(b / a for a, b in zip(*walls.values(), strict=True))
    return {"two_over_one": ratio, "seconds": walls}


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


def kills(server: PostgresServer, folder: Path, repeats: int) -> Figures:
    """How many of the campaigns were equal, and the most calls that were sent again."""
    chance, found = random.Random(29), {}
    with RemoteEndpoint("tests.campaign.player:play", latency=0.01) as endpoint:
        whole = Campaign(folder, endpoint, f"sqlite:///{folder}/whole.db")
        _finish(whole)
        expected = whole.results()
        for database in ("sqlite", "postgresql"):
            equal, again = 0, []
            for number in range(repeats):
                name = f"k{number}"
                is_file = database == "sqlite"
                url = f"sqlite:///{folder}/{name}.db" if is_file else server.create(name)
                campaign, before = Campaign(folder, endpoint, url), len(endpoint.bodies)
                killed = campaign.start()
                endpoint.kill_at(killed.pid, chance.randrange(1, expected["calls"]))
                killed.communicate()
                _finish(campaign)
                equal += campaign.results() == expected
                again.append(len(endpoint.bodies) - before - expected["calls"])
            found[database] = {"equal": equal, "of": repeats, "most_again": max(again)}
    return dict(found)


def _finish(campaign: Campaign) -> None:
    process = campaign.start()
    _, said = process.communicate()
    assert process.returncode == 0, said


def main() -> None:
    """The parts that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="+", choices=["persistence", "processes", "actor", "kills"])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    measured: Figures = {"load": os.getloadavg()}
    with tempfile.TemporaryDirectory() as folder, postgres_server() as server:
        parts = {
            "persistence": lambda: persistence(server, Path(folder), options.repeats),
            "processes": lambda: processes(server, Path(folder), options.repeats),
            "actor": lambda: actor(options.repeats),
            "kills": lambda: kills(server, Path(folder), options.repeats),
        }
        for part in options.parts:
            measured[part] = parts[part]()
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
