"""Judging in batches, killed on the way: `python -m benchmarks.batches [--requests N] [--json]`.

`recjury judge` sends its requests to a scripted Batch API on this machine. It is killed (SIGKILL)
before the batch is begun, twice while it waits and twice while it reads, and then runs to its end.
The server counts how often each request was processed.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.running import run
from tests.batch_judging import PER_LOG, BatchJudging, Ended
from tests.batch_server import BatchEndpoint


@dataclass(frozen=True)
class Stage:
    """One start of the command: when it was killed, and what there was after it."""

    killed: str
    seconds: float
    processor: float
    megabytes: float
    batches: int
    stored: int


@dataclass(frozen=True)
class Outcome:
    """What came of the requests in all starts together."""

    requests: int
    stages: list[Stage]
    processed_once: int
    processed_more_often: int
    stored: int
    exit_code: int


def measure(requests: int, size: int, folder: Path) -> Outcome:
    """Judge in batches of at most `size` requests, killed five times."""
    with BatchEndpoint(lambda _: "It was good. <rating>3</rating>", seconds=2.0) as endpoint:
        judging = BatchJudging(folder, endpoint, -(-requests // PER_LOG), size=size, wait=3.0)
        stages = list[Stage]()

        def start(killed: str, until: Callable[[], bool] | None = None) -> Ended:
            ended = judging.run(until, seconds=1800)
            if until is not None and ended.code != -9:
                raise SystemExit(f"it was not killed {killed}: {ended.err[-500:]}")
            found = Stage(
                killed,
                ended.seconds,
                ended.processor,
                ended.megabytes,
                len(endpoint.batches),
                judging.stored,
            )
            stages.append(found)
            sys.stderr.write(f"{found}\n")
            return ended

        endpoint.faults.creations_hanging = 1
        start("after the upload, before the batch was begun", endpoint.hanging.is_set)
        endpoint.held.clear()
        batches = -(-judging.requests // size)
        start("while it waited", lambda: len(endpoint.batches) >= batches and endpoint.polls > 1)
        before = endpoint.polls
        start("while it waited, again", lambda: endpoint.polls > before + 1)
        endpoint.held.set()
        start("while it read", lambda: judging.stored > judging.requests // 10)
        start("while it read, again", lambda: judging.stored > judging.requests // 2)
        ended = start("not")
        counts = endpoint.processed.values()
        return Outcome(
            judging.requests,
            stages,
            sum(count == 1 for count in counts),
            sum(count > 1 for count in counts),
            judging.stored,
            ended.code,
        )


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batches", description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--size", type=int, default=10_000, help="the most requests of a batch")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(options.requests, options.size, Path(folder))
    if options.json:
        sys.stdout.write(json.dumps(asdict(found), indent=1) + "\n")
        return
    for stage in found.stages:
        sys.stdout.write(
            f"killed {stage.killed}: {stage.seconds:.0f} s ({stage.processor:.0f} s of CPU), "
            f"{stage.megabytes:.0f} MB, "
            f"{stage.batches} batches, {stage.stored:,} replies stored\n"
        )
    sys.stdout.write(
        f"{found.requests:,} requests: {found.processed_once:,} processed once, "
        f"{found.processed_more_often:,} more often; {found.stored:,} replies stored; "
        f"exit code {found.exit_code}\n"
    )


if __name__ == "__main__":
    run(main)
