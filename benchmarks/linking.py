"""Entity linking against the marks of people: `python -m benchmarks.linking --data DIR --json`.

The 1,000 validation conversations of ReDial name films by `@id` marks. Each mark is written out
as the writer saw it ("The Shining (1980)"), as the title alone, and as the title in lower case;
then the catalogue's linker reads the message, and each mark should be one link to its item.

Half of the conversations (by the hash of their id) were looked at when the rules were made, the
other half was held out. How often films are mentioned decides between films of one title; each
half is read with the counts of the other.

People also name films without marking them. `linking_unmarked.json` lists such places (the
conversation and message, and the items named there): all links outside of marks that some state
of the linker made were read and judged by one person, and count as right where the text names
that film, or the series that goes by that very name; a character, a person, a place, another film
of a similar title and everything unclear are wrong. Both halves were read so, before the last of
the rules were made: as to unmarked names, the held-out half is not untouched. `precision` counts
by that list, and a link that is neither marked nor listed is wrong; `precision_strict` takes every
link outside of marks for wrong. `recall_by_title` also takes another film of exactly the mark's
title for right.
"""

import argparse
import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchmarks.running import run
from recjury.corpora import Corpus, data_folder, open_corpus
from recjury.knowledge import Catalogue, KnowledgeGraph, Mention, split_year
from recjury.records import Item

Mode = Literal["name", "title", "lower"]
MODES: tuple[Mode, ...] = ("name", "title", "lower")
MARK = re.compile(r"@(\d+)")
_COUNTS = (
    *("marks", "found", "found_by_title", "wrong_at_mark"),
    *("unmarked_right", "unmarked_wrong"),
)
_UNMARKED = Path(__file__).with_name("linking_unmarked.json")


class Message(NamedTuple):
    """A message with its marks: `films` maps the numbers in it to what the writer saw."""

    place: str
    held_out: bool
    text: str
    films: Mapping[str, str]


class Marked(NamedTuple):
    """Where a mark was written out, and the item it means."""

    start: int
    end: int
    item: Item


@dataclass
class Figures:
    """What was counted in one half, and the shares that follow."""

    marks: int = 0
    found: int = 0
    found_by_title: int = 0
    wrong_at_mark: int = 0
    unmarked_right: int = 0
    unmarked_wrong: int = 0
    precision: float = field(default=0.0)
    precision_strict: float = field(default=0.0)
    recall: float = field(default=0.0)
    recall_by_title: float = field(default=0.0)

    def close(self) -> "Figures":
        """Work out the shares."""
        links = self.found + self.wrong_at_mark + self.unmarked_right + self.unmarked_wrong
        self.precision = round((self.found + self.unmarked_right) / links, 4)
        self.precision_strict = round(self.found / links, 4)
        self.recall = round(self.found / self.marks, 4)
        self.recall_by_title = round(self.found_by_title / self.marks, 4)
        return self


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder that holds ievalm/")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    data = options.data or data_folder()
    result = {**measure(data), "speed": speed(data)}
    if options.json:
        print(json.dumps(result, indent=1))
        return
    for mode in MODES:
        for half, figures in result[mode].items():
            shares = (f"{key} {value:.3f}" for key, value in figures.items() if value <= 1)
            print(f"{mode:6} {half:9} {', '.join(shares)}")
    for names, figures in result["speed"].items():
        print(f"{names}: {figures['utterances_per_second']:,.0f} utterances/s")


