"""Every scorer that needs no LLM against people, on every set: docs/meta-evaluation.md.

Run: `python -m benchmarks.meta_evaluation --data ../shared/data/dialogue-eval --json`.
"""

import argparse
import asyncio
import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.running import run
from recjury.meta_evaluation.evaluation import MetaEvaluationPlan, meta_evaluate
from recjury.meta_evaluation.scoring import ScoringStep


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.meta_evaluation")
    parser.add_argument("--data", type=Path, default=os.environ.get("RECJURY_DATA"))
    parser.add_argument("--causal-model", type=Path, help="a folder, for FED and FULL")
    parser.add_argument("--scorer", action="append", help="only this one; may be repeated")
    parser.add_argument("--resamples", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.data is None:
        parser.error("--data, or RECJURY_DATA, must name the folder of the sets")
    plan = MetaEvaluationPlan(
        Path(options.data),
        scorers=options.scorer,
        model=options.causal_model,
        resamples=options.resamples,
        seed=options.seed,
    )
    print(json.dumps(measure(plan), indent=None if options.json else 1))


def measure(plan: MetaEvaluationPlan) -> dict[str, Any]:
    """What the command prints."""
    began = time.perf_counter()
    found = asyncio.run(meta_evaluate(plan, _say))
    return {
        **found.as_json(),
        "wall_s": round(time.perf_counter() - began, 1),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }


def _say(step: ScoringStep) -> None:
    sys.stderr.write(f"{step.scorer}: {step.what} ({step.done + 1}/{step.of})\n")


if __name__ == "__main__":
    run(main)
