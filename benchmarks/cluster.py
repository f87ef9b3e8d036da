"""What Ray adds to a run whose conversations take 10 s: `python -m benchmarks.cluster --json`.

`overhead` is the time on a cluster over the time in one process with as many conversations open;
starting Ray and its workers is not counted (`start_s`).
"""

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path

from recjury.campaign import Cluster, Config, Progress, run
from recjury.store import Store

SLEEPS = "import asyncio\n\nasync def talk(_):\n    await asyncio.sleep(2)\n    return 'Hm?'\n"


def seconds(folder: Path, conversations: int, executor: Cluster | None, path: Path) -> list[float]:
    """When the run began, and when each conversation was done."""
    config = Config.model_validate(
        {
            "folder": str(folder),
            "scenarios": [{"corpus": "sample", "limit": conversations}],
            "systems": ["sleeps:talk"],
            "evaluators": ["outcome"],
        }
    )
    times = [time.perf_counter()]

    def note(progress: Progress) -> None:
        if progress.done >= len(times):  # a run also tells how far it is while none is done
            times.append(time.perf_counter())

    with Store(path) as store:
        asyncio.run(run(config, store, executor=executor, progress=note))
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conversations", type=int, default=32)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sleeps.py").write_text(SLEEPS)
        one = seconds(folder, given.conversations, None, folder / "one.db")
        path = folder / "ray.db"
        ray = seconds(folder, given.conversations, Cluster(str(path), workers=1), path)
    first_one, first_ray = one[1] - one[0], ray[1] - ray[0]
    whole_one, whole_ray = one[-1] - one[0], ray[-1] - ray[0] - max(0.0, first_ray - first_one)
    found = {
        "overhead": whole_ray / whole_one,
        "start_s": first_ray - first_one,
        "one_s": whole_one,
    }
    print(json.dumps(found) if given.json else found)


if __name__ == "__main__":
    main()
