"""What views of a large store take: CPU and memory, each in a process of its own.

`python -m benchmarks.scale runs.db [VIEW...]` on a store of `benchmarks.stored_campaign`. The CPU
is that of the work, without the start of Python (shown beside it); the memory is the peak of the
process.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.running import run
from benchmarks.stored_campaign import CAMPAIGN, SYSTEMS


def _status(store: str) -> None:
    from recjury.cli.status import status

    status(store)


def _compare(store: str) -> None:
    from recjury.cli.compare import compare

    compare(names=list(SYSTEMS), store=store)


def _report(store: str) -> None:
    from recjury.report import write_report
    from recjury.store import Store

    with tempfile.TemporaryDirectory() as folder, Store.open(store, read_only=True) as kept:
        write_report(kept, Path(folder) / "report.html", campaign=CAMPAIGN)


def _frame(store: str) -> None:
    from recjury.api.stored import Stored
    from recjury.store import Selection

    Stored(store, CAMPAIGN).frame("conversations", Selection(systems=(SYSTEMS[0],)))


def _export(store: str) -> None:
    from recjury.results import export
    from recjury.store import Store

    with tempfile.TemporaryDirectory() as folder, Store.open(store, read_only=True) as kept:
        export(kept, Path(folder), "csv", CAMPAIGN)


VIEWS: dict[str, Callable[[str], None]] = {
    "status": _status,
    "compare": _compare,
    "report": _report,
    "frame": _frame,
    "export": _export,
}


def _measured(view: str, store: str) -> dict[str, float]:
    """Run a view in this process."""
    import recjury.api  # noqa: F401  (what is loaded at the start of any command)

    begun = time.process_time()
    VIEWS[view](store)
    took = time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cpu": took, "start": begun, "megabytes": peak}


def main() -> None:
    """Measure each view."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store")
    parser.add_argument("views", nargs="*", choices=[*VIEWS, []])
    parser.add_argument("--one", choices=VIEWS, help="In this process, as JSON.")
    asked = parser.parse_args()
    if asked.one:
        found = _measured(asked.one, asked.store)
        sys.stderr.write(json.dumps(found))
        return
    for view in asked.views or VIEWS:
        own = [sys.executable, "-m", "benchmarks.scale", asked.store, "--one", view]
        ended = subprocess.run(own, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if ended.returncode:
            sys.stderr.write(ended.stderr.decode())
            continue
        found = json.loads(ended.stderr.decode().splitlines()[-1])
        sys.stdout.write(
            f"{view}: {found['cpu']:.2f} s CPU, {found['megabytes']:.0f} MB "
            f"(start {found['start']:.2f} s)\n"
        )


if __name__ == "__main__":
    run(main)