def measure(data: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Figures by mode and half."""
    corpus = open_corpus("redial", data)
    folder = data / "ievalm" / "redial"
    items = items_by_number(corpus, folder)
    messages = tuple(_messages(folder))
    result: dict[str, dict[str, dict[str, Any]]] = {mode: {} for mode in MODES}
    for half, held_out in (("tuned_on", False), ("held_out", True)):
        catalogue = _counted(corpus.catalogue, messages, items, held_out=not held_out)
        mine = [message for message in messages if message.held_out == held_out]
        for mode in MODES:
            figures = evaluate(catalogue, mine, items, mode)
            result[mode][half] = asdict(figures)
    for mode in MODES:
        result[mode]["both"] = asdict(_sum(Figures(**each) for each in result[mode].values()))
    return result


def evaluate(
    catalogue: Catalogue, messages: Iterable[Message], items: Mapping[str, Item], mode: Mode
) -> Figures:
    """Link every message and count."""
    unmarked: dict[str, list[str]] = json.loads(_UNMARKED.read_text("utf-8"))
    figures = Figures()
    for message in messages:
        text, marks = written(message, items, mode)
        links = list(catalogue.link(text))
        for mark in marks:
            here = [link for link in links if link.start < mark.end and mark.start < link.end]
            right = [link for link in here if link.id == mark.item.id]
            titles = [catalogue.item(link.id).title for link in here]
            figures.marks += 1
            figures.found += bool(right)
            figures.found_by_title += mark.item.title in titles
            figures.wrong_at_mark += len(here) - bool(right)
            links = [link for link in links if link not in here]
        right_here = sum(_is_named(link, message, unmarked) for link in links)
        figures.unmarked_right += right_here
        figures.unmarked_wrong += len(links) - right_here
    return figures.close()


def _sum(parts: Iterable[Figures]) -> Figures:
    total = Figures()
    for part in parts:
        for count in _COUNTS:
            setattr(total, count, getattr(total, count) + getattr(part, count))
    return total.close()


def _is_named(link: Mention, message: Message, unmarked: Mapping[str, list[str]]) -> bool:
    return link.id in unmarked.get(message.place, ())


def written(
    message: Message, items: Mapping[str, Item], mode: Mode
) -> tuple[str, tuple[Marked, ...]]:
    """The message with its marks written out, and where they stand; unknown ones stay."""
    parts: list[str] = []
    marks = []
    length = done = 0
    for found in MARK.finditer(message.text):
        item = items.get(found[1])
        if item is None:
            continue
        name = _form(" ".join(message.films.get(found[1], item.name).split()), mode)
        parts += (message.text[done : found.start()], name)
        length += found.start() - done
        marks.append(Marked(length, length + len(name), item))
        length += len(name)
        done = found.end()
    return "".join((*parts, message.text[done:])), tuple(marks)


def _form(name: str, mode: Mode) -> str:
    if mode == "name":
        return name
    title = split_year(name).title
    return title.lower() if mode == "lower" else title


def _messages(folder: Path) -> Iterator[Message]:
    with (folder / "valid_data.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            number = row["conversationId"]
            held_out = int(hashlib.sha256(number.encode()).hexdigest(), 16) % 2 == 1
            for place, said in enumerate(row["messages"]):
                films = row["movieMentions"] or {}
                yield Message(f"{number}/{place}", held_out, said["text"], films)


def items_by_number(corpus: Corpus, folder: Path) -> dict[str, Item]:
    """The catalogue's items by the numbers that the marks use."""
    infos = json.loads((folder / "id2info.json").read_text("utf-8"))
    named = {item.name: item for item in corpus.catalogue}
    return {number: named[info["name"]] for number, info in infos.items()}


def _counted(
    catalogue: Catalogue, messages: Iterable[Message], items: Mapping[str, Item], *, held_out: bool
) -> Catalogue:
    """The catalogue with mentions counted in one half alone: conversations, by item."""
    mentions = {
        (message.place.partition("/")[0], items[number].id)
        for message in messages
        if message.held_out == held_out
        for number in MARK.findall(message.text)
        if number in items
    }
    counts = Counter(item for _, item in mentions)
    return Catalogue(
        catalogue.name,
        (item.model_copy(update={"popularity": float(counts[item.id])}) for item in catalogue),
    )


def speed(data: Path) -> dict[str, dict[str, float]]:
    """Utterances per second against all entities, and against the items."""
    corpus = open_corpus("redial", data)
    folder = data / "ievalm" / "redial"
    items = items_by_number(corpus, folder)
    texts = [written(message, items, "name")[0] for message in _messages(folder)]
    linkers: dict[str, Catalogue | KnowledgeGraph] = {
        "entities": corpus.graph,
        "items": corpus.catalogue,
    }
    sizes = {"entities": len(corpus.graph.entities), "items": len(corpus.catalogue)}
    found: dict[str, dict[str, float]] = {}
    for name, linker in linkers.items():
        start = time.process_time()
        linker.link("titanik")  # builds the index, and that of near misses
        built = time.process_time()
        for text in texts:
            linker.link(text)
        took = time.process_time() - built
        found[name] = {
            "names": sizes[name],
            "build_seconds": round(built - start, 2),
            "utterances_per_second": round(len(texts) / took),
        }
    return found


if __name__ == "__main__":
    run(main)
