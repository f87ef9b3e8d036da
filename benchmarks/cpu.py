"""CPU time without a model: `python -m benchmarks.cpu --corpus redial --data DIR`.

Milliseconds a conversation of the rule user with the retrieval system (mean), and milliseconds
that the measured judges need for each of these logs (at first, and when they were read before).
"""

import argparse
import asyncio
import time
from itertools import pairwise
from pathlib import Path

from benchmarks.running import run
from benchmarks.users import played
from recjury.agents import SystemContext, load_recommender
from recjury.corpora import open_corpus
from recjury.judges.measured import MeasuredPanel


def main() -> None:
    """Run the benchmark; the first conversation and log only load what is loaded once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="sample")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--conversations", type=int, default=200)
    options = parser.parse_args()
    corpus = open_corpus(options.corpus, options.data)
    system = load_recommender("retrieval", "retrieval", {}, SystemContext(corpus))
    panel = MeasuredPanel(corpus.catalogue)
    panel.measure(*asyncio.run(played(system, corpus, 1)))
    times = [time.process_time()]
    logs = asyncio.run(played(system, corpus, options.conversations, seed=1))
    for _ in ("first", "again"):
        times.append(time.process_time())
        for log in logs:
            panel.measure(log)
    times.append(time.process_time())
    spent = (1000 * (end - start) / len(logs) for start, end in pairwise(times))
    names = ("conversation", "judging", "judging again")
    print("; ".join(f"{name} {ms:.1f} ms" for name, ms in zip(names, spent, strict=True)))


if __name__ == "__main__":
    run(main)
