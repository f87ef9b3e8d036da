"""Names in texts against the marks of people: `python -m benchmarks.linking --json`.

The 1,000 validation conversations of ReDial mark films by `@id`. Each mark is written out as the
writer saw it ("The Shining (1980)"), as the title alone, and as the title in lower case; then the
catalogue links the message, and each mark should be one link to its item. Popularity decides
between films of one title: each half of the conversations (by a hash) has the counts of the other.

People also name films without marks. `linking_unmarked.json` has the items of each message that
one reader found to be named so; a link that is neither marked nor listed is wrong.
"""

import argparse
import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from recjury.corpora import Catalogue, Item, open_corpus
from recjury.corpora.ievalm import public_folder

MODES = ("name", "title", "lower")
_MARK = re.compile(r"@(\d+)")
_YEAR = re.compile(r"\s*\(\d{4}\)\s*$")
_UNMARKED: dict[str, list[str]] = json.loads(
    Path(__file__).with_name("linking_unmarked.json").read_text("utf-8")
)


class Message(NamedTuple):
    """A message: its conversation and number, its text, and what the writer saw of each mark."""

    place: str
    half: int
    text: str
    names: Mapping[str, str]


def main() -> None:
    """Measure, and print the figures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", action="store_true")
    options.add_argument("--wrong", action="store_true", help="print what is wrong")
    chosen = options.parse_args()
    figures = measure(show=chosen.wrong)
    if chosen.json:
        print(json.dumps(figures, indent=1))
    else:
        for mode, of_mode in figures.items():
            print(mode, ", ".join(f"{key} {value:.3f}" for key, value in of_mode.items()))


def measure(*, show: bool = False) -> dict[str, dict[str, float]]:
    """Precision, recall and F1 by mode, and messages a second."""
    folder = public_folder("redial")
    items = _items_by_mark(folder)
    messages = list(_messages(folder))
    figures = {}
    for mode in MODES:
        counts, seconds = Counter[str](), 0.0
        for half in (0, 1):
            catalogue = _counted(items, [each for each in messages if each.half != half])
            begun = time.process_time()
            for message in messages:
                if message.half == half:
                    counts += _count(message, items, catalogue, mode, show=show)
            seconds += time.process_time() - begun
        precision, recall = counts["right"] / counts["links"], counts["found"] / counts["marks"]
        figures[mode] = {
            "precision": round(precision, 4),
            "recall": round(recall, 4),
            "f1": round(2 * precision * recall / (precision + recall), 4),
            "messages_per_second": round(len(messages) / seconds),
        }
    return figures


def _count(
    message: Message,
    items: Mapping[str, Item],
    catalogue: Catalogue,
    mode: str,
    *,
    show: bool,
) -> Counter[str]:
    """Of one message: marks, those that were found, links, and those that are right."""
    marked = [mark for mark in _MARK.findall(message.text) if mark in items]
    text = _MARK.sub(lambda mark: _written(mark, message, items, mode), message.text)
    links = {ref.id for ref in catalogue.link(text)} & catalogue.items.keys()
    meant = {items[mark].id for mark in marked}
    wrong = links - meant - set(_UNMARKED.get(message.place, ()))
    if show and (wrong or meant - links):
        known = catalogue.items
        print(mode, "|", text, "| wrong:", *(known[each].ref.name for each in wrong), end=" ")
        print("| missed:", *(known[each].ref.name for each in meant - links))
    return Counter(
        marks=len(meant),
        found=len(meant & links),
        links=len(links),
        right=len(links) - len(wrong),
    )


def _written(mark: re.Match[str], message: Message, items: Mapping[str, Item], mode: str) -> str:
    if mark[1] not in items:
        return mark[0]
    name = " ".join(message.names.get(mark[1], items[mark[1]].ref.name).split())
    if mode == "name":
        return name
    title = _YEAR.sub("", name)
    return title.lower() if mode == "lower" else title


def _messages(folder: Path) -> Iterator[Message]:
    for line in (folder / "valid_data.jsonl").read_text("utf-8").strip().split("\n"):
        row = json.loads(line)
        number = row["conversationId"]
        half = int(hashlib.sha256(number.encode()).hexdigest(), 16) % 2
        for place, said in enumerate(row["messages"]):
            yield Message(f"{number}/{place}", half, said["text"], row["movieMentions"] or {})


def _items_by_mark(folder: Path) -> dict[str, Item]:
    """The items by the numbers that marks have."""
    entities = json.loads((folder / "entity2id.json").read_text("utf-8"))
    infos = json.loads((folder / "id2info.json").read_text("utf-8"))
    known = open_corpus("redial").catalogue.items
    return {mark: known[str(entities[info["name"]])] for mark, info in infos.items()}


def _counted(items: Mapping[str, Item], messages: list[Message]) -> Catalogue:
    """The catalogue, with how many of the conversations mention each item."""
    mentions = {
        (message.place.partition("/")[0], items[mark].id)
        for message in messages
        for mark in _MARK.findall(message.text)
        if mark in items
    }
    counts = Counter(item for _, item in mentions)
    every = {item.id: item for item in items.values()}
    every |= open_corpus("redial").catalogue.items
    return Catalogue(
        item.model_copy(update={"popularity": float(counts[item.id])}) for item in every.values()
    )


if __name__ == "__main__":
    main()
