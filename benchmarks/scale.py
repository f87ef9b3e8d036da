"""Tables over many conversations: `python -m benchmarks.scale [CONVERSATIONS [FACTORS]]`.

Four systems, one evaluator with factors (CoRE's twelve, unless said otherwise) and the verdict.
Prints CPU seconds and the peak of memory of `status`, `summary`, `compare`, the frame of ratings
and that of turns, each in a process of its own. `python -m benchmarks.scale planned` prints what
100,000 trials take to be planned, dealt and counted, against 1,000.
"""

import asyncio
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pandas  # noqa: F401 - a step is measured without what it imports
import scipy.stats  # noqa: F401

from recjury import results
from recjury.campaign import Config, run
from recjury.records import ConversationLog, ItemRef, Rating, Scenario, Turn
from recjury.store import PlannedConversation, PlannedEvaluator, Store, Todo

GROUP = 200  # conversations that are written at once
SYSTEMS = ("one", "two", "three", "four")
FACTORS = 12
PLANNED = (1_000, 100_000)
OVERALL = {"name": "overall", "low": 0, "high": 100}
STEPS: dict[str, Callable[[Store], object]] = {
    "status": results.status,
    "summary": results.summary,
    "compare": results.comparison,
    "ratings": lambda store: results.ratings(store, "scale"),
    "turns": lambda store: results.turns(store, "scale"),
}


def plan(conversations: int) -> Iterator[PlannedConversation]:
    for number in range(conversations):
        scenario, place = divmod(number, len(SYSTEMS))
        system = SYSTEMS[place]
        trial = (system, "1", "llm", "1", "sample", f"s{scenario}", 0)
        yield PlannedConversation(f"{system}-{scenario}", number, *trial)


def log_of(scenario: str, system: str, rng: random.Random) -> ConversationLog:
    def items() -> tuple[ItemRef, ...]:
        return tuple(ItemRef(id=f"f{n}", name=f"Film {n}") for n in rng.sample(range(500), 10))

    turns = [
        Turn(speaker="system", text=f"{system} says {rng.random()}. " * 8, items=items())
        if place % 2 == 0
        else Turn(speaker="user", text="Something else, please. " * 4)
        for place in range(8)
    ]
    about = Scenario(id=scenario, corpus="sample", targets=items()[:1])
    return ConversationLog(scenario=about, interaction=tuple(turns), ending="round limit")


def metrics(factors: int) -> list[dict[str, object]]:
    return [*({"name": f"factor_{n}", "low": 0, "high": 4} for n in range(factors)), OVERALL]


def ratings(better: int, factors: int, rng: random.Random) -> list[Rating]:
    level = min(4.0, max(0.0, rng.gauss(2 + better / 20, 1)))
    scores = [min(4, max(0, round(rng.gauss(level, 0.7)))) for _ in range(factors)]
    verdict = min(100.0, max(0.0, 25 * level + rng.gauss(0, 5)))
    found = [
        Rating(metric=f"factor_{number}", rater="main", score=score, rationale=f"Because {level}.")
        for number, score in enumerate(scores)
    ]
    return [*found, Rating(metric="overall", rater="debate", score=verdict)]


async def save(store: Store, trial: PlannedConversation, factors: int, rng: random.Random) -> None:
    log = log_of(trial.scenario, trial.system, rng)
    found = ratings(SYSTEMS.index(trial.system), factors, rng)
    await store.save_log(trial.conversation, log, play=trial.conversation, seconds=[0.5] * 4)
    await store.save_evaluation(trial.conversation, "e", 0, found, tries=0)


async def fill(store: Store, conversations: int, factors: int = FACTORS) -> None:
    rng = random.Random(0)
    run = store.start(
        "scale", {"name": "scale", "systems": [{"kind": name} for name in SYSTEMS]}, {}
    )
    evaluator = PlannedEvaluator("e", "core", "core", {}, metrics(factors), 1)
    store.plan(run, plan(conversations), [evaluator])
    left = plan(conversations)
    while group := list(islice(left, GROUP)):
        await asyncio.gather(*(save(store, each, factors, rng) for each in group))
    store.end(run, "finished")


class Deals:
    """An executor that is given all trials, and plays none."""

    async def work_off(self, todo: Iterator[Todo], *_: object) -> None:
        for _ in todo:
            pass


def plan_and_deal(store: Store, trials: int) -> None:
    config = Config.model_validate(
        {
            "scenarios": [{"corpus": "sample", "limit": 25}],
            "systems": [{"kind": "popular", "name": name, "version": name} for name in SYSTEMS],
            "repeats": trials // 100,
        }
    )
    done = asyncio.run(run(config, store, executor=Deals()))
    assert (done.planned, done.left) == (trials, trials)


def measure(step: str, path: str) -> None:
    """Do a step, or plan as many trials as `step` says."""
    with Store(path, readonly=step in STEPS) as store:
        begun = time.process_time()
        if step in STEPS:
            STEPS[step](store)
        else:
            plan_and_deal(store, int(step))
        cpu = time.process_time() - begun
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"cpu_s": round(cpu, 3), "rss_mb": round(megabytes)}))


def measured(step: str, path: str) -> dict[str, float]:
    """CPU seconds and peak of memory of a step, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale", "measure", step, path]
    found: dict[str, float] = json.loads(
        subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    )
    print(json.dumps({"step": step, **found}))
    return found


def compare_plans() -> None:
    """What of both grows is SQLite's cache, up to 32 MB, and as much again where it sorts."""
    few, many = PLANNED
    with tempfile.TemporaryDirectory() as folder:
        for step in ("plan", "status"):
            small, large = (
                measured(str(n) if step == "plan" else step, str(Path(folder) / f"{n}.db"))
                for n in PLANNED
            )
            cpu = large["cpu_s"] / small["cpu_s"] * few / many
            memory = large["rss_mb"] / small["rss_mb"]
            print(json.dumps({"step": step, "cpu_a_trial": cpu, "memory": memory}))


def main() -> None:
    if sys.argv[1:2] == ["measure"]:
        measure(*sys.argv[2:])
        return
    if sys.argv[1:] == ["planned"]:
        compare_plans()
        return
    conversations, factors = [*map(int, sys.argv[1:]), *(20_000, FACTORS)[len(sys.argv) - 1 :]]
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "scale.db")
        with Store(path) as store:
            asyncio.run(fill(store, conversations, factors))
        for step in STEPS:
            measured(step, path)


if __name__ == "__main__":
    main()
