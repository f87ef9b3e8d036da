"""The small judge against the people's labels of CRSArena-Eval, alone and with measured judges.

    python -m benchmarks.small_judge --data DIR [--replies DIR] [--satisfaction DIR] [--json]

Its aspects are those of docs/small-judge.md, which were written down before a label was read. For
each dataset and aspect: Spearman's rho of the measured judges, of the small judge, and of the mean
of both (as standard scores); Pearson's r of the overall label within systems.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.running import run
from recjury.corpora import open_corpus
from recjury.corpora.crsarena import SUBSETS, CrsArena, read_crsarena, subset_of, system_of
from recjury.judges.learned.judge import ReplyJudge, SatisfactionJudge
from recjury.judges.learned.shipped import judge_folder
from recjury.judges.measured import MeasuredPanel
from recjury.records import Aspect, ConversationLog, Factor, Level, ScoreTarget
from recjury.stats.correlation import correlate
from recjury.stats.grouped import correlate_within

_FACTORS = (
    Factor.COHERENCE,
    Factor.RECOVERABILITY,
    Factor.PROACTIVENESS,
    Factor.GRAMMATICAL_CORRECTNESS,
    Factor.NATURALNESS,
)
_Floats = NDArray[np.float64]


class Read(NamedTuple):
    """What both judges found in a conversation; `replies` by the turn's index."""

    satisfaction: float
    replies: Mapping[int, float]
    measured: float


class Row(NamedTuple):
    """An aspect of a dataset: n, and rho of the measured judges, the small judge, and both."""

    dataset: str
    aspect: str
    n: int
    measured: float | None
    learned: float | None
    both: float | None
    within: float | None


def read_all(held: CrsArena, data: Path, replies: Path, satisfaction: Path) -> dict[str, Read]:
    """What the judges find in each conversation. No label is read here."""
    panels = {}
    for name in SUBSETS:
        corpus = open_corpus(name, data)
        panels[name] = MeasuredPanel(corpus.catalogue)
    reader, satisfied = ReplyJudge(replies), SatisfactionJudge(satisfaction)
    return {
        name: _read(log, panels[subset_of(name)], reader, satisfied)
        for name, log in held.logs.items()
    }


def _read(
    log: ConversationLog, panel: MeasuredPanel, replies: ReplyJudge, satisfied: SatisfactionJudge
) -> Read:
    places = log.system_turn_indices
    read = replies.read(
        [(log.interaction[:place], log.interaction[place].text) for place in places]
    )
    found = {each.factor: each.score for each in panel.measure(log)}
    counted = [score for each in _FACTORS if (score := found[each]) is not None]
    return Read(
        satisfied.rate(log.interaction).overall,
        {place: each.quality for place, each in zip(places, read, strict=True)},
        float(np.mean(counted)) if counted else float("nan"),
    )


def rows(held: CrsArena, read: Mapping[str, Read]) -> Iterator[Row]:
    """The correlations of each dataset and aspect."""
    for dataset in SUBSETS:
        for aspect in Aspect:
            labels = {
                place: label
                for place, label in held.labels[str(aspect)].items()
                if subset_of(place.conversation) == dataset
            }
            yield _row(dataset, aspect, labels, read)


def _row(
    dataset: str, aspect: Aspect, labels: Mapping[ScoreTarget, int], read: Mapping[str, Read]
) -> Row:
    places = [place for place in labels if not np.isnan(read[place.conversation].measured)]
    people = [labels[place] for place in places]
    measured = _standard([read[place.conversation].measured for place in places])
    if aspect.level is Level.TURN:
        learned = _standard([read[place.conversation].replies[place.turn or 0] for place in places])
    else:
        learned = _standard([read[place.conversation].satisfaction for place in places])
        learned = learned + _standard(
            [float(np.mean(list(read[place.conversation].replies.values()))) for place in places]
        )
    both = measured + _standard(learned)
    systems = [system_of(place.conversation) for place in places]
    return Row(
        dataset,
        str(aspect),
        len(places),
        correlate(measured, people).spearman,
        correlate(learned, people).spearman,
        correlate(both, people).spearman,
        correlate_within(both, people, systems).pearson,
    )


def _standard(values: list[float] | _Floats) -> _Floats:
    given = np.asarray(values, dtype=float)
    found: _Floats = (given - given.mean()) / (given.std() + 1e-9)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--replies", type=Path, default=judge_folder("replies", None))
    parser.add_argument("--satisfaction", type=Path, default=judge_folder("satisfaction", None))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    held = read_crsarena(given.data / "crsarena-eval" / "crs_arena_eval.json")
    found = list(rows(held, read_all(held, given.data, given.replies, given.satisfaction)))
    if given.json:
        print(json.dumps([row._asdict() for row in found], indent=2))
        return
    print("| dataset | aspect | n | measured | small | both | both, within systems (r) |")
    print("|---|---|---|---|---|---|---|")
    for row in found:
        cells = ("-" if value is None else f"{value:.3f}" for value in row[3:])
        print(f"| {row.dataset} | {row.aspect} | {row.n} | {' | '.join(cells)} |")
    for dataset in SUBSETS:
        own = [row for row in found if row.dataset == dataset]
        means = [float(np.mean([row[place] for row in own])) for place in (3, 4, 5)]
        cells = (f"{value:.3f}" for value in means)
        print(f"| {dataset} | mean of seven | | {' | '.join(cells)} | |")


if __name__ == "__main__":
    run(main)
