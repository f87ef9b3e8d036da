"""Does the small judge of replies rank the garbled replies of neural systems below whole ones?

    python -m benchmarks.small_judge_garbled --data DIR --garbled FILE [--replies DIR] [--json]

FILE is what `python -m benchmarks.garbled_replies --part test` writes. For each neural system and
corpus: the share of histories at which its garbled reply has a lower quality than the retrieval
system's reply to the same history (equal ones count half), with a 95 % interval from 2,000
resamplings of whole dialogues; the same for the person's own reply; the share of all pairs with a
reply that ChatGPT gave in recorded conversations about ReDial's films, which nothing learns from;
and the mean quality. A judge that learned from a system's broken replies must not be measured on
that system.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from benchmarks.garbled_replies import NEURAL, PERSON, RETRIEVAL
from benchmarks.running import run
from recjury.corpora.concept import read_concept
from recjury.corpora.dialogues import alternating
from recjury.judges.learned.judge import ReplyJudge
from recjury.judges.learned.shipped import judge_folder
from recjury.records import Speaker, Turn

_RESAMPLES = 2_000
_RECORDED = 200  # conversations
_History = tuple[str, ...]


class Row(NamedTuple):
    """A system on a corpus. Shares are 0 to 1; `low` and `high` bound `below_retrieval`."""

    corpus: str
    system: str
    n: int
    below_retrieval: float
    low: float
    high: float
    below_person: float
    below_chatgpt: float
    quality: float


def rows(
    replies: Sequence[Mapping[str, Any]], qualities: Sequence[float], chatgpt: Sequence[float]
) -> Iterator[Row]:
    """A row for each corpus and neural system.

    `qualities` are those of `replies`, `chatgpt` those of ChatGPT's; both are 0 to 1.
    """
    found: dict[tuple[str, str], dict[_History, float]] = {}
    dialogues: dict[_History, str] = {}
    for each, quality in zip(replies, qualities, strict=True):
        history = tuple(each["history"])
        found.setdefault((each["corpus"], each["system"]), {})[history] = quality
        dialogues[history] = each["dialogue"]
    for corpus in sorted({corpus for corpus, _ in found}):
        for system in NEURAL:
            own = found.get((corpus, system), {})
            if own:
                yield _row(corpus, system, own, found, dialogues, chatgpt)


def _row(
    corpus: str,
    system: str,
    own: Mapping[_History, float],
    found: Mapping[tuple[str, str], Mapping[_History, float]],
    dialogues: Mapping[_History, str],
    chatgpt: Sequence[float],
) -> Row:
    below = {other: {history: _below(value, found[corpus, other][history])
                     for history, value in own.items()}
             for other in (RETRIEVAL, PERSON)}  # fmt: skip
    of_dialogue: dict[str, list[float]] = {}
    for history, value in below[RETRIEVAL].items():
        of_dialogue.setdefault(dialogues[history], []).append(value)
    low, high = _interval([*of_dialogue.values()])
    return Row(
        corpus=corpus,
        system=system,
        n=len(own),
        below_retrieval=fmean(below[RETRIEVAL].values()),
        low=low,
        high=high,
        below_person=fmean(below[PERSON].values()),
        below_chatgpt=fmean(_below(one, other) for one in own.values() for other in chatgpt),
        quality=fmean(own.values()),
    )


def _below(quality: float, other: float) -> float:
    return 0.5 if quality == other else float(quality < other)


def _interval(clusters: Sequence[Sequence[float]]) -> tuple[float, float]:
    sums = np.array([sum(values) for values in clusters])
    counts = np.array([len(values) for values in clusters])
    drawn = np.random.default_rng(0).integers(0, len(clusters), (_RESAMPLES, len(clusters)))
    means = sums[drawn].sum(1) / counts[drawn].sum(1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def recorded(data: Path) -> list[tuple[Sequence[Turn], str]]:
    """ChatGPT's second reply in each of some recorded conversations (Concept), with its history."""
    found: list[tuple[Sequence[Turn], str]] = []
    for log in islice(read_concept(data / "concept" / "chatgpt_redial.jsonl.gz", data), _RECORDED):
        places = log.system_turn_indices[1:2]
        found += [(log.interaction[:place], log.interaction[place].text) for place in places]
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--garbled", type=Path, required=True)
    parser.add_argument("--replies", type=Path, default=judge_folder("replies", None))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    replies = [json.loads(line) for line in given.garbled.read_text("utf-8").splitlines()]
    judge = ReplyJudge(given.replies)
    asked = [(alternating(each["history"], Speaker.USER), each["text"]) for each in replies]
    qualities, chatgpt = (
        [each.quality for each in judge.read(some)] for some in (asked, recorded(given.data))
    )
    found = list(rows(replies, qualities, chatgpt))
    if given.json:
        print(json.dumps([row._asdict() for row in found], indent=2))
        return
    print("| corpus | system | n | below retrieval | below the person | below ChatGPT | quality |")
    print("|---|---|---|---|---|---|---|")
    for row in found:
        below = f"{row.below_retrieval:.2f} [{row.low:.2f}, {row.high:.2f}]"
        shares = (row.below_person, row.below_chatgpt, row.quality)
        cells = " | ".join(f"{share:.2f}" for share in shares)
        print(f"| {row.corpus} | {row.system} | {row.n} | {below} | {cells} |")


if __name__ == "__main__":
    run(main)
