"""What the leak guard sees and what it flags: `python -m benchmarks.leaks --json`.

The lists of `tests/simulator/utterances.yaml` have leaks by title, and sentences that name none of
their titles. The real turns are 20,000 of ReDial's and OpenDialKG's seekers, each with the targets
of its record, drawn by a hash; RECJURY_DATA has them. A turn names a target if its record says so,
or if it is flagged and the catalogue links it; `--wrong` prints the others to be read.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from recjury.corpora import Catalogue, open_corpus
from recjury.records import ItemRef, Scenario, Turn, digest
from recjury.simulator import LeakGuard

CORPORA = (
    ("redial", "test"),
    ("redial", "valid"),
    ("opendialkg", "test"),
    ("opendialkg", "valid"),
)
TURNS = 20_000
_LISTS = Path(__file__).parent.parent / "tests" / "simulator" / "utterances.yaml"


class Said(NamedTuple):
    """A real turn, what was said before it, and the record that it is of."""

    turn: Turn
    before: str
    scenario: Scenario
    catalogue: Catalogue


def main() -> None:
    """Measure, and print the figures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", action="store_true")
    options.add_argument("--wrong", action="store_true", help="print what is missed or flagged")
    chosen = options.parse_args()
    found = {"lists": of_lists(show=chosen.wrong), "real": of_turns(show=chosen.wrong)}
    if chosen.json:
        print(json.dumps(found, indent=1))
        return
    for name, counts in found.items():
        print(name, ", ".join(f"{key} {value}" for key, value in counts.items()))


def of_lists(*, show: bool = False) -> dict[str, int]:
    """Leaks that are found, and pairs of an innocent sentence and a title that are flagged."""
    lists: dict[str, Any] = yaml.safe_load(_LISTS.read_text("utf-8"))
    leaks = [(name, text) for name, texts in lists["leaks"].items() for text in texts]
    missed = [pair for pair in leaks if not _guard(pair[0]).leaks(pair[1])]
    watch = _guard(*lists["innocent_titles"])
    flagged = [(name, text) for text in lists["innocent"] for name in watch.leaks(text)]
    if show:
        for name, text in missed:
            print("missed |", name, "|", text)
        for name, text in flagged:
            print("flagged |", name, "|", text)
    return {
        "leaks": len(leaks),
        "found": len(leaks) - len(missed),
        "innocent_pairs": len(lists["innocent_titles"]) * len(lists["innocent"]),
        "pairs_flagged": len(flagged),
        "sentences_flagged": len({text for _, text in flagged}),
    }


def of_turns(number: int = TURNS, *, show: bool = False) -> dict[str, int]:
    """How many real turns name a target and are flagged, and how many are flagged beside them."""
    counts = Counter[str]()
    for said in drawn(number):
        guard = LeakGuard(said.scenario.targets, said.catalogue)
        names, flagged = _names(said, said.turn.items), guard.leaks(said.turn.text)
        if flagged and not names:  # records leave names out
            names = _names(said, said.catalogue.link(said.turn.text))
        values = guard.leaks(said.turn.text, withheld=guard.withheld(said=said.before))
        counts["name_a_target"] += names
        counts["found"] += names and bool(flagged)
        counts["flagged_beside"] += not names and bool(flagged)
        counts["flagged_for_a_value"] += not flagged and bool(values)
        if show and names != bool(flagged):
            print(
                "flagged" if flagged else "missed",
                "|",
                *(each.name for each in said.scenario.targets),
                "|",
                said.turn.text,
            )
        if show and values and not flagged:
            print("value |", *values, "|", said.turn.text)
    return {"turns": number, **counts}


def _names(said: Said, items: Iterable[ItemRef]) -> bool:
    return bool({item.id for item in items} & {target.id for target in said.scenario.targets})


def drawn(number: int) -> list[Said]:
    """Different turns of users with their targets, the first by a hash."""
    every = {
        digest(said.turn.text, [target.id for target in said.scenario.targets]): said
        for name, split in CORPORA
        for said in _said(name, split)
    }
    if len(every) < number:
        raise SystemExit(f"there are {len(every)} turns, and {number} are wanted")
    return [every[key] for key in sorted(every)[:number]]


def _said(name: str, split: str) -> Iterator[Said]:
    corpus = open_corpus(name, split=split)
    for scenario in corpus.scenarios:
        for place, turn in enumerate(scenario.history):
            if turn.speaker == "user" and turn.text.strip():
                before = "\n".join(each.text for each in scenario.history[:place])
                yield Said(turn, before, scenario, corpus.catalogue)


def _guard(*names: str) -> LeakGuard:
    return LeakGuard([ItemRef(id=name, name=name) for name in names])


if __name__ == "__main__":
    main()
