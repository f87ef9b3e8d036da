"""How the measured judges spread their scores over recorded conversations, and against people.

    python -m benchmarks.measured_distribution --data DIR [--limit N] [--json]

For each system of `DIR/concept`: the share of each score and of no score, and the mean, by
factor. Then the order of the systems against the means that CoRE publishes (appendix C, tables 21
to 23), and Spearman correlations with the human labels of `DIR/crsarena-eval`.
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from benchmarks.measured_validity import PAPER_SYSTEMS, Correlation, correlate, paper_order
from benchmarks.running import run
from recjury.corpora import open_corpus
from recjury.corpora.concept import read_concept
from recjury.judges.measured import MeasuredPanel
from recjury.records import Factor, Rating

CORPORA = ("opendialkg", "redial")
SCORES = (0, 1, 2, 3, 4)


class Spread(NamedTuple):
    """One factor over one system's logs: shares of 0..4 among the scored, and of no score."""

    logs: int
    shares: tuple[float, ...]
    unscored: float
    mean: float | None


Table = dict[str, dict[Factor, Spread]]


class Measured(NamedTuple):
    """The spreads by system, and the logs judged in a second of CPU time."""

    table: Table
    logs_per_second: float


def spread(ratings: Sequence[Rating]) -> Spread:
    """The spread of one factor's ratings."""
    scores = [rating.score for rating in ratings if rating.score is not None]
    counts = Counter(int(score) for score in scores)
    shares = tuple(counts[score] / len(scores) if scores else 0.0 for score in SCORES)
    unscored = 1 - len(scores) / len(ratings)
    return Spread(len(ratings), shares, unscored, mean(scores) if scores else None)


def spreads(rated: Iterable[tuple[Rating, ...]]) -> dict[Factor, Spread]:
    """The spread of each factor over the ratings of many logs."""
    columns = list(zip(*rated, strict=True))
    return {Factor(column[0].factor): spread(column) for column in columns}


def measure(data: Path, limit: int | None) -> Measured:
    """The measurement over every recorded system."""
    table: Table = {}
    seconds, judged = 0.0, 0
    for name in CORPORA:
        corpus = open_corpus(name, data)
        panel = MeasuredPanel(corpus.catalogue)
        panel.measure(next(iter(read_concept(_file(data, PAPER_SYSTEMS[0], name), data, limit=1))))
        for system in PAPER_SYSTEMS:
            path = _file(data, system, name)
            logs = list(read_concept(path, data, limit=limit))
            started = time.process_time()
            rated = [panel.measure(log) for log in logs]
            seconds += time.process_time() - started
            judged += len(logs)
            table[path.name.split(".")[0]] = spreads(rated)
    return Measured(table, judged / seconds)


def _file(data: Path, system: str, corpus: str) -> Path:
    return data / "concept" / f"{system}_{corpus}.jsonl.gz"


def constant(table: Table) -> list[Factor]:
    """The factors with one score wherever they have one."""
    seen: dict[Factor, set[int]] = {factor: set() for factor in Factor}
    for factors in table.values():
        for factor, found in factors.items():
            seen[factor] |= {s for s, share in zip(SCORES, found.shares, strict=True) if share}
    return [factor for factor, scores in seen.items() if len(scores) < 2]


def _markdown(table: Table, factor: Factor) -> Iterable[str]:
    yield f"\n### {factor}\n"
    yield "| system | n | 0 | 1 | 2 | 3 | 4 | unscored | mean |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for system, factors in table.items():
        found = factors[factor]
        shares = " | ".join(f"{share:.2f}" for share in found.shares)
        average = "-" if found.mean is None else f"{found.mean:.2f}"
        yield f"| {system} | {found.logs} | {shares} | {found.unscored:.2f} | {average} |"


def _agreement(table: Table) -> Iterable[str]:
    yield "\n| factor | " + " | ".join(CORPORA) + " |\n|---|---|---|"
    for factor in Factor:
        cells = [paper_order(factor, corpus, _means(table, corpus, factor)) for corpus in CORPORA]
        yield f"| {factor} | " + " | ".join(cells) + " |"


def _means(table: Table, corpus: str, factor: Factor) -> list[float | None]:
    return [table[f"{system}_{corpus}"][factor].mean for system in PAPER_SYSTEMS]


def _human(correlations: Sequence[Correlation]) -> Iterable[str]:
    labels = list(dict.fromkeys(row.label for row in correlations))
    yield "\n| factor | n | " + " | ".join(labels) + " |\n|---|---" + "|---" * len(labels) + "|"
    for factor in dict.fromkeys(row.factor for row in correlations):
        rows = [row for row in correlations if row.factor == factor]
        cells = ["undefined" if row.rho is None else f"{row.rho:+.2f}" for row in rows]
        yield f"| {factor} | {max(row.n for row in rows)} | " + " | ".join(cells) + " |"


def main() -> None:
    """Print the tables as Markdown, or one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with concept/, ievalm/")
    parser.add_argument("--limit", type=int, help="conversations per file (default: all)")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    table, rate = measure(options.data, options.limit)
    correlations = correlate(options.data)
    if options.json:
        systems = {
            system: {factor.value: found._asdict() for factor, found in factors.items()}
            for system, factors in table.items()
        }
        print(
            json.dumps(
                {
                    "logs_per_second": rate,
                    "constant": [factor.value for factor in constant(table)],
                    "systems": systems,
                    "human": [row._asdict() for row in correlations],
                }
            )
        )
        return
    flat = [factor.value for factor in constant(table)]
    print(f"{rate:.0f} logs a CPU second; without two different scores: {flat}")
    lines = [line for factor in Factor for line in _markdown(table, factor)]
    print("\n".join([*lines, *_agreement(table), *_human(correlations)]))


if __name__ == "__main__":
    run(main)
