"""Kill a campaign at random moments until it is done, and compare it with an unbroken run.

`python -m benchmarks.kills [--kills 40] [--scenarios 16] [--seed 0] [--store postgres] [--executor
ray] [--json]` prints what differs (nothing should), how many replies were sent twice, and how many
conversations were abandoned. The campaign has an endpoint with refusals, dropped connections and
unreadable replies, two judges, samples, a stateful streaming system, and an AutoGen agent in a seat
of the debate. On a Ray cluster, which outlives the command, a kill hits the command, a worker, or
the actor that owns the store.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil
import yaml
from sqlalchemy import text

from benchmarks.streaming_system import StreamingSystem
from recjury.store import Store
from tests.postgres import postgres_server
from tests.replies import reply_to
from tests.scripted_endpoint import Body, Reply, ScriptedEndpoint, completion, prompt_of

ROOT = Path(__file__).parent.parent
QUERIES = {
    "conversations": "SELECT id, state, log, ending, rounds, reason, tries FROM conversation",
    "evaluations": "SELECT id, conversation, evaluator, judging, state, tries FROM evaluation",
    "ratings": "SELECT evaluation, metric, rater, turn, status, score, calls FROM rating",
    "statements": "SELECT evaluation, round, role, speaker, status, score, text FROM statement",
    "calls": "SELECT id, model, purpose, prompt FROM call",
}


class Outcome(NamedTuple):
    """What the kills did: what differs from the unbroken run, and what was done again."""

    kills: dict[str, int]
    differing: list[str]
    calls: int
    sent_twice: int
    conversations: int
    abandoned: int


class Moody:
    """Answers by the prompt alone, after faults that are drawn: 503, 429, drops."""

    def __init__(self, seed: int):
        self._random = random.Random(seed)
        self.answered: Counter[str] = Counter()

    def __call__(self, body: Body) -> Reply:
        draw = self._random.random()
        if draw < 0.02:
            return Reply({"error": {"message": "overloaded"}}, 503)
        if draw < 0.03:
            return Reply({"error": {"message": "slow down"}}, 429, {"Retry-After": "0.05"})
        if draw < 0.04:
            return Reply(drop=True)
        return Reply(self._said(body), delay=self._random.uniform(0.002, 0.02))

    def _said(self, body: Body) -> Body:
        text = reply_to(prompt_of(body))
        number = sum(_prompt(body).encode()) % 20
        if number == 0 and "<rating" in text:
            text = "I cannot say."  # the note that asks again makes it another prompt
        elif number < 4:
            text = f"<think>Let me see: 3 or 4?</think>{text}"
        answer = completion(text)
        answer["choices"] *= body.get("n", 1)
        self.answered[_prompt(body)] += len(answer["choices"])
        return answer


def _prompt(body: Body) -> str:
    """The prompt without its code, which is another one each time."""
    prompt = prompt_of(body)
    for mark in ('<rating code="', '"code": "'):
        before, found, after = prompt.rpartition(mark)
        prompt = before + after[8:] if found else prompt
    return f"{body['model']} {prompt}"


def campaign(folder: Path, endpoint: str, system: str, scenarios: int) -> Path:
    """The campaign file."""
    model = {"base_url": endpoint, "price_in": 1, "price_out": 1, "concurrency": 16}
    values = {
        "name": "kills",
        "scenarios": [{"corpus": "sample", "limit": scenarios}],
        "systems": [
            {"kind": "chatcrs", "list_source": "from_text"},
            {
                "kind": "http",
                "name": "shop",
                "url": f"{system}/chat/{{{{ id }}}}",
                "body": {"turn": "{{ turn }}", "message": "{{ message }}"},
                "stream": "sse",
                "text": "delta",
                "items": "cards[]",
                "version": "1",
            },
        ],
        "evaluators": [
            "outcome",
            {
                "kind": "core",
                "judges": ["main", "second"],
                "debate": {"max_rounds": 3, "roles": {"linguist": "own_agent:make_agent"}},
            },
            {"kind": "benchmarks.samples:Sampled"},
        ],
        "model": {"name": "one", **model},
        "models": {"second": {"name": "two", **model}},
        "folder": str(ROOT / "examples"),
    }
    path = folder / "kills.yaml"
    path.write_text(yaml.safe_dump(values))
    return path


class Stores(NamedTuple):
    """The stores of the unbroken run and of the killed one."""

    unbroken: str
    killed: str


@contextmanager
def empty_stores(kind: str, folder: Path) -> Iterator[Stores]:
    """Two stores of a kind, "file" or "postgres"."""
    if kind == "file":
        yield Stores(*(str(folder / f"{name}.db") for name in Stores._fields))
        return
    with postgres_server() as server:
        yield Stores(*map(server.new_database, Stores._fields))


def contents(store: str) -> dict[str, set[tuple[str, ...]]]:
    """What must not depend on kills: all but codes, times, costs and the ids of plays."""
    with Store(store, readonly=True) as opened, opened.connection() as connection:
        return {
            name: {tuple(map(str, row)) for row in connection.execute(text(query))}
            for name, query in QUERIES.items()
        }


@contextmanager
def work_off(executor: str) -> Iterator[list[str]]:
    """The options of the command that say where it works: a Ray cluster is started for it."""
    if executor == "local":
        yield []
        return
    import ray.cluster_utils

    head = {"num_cpus": 2, "include_dashboard": False}
    nodes = ray.cluster_utils.Cluster(initialize_head=True, head_node_args=head)
    try:
        yield ["--executor", "ray", "--address", nodes.address]
    finally:
        nodes.shutdown()  # type: ignore[no-untyped-call]


@contextmanager
def running(path: Path, store: str, where: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "recjury", "run", str(path), "--store", store, *where]
    with open(path.with_suffix(".log"), "ab") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def unbroken(path: Path, store: str, where: list[str]) -> float:
    """Run until nothing is left to ask; returns the seconds of the first run."""
    began, seconds = time.monotonic(), 0.0
    for _ in range(3):
        with running(path, store, where) as process:
            code = process.wait()
        seconds = seconds or time.monotonic() - began
        if code == 0:
            return seconds
        if code != 3:
            raise SystemExit(path.with_suffix(".log").read_text())
    return seconds


def victim(process: subprocess.Popen[bytes], where: list[str], draw: random.Random) -> str:
    """Kill the command or, on Ray, one process of its actors; returns what was killed."""
    name = draw.choice(["Worker", "Owner", "run"]) if where else "run"
    actors = [each for each in psutil.process_iter(["name"]) if f"ray::{name}" in each.name()]
    if actors:
        draw.choice(actors).kill()
        return name
    process.send_signal(signal.SIGKILL)
    process.wait()
    return "run"


def is_at_work(process: subprocess.Popen[bytes], asked: Callable[[], int]) -> bool:
    """Wait until the command asks something; False if it ends before."""
    before = asked()
    while process.poll() is None and asked() == before:
        time.sleep(0.005)
    return process.poll() is None


def killed(
    path: Path,
    store: str,
    where: list[str],
    kills: int,
    seconds: float,
    draw: random.Random,
    asked: Callable[[], int],
) -> Counter[str]:
    """Kill the run at random moments of its work, then let it end. Returns what the kills hit."""
    hits: Counter[str] = Counter()
    begun = -1
    while hits.total() < kills and asked() > begun:  # else nothing is left to kill
        begun = asked()
        with running(path, store, where) as process:
            while hits.total() < kills and is_at_work(process, asked):
                try:
                    process.wait(draw.uniform(0, 1.5 * seconds / kills))
                except subprocess.TimeoutExpired:
                    hits[victim(process, where, draw)] += 1
    unbroken(path, store, where)
    return hits


def compare(
    kills: int, seed: int = 0, scenarios: int = 4, kind: str = "file", executor: str = "local"
) -> Outcome:
    """Run one campaign twice, once with kills."""
    with ExitStack() as open_:
        folder = Path(open_.enter_context(tempfile.TemporaryDirectory()))
        stores, moody = open_.enter_context(empty_stores(kind, folder)), Moody(seed)
        where = open_.enter_context(work_off(executor))
        with ScriptedEndpoint(moody) as endpoint, StreamingSystem() as system:
            path = campaign(folder, endpoint.url, system.url, scenarios)
            seconds = unbroken(path, stores.unbroken, where)
            moody.answered.clear()
            system.opened.clear()
            hits = killed(
                path,
                stores.killed,
                where,
                kills,
                seconds,
                random.Random(seed),
                lambda: len(endpoint.asked) + len(system.opened),
            )
            whole, broken = map(contents, stores)
        played = sum(row[1] == "done" for row in broken["conversations"]) // 2
        return Outcome(
            kills=dict(hits),
            differing=[
                f"{name}: {len(whole[name] ^ broken[name])}"
                for name in QUERIES
                if whole[name] != broken[name]
            ],
            calls=len(broken["calls"]),
            sent_twice=sum(moody.answered.values())
            - sum(1 for row in broken["calls"] if row[1] != "own_agent:make_agent"),
            conversations=played,
            abandoned=len(system.opened) - played,
        )


def main() -> None:
    """Print the outcome. Exits with 1 if something differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--scenarios", type=int, default=16)
    parser.add_argument("--store", choices=["file", "postgres"], default="file")
    parser.add_argument("--executor", choices=["local", "ray"], default="local")
    options = parser.parse_args()
    found = compare(options.kills, options.seed, options.scenarios, options.store, options.executor)
    if options.json:
        print(json.dumps(found._asdict()))
    else:
        print("\n".join(f"{key}: {value}" for key, value in found._asdict().items()))
    sys.exit(bool(found.differing))


if __name__ == "__main__":
    main()
