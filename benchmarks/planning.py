"""Memory and CPU of campaigns of two sizes: planned, and played by a system that costs nothing.

`python -m benchmarks.planning 1000 10000`: each in a process of its own, with the evaluator
`outcome`, on 50 scenarios of the sample with two systems, repeated as often as needed. `--plan`
stops when the plan is in the store.
"""

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.running import run
from recjury.campaign import CampaignConfig, run_campaign
from recjury.campaign.plan import Units
from recjury.campaign.progress import RunResult
from recjury.campaign.runner import Runner

_SCENARIOS = 50
_SYSTEMS = ("p", "q")


async def _only_count(runner: Runner, campaign: str, units: Units) -> RunResult:
    runner._join(campaign)
    ids, _ = runner._count(units)
    return RunResult(campaign, len(ids), 0)


def _one(count: int, *, plan: bool) -> dict[str, float]:
    config = CampaignConfig.model_validate(
        {
            "scenarios": [{"corpus": "sample", "limit": _SCENARIOS}],
            "systems": [
                {"kind": "python", "name": name, "path": "recjury.demo.popular:Popular"}
                | {"isolate": "thread"}
                for name in _SYSTEMS
            ],
            "evaluators": ["outcome"],
            "repeats": count // (_SCENARIOS * len(_SYSTEMS)),
        }
    )
    if plan:
        Runner.run = _only_count  # type: ignore[method-assign, assignment]
    with tempfile.TemporaryDirectory() as folder:
        begun = time.process_time()
        asyncio.run(run_campaign(config, str(Path(folder) / "store.db")))
        took = time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"conversations": count, "milliseconds": 1000 * took / count, "megabytes": peak}


def main() -> None:
    """Measure each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("counts", type=int, nargs="+")
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--one", action="store_true", help="In this process, as JSON.")
    asked = parser.parse_args()
    if asked.one:
        sys.stdout.write(json.dumps(_one(asked.counts[0], plan=asked.plan)))
        return
    for count in asked.counts:
        own = [sys.executable, "-m", "benchmarks.planning", str(count), "--one"]
        found = subprocess.run(
            own + ["--plan"] * asked.plan, stdout=subprocess.PIPE, text=True, check=True
        )
        sys.stdout.write(f"{found.stdout}\n")


if __name__ == "__main__":
    run(main)
