"""Neural systems: batches against one by one, and the recall of first answers beside other systems.

`python -m benchmarks.neural [--corpus NAME] [--weights FOLDER] [--limit N] --json`: FOLDER has
`kbrd`, `barcor` and `unicrs`, or some of them; without it, the weights that ship are used.
"""

import argparse
import asyncio
import json
import time
from pathlib import Path
from typing import Any

import torch

from recjury.agents import load_system
from recjury.corpora import Corpus, open_corpus, shuffled
from recjury.records import Conversation, Turn
from tests.simulator.doubles import ask_of

KINDS = ("kbrd", "barcor", "unicrs")
TOGETHER = 16
CUTS = (1, 10)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="sample")
    parser.add_argument("--weights", default="")
    parser.add_argument("--limit", type=int, default=400)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    corpus = open_corpus(options.corpus)
    chosen = shuffled(corpus.scenarios, 0)[: options.limit]
    corpus = corpus._replace(scenarios=chosen)
    systems = [{"kind": kind} for kind in ("retrieval", "popular", "random")]
    for kind in KINDS:
        if not options.weights or (Path(options.weights) / kind).is_dir():
            weights = f"{options.weights}/{kind}" if options.weights else ""
            systems.append({"kind": kind, "weights": weights})
    report = {each["kind"]: figures(each, corpus) for each in systems}
    if options.json:
        print(json.dumps(report, indent=1))
    else:
        for kind, found in report.items():
            print(f"{kind}: " + ", ".join(f"{name} {value}" for name, value in found.items()))


def figures(settings: dict[str, Any], corpus: Corpus) -> dict[str, Any]:
    """Recall by the length of lists; for neural systems also what batches change."""
    is_neural = settings["kind"] in KINDS
    _, turns = _answers({**settings, "length": 10}, corpus)
    found: dict[str, Any] = {"scenarios": len(turns)}
    for cut in CUTS:
        found[f"recall@{cut}"] = round(_recall(corpus, turns, cut), 3)
    if is_neural:
        few = corpus._replace(scenarios=corpus.scenarios[:TOGETHER])
        together, batch = _answers({**settings, "batch": TOGETHER}, few)
        alone, single = _answers({**settings, "batch": 1}, few)
        found["texts_equal"] = [
            sum(a.text == b.text for a, b in zip(batch, single, strict=True)),
            len(batch),
        ]
        found["times_faster"] = round(alone / together, 1)
    return found


def _answers(settings: dict[str, Any], corpus: Corpus) -> tuple[float, list[Turn]]:
    """Seconds, and the first answers to all scenarios, which are asked at once."""
    system = load_system(settings, corpus, lambda *_: "")
    talks = [Conversation(id=each.id, turns=each.history) for each in corpus.scenarios]

    async def ask() -> list[Turn]:
        return await asyncio.gather(*(system.turn(talk, ask_of()) for talk in talks))

    began = time.perf_counter()
    turns = asyncio.run(ask())
    if failed := next((turn for turn in turns if turn.failure), None):
        raise SystemExit(f"{settings['kind']}: {failed.failure}")
    return time.perf_counter() - began, turns


def _recall(corpus: Corpus, turns: list[Turn], cut: int) -> float:
    hits = [
        bool({ref.id for ref in turn.items[:cut]} & {ref.id for ref in scenario.targets})
        for scenario, turn in zip(corpus.scenarios, turns, strict=True)
    ]
    return sum(hits) / len(hits)


if __name__ == "__main__":
    main()
