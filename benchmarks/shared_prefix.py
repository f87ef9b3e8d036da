"""How much of a prompt an endpoint has just read: `python -m benchmarks.shared_prefix --json`.

Endpoints keep what they computed for the beginning of a prompt, and charge less for it. The share
is counted in bytes: the longest common beginning of a prompt and the one before it, divided by the
prompt's length. It is the mean over the judges after the first (the six that see the list, the six
that do not) and over the statements of rounds 2 to 4 (each role after its own round before), and
then over 80 recorded logs of four systems on ReDial and OpenDialKG. The statements have 150 words,
the most that are shown.
"""

import argparse
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from benchmarks.running import run
from benchmarks.workload import recorded_logs
from recjury.corpora import data_folder, open_corpus
from recjury.debate import DebatePrompts
from recjury.judges import Rubric
from recjury.judges.guideline import JudgePrompts
from recjury.knowledge import CatalogueFacts
from recjury.prompts import load_pack
from recjury.records import ConversationLog, Factor, Message, Rating, Role, Statement

LOGS = 80
TARGETS = {"judges_with_list": 0.6, "judges_without_list": 0.6, "debate": 0.7}
_ROUNDS, _WORDS = 4, 150
_WORD = "system "  # English words have 5 letters on average


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder that holds ievalm/")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.data or data_folder())
    if options.json:
        print(json.dumps(found, indent=1))
        return
    for name, share in found.items():
        print(f"{name:30} {share:.1%}")


def measure(data: Path, logs: int = LOGS) -> dict[str, float]:
    """The mean shares, from 0 to 1: of the package's prompts, and of those in the paper's order."""
    recorded = tuple(recorded_logs(data, logs))
    known = {
        name: CatalogueFacts(open_corpus(name, data).catalogue)
        for name in {_corpus(log) for log in recorded}
    }
    found: dict[str, float] = {}
    for pack, prefix in (("core", ""), ("core-paper", "paper_")):
        shares = [_shares(pack, known[_corpus(log)], log) for log in recorded]
        for name in TARGETS:
            found[f"{prefix}{name}"] = round(fmean(share[name] for share in shares), 4)
    return found


def _corpus(log: ConversationLog) -> str:
    return log.scenario.corpus.partition("/")[0]


def _shares(pack: str, facts: CatalogueFacts, log: ConversationLog) -> dict[str, float]:
    rubric = Rubric(JudgePrompts(load_pack(f"{pack}-judges"), facts=facts))
    seeing = [factor for factor in Factor if "list" in rubric.guides[factor].inputs]
    return {
        "judges_with_list": _judged(rubric, seeing, log),
        "judges_without_list": _judged(rubric, [f for f in Factor if f not in seeing], log),
        "debate": _debated(DebatePrompts(load_pack(f"{pack}-debate"), facts=facts), log),
    }


def _judged(rubric: Rubric, factors: Sequence[Factor], log: ConversationLog) -> float:
    prompts = [_bytes(rubric.messages(factor, log)) for factor in factors]
    return fmean(_share(before, after) for before, after in pairwise(prompts))


def _debated(prompts: DebatePrompts, log: ConversationLog) -> float:
    shares: list[float] = []
    for role in Role:
        rated = [
            Rating(evaluator="judge", factor=factor, score=3, rationale=_WORD * 60, low=0, high=4)
            for factor in role.factors
        ]
        asked = [
            _bytes((prompts.system(role), prompts.turn(role, number, log, rated, _said(number))))
            for number in range(1, _ROUNDS + 1)
        ]
        shares += [_share(before, after) for before, after in pairwise(asked)]
    return fmean(shares)


def _said(number: int) -> tuple[Statement, ...]:
    """The statements of all rounds before `number`."""
    return tuple(
        Statement(role=role, round=before, speaker="model", text=_WORD * _WORDS, score=70)
        for before in range(1, number)
        for role in Role
    )


def _bytes(messages: Sequence[Message]) -> bytes:
    return "\n".join(message.text for message in messages).encode()


def _share(before: bytes, after: bytes) -> float:
    common = 0
    for first, second in zip(before, after, strict=False):
        if first != second:
            break
        common += 1
    return common / len(after)


if __name__ == "__main__":
    run(main)
