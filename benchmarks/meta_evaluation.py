"""Every scorer that needs no LLM against people, on every set: docs/meta-evaluation.md.

Run: `python -m benchmarks.meta_evaluation --data ../shared/data/dialogue-eval --json`. With
`--own-pairs N`, scorers also read N pairs of each kind that our own generator makes of the test
split of DailyDialog. `--tables FILE...` prints the tables of the docs from what `--json` printed;
a scorer that was run later, alone (`--scorer NAME`), is a further file. FACE and FACE* beside them
are `recjury analyse face.table4`.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.meta_evaluation_tables import markdown
from benchmarks.reply_evaluation import (
    MetaEvaluationPlan,
    folder_of_sets,
    meta_evaluate,
    robustness_json,
)
from benchmarks.running import run
from recjury.agreement.replies import ScorerContext, chosen, robustness_table
from recjury.agreement.replies.manipulations import Attack, Manipulator, SourceDialogue
from recjury.agreement.replies.scoring import ScoringStep
from recjury.corpora.dialogues import RobustnessPair, read_dialogues


def main() -> None:
    """Run the benchmark."""
    options = _parser().parse_args()
    if options.tables is not None:
        print(markdown([json.loads(path.read_text("utf-8")) for path in options.tables]))
        return
    if options.data is None:
        sys.exit("--data, or RECJURY_DATA, must name the folder of the sets")
    plan = MetaEvaluationPlan(
        Path(options.data),
        scorers=options.scorer,
        model=options.causal_model,
        replies=options.replies,
        robustness=not options.no_robustness,
        pairs_each=options.pairs_each,
        resamples=options.resamples,
        seed=options.seed,
    )
    found = measure(plan, own_pairs=options.own_pairs)
    print(json.dumps(found, indent=None if options.json else 1))


def measure(plan: MetaEvaluationPlan, *, own_pairs: int = 0) -> dict[str, Any]:
    """What the command prints; `own_pairs` of each kind are made of DailyDialog."""
    began, cpu = time.perf_counter(), time.process_time()
    found = asyncio.run(meta_evaluate(plan, _say))
    return {
        **found.as_json(),
        **({"own_pairs": _own_pairs(plan, own_pairs)} if own_pairs else {}),
        "wall_s": round(time.perf_counter() - began, 1),
        "cpu_s": round(time.process_time() - cpu, 1),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }


def _own_pairs(plan: MetaEvaluationPlan, most: int) -> dict[str, Any]:
    """The table of pairs of our own: at most `most` of each kind, drawn with the seed."""
    data = folder_of_sets(plan.data)
    dialogues = [
        SourceDialogue(name, turns) for name, turns in read_dialogues(data, "dailydialog.test")
    ]
    draw = random.Random(plan.seed)
    manipulator = Manipulator(dialogues, seed=plan.seed)
    pairs: list[RobustnessPair] = []
    for attack in Attack:
        own = list(manipulator.pairs([attack]))
        pairs += draw.sample(own, min(most, len(own)))
    entries = chosen(plan.scorers, model=plan.model is not None)
    context = ScorerContext(data, plan.model, replies=plan.replies, seed=plan.seed)
    return robustness_json(asyncio.run(robustness_table(entries, context, pairs, _say)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.meta_evaluation")
    parser.add_argument("--data", type=Path, default=os.environ.get("RECJURY_DATA"))
    parser.add_argument("--causal-model", type=Path, help="a folder, for FED and FULL")
    parser.add_argument("--replies", type=Path, help="a folder of `train paireval`, for learned")
    parser.add_argument("--scorer", action="append", help="only this one; may be repeated")
    parser.add_argument("--no-robustness", action="store_true", help="leave the pairs out")
    parser.add_argument("--pairs-each", type=int, metavar="N", help="at most N of each kind")
    parser.add_argument("--own-pairs", type=int, default=0, metavar="N", help="of each kind")
    parser.add_argument("--resamples", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="on one line")
    parser.add_argument(
        "--tables", type=Path, nargs="+", metavar="FILE", help="what --json printed, once or more"
    )
    return parser


def _say(step: ScoringStep) -> None:
    sys.stderr.write(f"{step.scorer}: {step.what} ({step.done + 1}/{step.of})\n")


if __name__ == "__main__":
    run(main)
