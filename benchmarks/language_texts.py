"""The texts that the models of `recjury.language` learn from.

Our own sentences (`benchmarks/sentences`, MIT), replies of the sample (MIT) and of the systems that
were trained on it (`garbled_replies`), ReDial (CC BY 4.0) and MultiWOZ (Apache 2.0): its
texts are read from the file of USS, without USS's ratings.
"""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.garbled_replies import every_example
from recjury.corpora import open_corpus
from recjury.records import Act

OWN = Path(__file__).parent / "sentences"
_SHORTEST, _LONGEST = 20, 250  # characters


class ActLine(NamedTuple):
    """A user's turn, what the system had said before, and its acts."""

    system: str
    user: str
    acts: frozenset[Act]


class ReplyLine(NamedTuple):
    """A system's reply after a history, and how it is broken ("" if it is not)."""

    history: str
    reply: str
    broken: bool
    kind: str


def read_acts(*paths: Path) -> list[ActLine]:
    """The lines of files of acts; by default our own that are not held out."""
    rows = _rows(paths or tuple(sorted((OWN / "acts").glob("*.jsonl"))))
    return [ActLine(r["system"], r["user"], frozenset(map(Act, r["acts"]))) for r in rows]


def read_replies(*paths: Path) -> list[ReplyLine]:
    """The lines of files of replies; by default our own that are not held out."""
    rows = _rows(paths or tuple(sorted((OWN / "replies").glob("*.jsonl"))))
    return [ReplyLine(r["history"], r["reply"], r["broken"], r["kind"]) for r in rows]


def _rows(paths: tuple[Path, ...]) -> Iterator[dict]:  # type: ignore[type-arg]
    for path in paths:
        with path.open(encoding="utf-8") as file:
            yield from map(json.loads, file)


def read_garbled(path: Path) -> list[ReplyLine]:
    """What `garbled_replies` wrote: broken replies of neural systems, fluent ones of templates."""
    found = {row["text"]: row["broken"] for row in _rows((path,))}
    lines = [ReplyLine("", text, broken, "garbled" * broken) for text, broken in found.items()]
    random.Random(0).shuffle(lines)
    return lines


def sample_replies() -> list[str]:
    """What people answer in the sample's training part, without repeats."""
    sample = open_corpus("sample", None)
    return list(dict.fromkeys(each.response for each in every_example(sample, ("train",))))


def own_fluent(acts: list[ActLine], replies: list[ReplyLine]) -> list[str]:
    """Fluent texts of systems among our own sentences, without repeats.

    With them are 200 replies of the retrieval system on the sample: templates filled correctly.
    """
    templates = OWN / "replies" / "templates.txt"
    said = templates.read_text("utf-8").splitlines()
    said += [line.system for line in acts if len(line.system) > 3]
    said += [line.reply for line in replies if not line.broken]
    return list(dict.fromkeys(said))


def redial(data: Path) -> list[str]:
    """Messages of ReDial's people, with the titles in place of their numbers."""
    found: list[str] = []
    for row in _rows((data / "ievalm" / "redial" / "valid_data.jsonl",)):
        titles = {f"@{number}": title for number, title in row["movieMentions"].items()}
        for message in row["messages"]:
            text = re.sub(r"@\d+", lambda m: titles.get(m.group()) or "it", message["text"])  # noqa: B023
            found.append(text)
    found += [
        row["resp"] for row in _rows((data / "ievalm" / "redial" / "test_data_processed.jsonl",))
    ]
    return _some(found)


def multiwoz(data: Path) -> list[str]:
    """Turns of MultiWOZ, of both speakers."""
    lines = (data / "uss" / "MWOZ.txt").read_text("utf-8").split("\n")
    columns = (line.split("\t") for line in lines)
    return _some([each[1] for each in columns if len(each) > 1 and each[1] != "OVERALL"])


def _some(texts: list[str]) -> list[str]:
    """The texts of usual length without repeats, in an order drawn by chance, always the same."""
    plain = dict.fromkeys(" ".join(text.split()) for text in texts)
    kept = [text for text in plain if _SHORTEST < len(text) < _LONGEST]
    random.Random(0).shuffle(kept)
    return kept
