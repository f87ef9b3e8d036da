"""The same calls as `benchmarks.clients`, as an evaluation of inspect_ai that writes its log.

`PYTHON -m benchmarks.inspect_client URL CALLS OPEN`, where PYTHON has inspect_ai. One sample is one
call, scored by a pattern, as a judge's reply is; its display and its realtime log are off. Prints
what `benchmarks.clients` prints, and the size of the log in MB.
"""

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from inspect_ai import Task, eval  # noqa: A004 (its name)
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import pattern
from inspect_ai.solver import generate

from benchmarks.fixed_latency import RUBRIC, TALK


def main() -> None:
    """Evaluate, and print what it took."""
    url, calls, places = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    form = 'End with <rating code="a1b2c3d4">N</rating>.'
    samples = [
        Sample(input=f"{RUBRIC}Dialogue {number}. {TALK}{form}", target="3")
        for number in range(calls)
    ]
    task = Task(samples, solver=generate(), scorer=pattern(r">(\d)</rating>"))
    model = get_model(
        "openai/fixed-latency",
        base_url=url,
        api_key="-",
        config=GenerateConfig(max_connections=places, temperature=0.0),
        responses_api=False,
    )
    with tempfile.TemporaryDirectory() as folder:
        began, spent = time.monotonic(), time.process_time()
        (log,) = eval(
            task,
            model=model,
            log_dir=folder,
            display="none",
            max_samples=places,
            log_realtime=False,
        )
        wall, cpu = time.monotonic() - began, time.process_time() - spent
        assert log.status == "success", log.error
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"wall_s": wall, "cpu_s": cpu, "rss_mb": peak, "log_mb": size / 2**20}))


if __name__ == "__main__":
    main()
