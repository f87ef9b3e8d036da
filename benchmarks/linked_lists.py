"""Lists made of the text, against what people recommended: `python -m benchmarks.linked_lists`.

In the 1,000 validation conversations of ReDial, one person seeks films and the other recommends.
The seeker then said for each film, marked in a message by `@id`, whether it was suggested to them.
The marks are written out in three ways, as in `benchmarks.linking`, and `with_linked_items` makes
a list of each recommender's message. The session's list should have the films that the recommender
marked and that the seeker calls suggested.

`precision` is the share of the linked items that are such films, `recall` the share of such films
that are linked. `precision_marked` counts any film that the recommender marked as right: a film
that was named, not suggested, is not an error of the linker. `all_named` has the same figures if
items that the seeker named before are not left out. Popularities, which decide between films of one
title, are the corpus's, and are counted in these conversations, too.
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.linking import MARK, MODES, Message, Mode, items_by_number, written
from benchmarks.running import run
from recjury.corpora import data_folder, open_corpus
from recjury.corpora.linked_lists import with_linked_items
from recjury.knowledge import Catalogue, named_items
from recjury.records import ConversationLog, Ending, Item, Scenario, Speaker, Turn, distinct


class Said(NamedTuple):
    """A conversation's turns, and the films that the recommender marked and that were suggested."""

    turns: tuple[Turn, ...]
    marked: frozenset[str]
    suggested: frozenset[str]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder that holds ievalm/")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = measure(options.data or data_folder())
    if options.json:
        print(json.dumps(result, indent=1))
        return
    for mode, rules in result.items():
        for rule, figures in rules.items():
            print(f"{mode:6} {rule:10} {', '.join(f'{k} {v}' for k, v in figures.items())}")


def measure(data: Path) -> dict[str, dict[str, dict[str, float]]]:
    """The figures by spelling of the marks, and by rule."""
    corpus = open_corpus("redial", data)
    folder = data / "ievalm" / "redial"
    items = items_by_number(corpus, folder)
    rows = [json.loads(line) for line in (folder / "valid_data.jsonl").open(encoding="utf-8")]
    found: dict[str, dict[str, dict[str, float]]] = {}
    for mode in MODES:
        said = [_said(row, items, mode) for row in rows]
        found[mode] = {
            "rule": _figures(said, corpus.catalogue, all_named=False),
            "all_named": _figures(said, corpus.catalogue, all_named=True),
        }
    return found


def _figures(
    conversations: Iterable[Said], catalogue: Catalogue, *, all_named: bool
) -> dict[str, float]:
    links = right = marked = wanted = 0
    for said in conversations:
        listed = _named(said, catalogue) if all_named else _listed(said, catalogue)
        links += len(listed)
        right += len(listed & said.suggested)
        marked += len(listed & said.marked)
        wanted += len(said.suggested)
    return {
        "suggested": wanted,
        "linked": links,
        "precision": round(right / links, 3),
        "precision_marked": round(marked / links, 3),
        "recall": round(right / wanted, 3),
    }


def _listed(said: Said, catalogue: Catalogue) -> set[str]:
    scenario = Scenario(corpus="redial/valid", record="0")
    log = ConversationLog(
        system="people", scenario=scenario, interaction=said.turns, ending=Ending.RECORDED
    )
    linked = with_linked_items(log, catalogue).session_list()
    return {item.id if item.id is not None else f"?{item.name}" for item in linked}


def _named(said: Said, catalogue: Catalogue) -> set[str]:
    texts = (turn.text for turn in said.turns if turn.speaker is Speaker.SYSTEM)
    found = distinct(item for text in texts for item in named_items(text, catalogue)[:10])
    return {item.id if item.id is not None else f"?{item.name}" for item in found}


def _said(row: Mapping[str, Any], items: Mapping[str, Item], mode: Mode) -> Said:
    recommender, films = row["respondentWorkerId"], row["movieMentions"] or {}
    answers = row["initiatorQuestions"] or {}
    turns: list[Turn] = []
    marked: set[str] = set()
    for by_system, messages in groupby(
        row["messages"], lambda message: message["senderWorkerId"] == recommender
    ):
        texts = []
        for message in messages:
            texts.append(written(Message("", False, message["text"], films), items, mode)[0])
            if by_system:
                marked.update(MARK.findall(message["text"]))
        speaker = Speaker.SYSTEM if by_system else Speaker.USER
        turns.append(Turn(speaker=speaker, text="\n".join(texts)))
    suggested = (each for each in marked if (answers.get(each) or {}).get("suggested") == 1)
    return Said(tuple(turns), frozenset(_ids(marked, items)), frozenset(_ids(suggested, items)))


def _ids(numbers: Iterable[str], items: Mapping[str, Item]) -> Iterator[str]:
    return (items[number].id for number in numbers if number in items)


if __name__ == "__main__":
    run(main)
