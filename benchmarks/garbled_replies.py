"""What the tiny neural systems of the package answer: broken replies to train the small judge on.

    python -m benchmarks.garbled_replies --data DIR --part train|test --out FILE

KBRD, BARCOR and UniCRS of the sample answer histories of the sample and of ReDial; those of "train"
and "test" come from different dialogues. With few words learned, they write such replies as "It is
a funny and sad, and the boy is not too." A reply counts as broken if two pairs of words, names
aside, stand in none of the sample's replies, which they learned from: of 90 replies that were read
without this rule, it takes 30 of 51 broken ones and 3 of 33 others. With "test" the retrieval
system's and the person's replies stand beside them. A line has "system", "corpus", "dialogue",
"history" and "text".
"""

import argparse
import asyncio
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from benchmarks.running import run
from recjury.agents import SystemContext, load_recommender
from recjury.corpora import Corpus, TrainingExample, open_corpus
from recjury.corpora.dialogues import alternating
from recjury.knowledge import Catalogue
from recjury.records import Conversation, Speaker, SystemReply

NEURAL = ("kbrd", "barcor", "unicrs")
RETRIEVAL, PERSON = "retrieval", "person"
_PARTS: dict[str, dict[str, tuple[str, ...]]] = {
    "train": {"sample": ("train",), "redial": ("valid",)},
    "test": {"sample": ("valid", "test"), "redial": ("test",)},
}
_EACH = 1_000  # histories of a corpus at most
_BEFORE = 6  # turns
_NEW = 2  # pairs of words


class Asked(NamedTuple):
    """A history that the systems answer, and what the person answered."""

    corpus: str
    dialogue: str
    history: tuple[str, ...]
    person: str


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--part", choices=[*_PARTS], default="train")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    asked = list(histories(given.data, given.part))
    found = list(garbled(asked))
    asked = list(dict.fromkeys(each for _, each, _ in found))
    whole = answers(RETRIEVAL, open_corpus("sample", None), asked)
    found += [(RETRIEVAL, each, text) for each, text in zip(asked, whole, strict=True)]
    if given.part == "test":
        found += [(PERSON, each, each.person) for each in asked]
    with given.out.open("w", encoding="utf-8") as file:
        for system, each, text in found:
            row = {"system": system, **each._asdict(), "text": text, "broken": system in NEURAL}
            del row["person"]
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def garbled(asked: Sequence[Asked]) -> Iterator[tuple[str, Asked, str]]:
    """The broken replies of each neural system."""
    sample = open_corpus("sample", None)
    films = sample.catalogue
    learned = {
        pair
        for each in every_example(sample, sample.splits)
        for pair in word_pairs(each.response, films)
    }
    for system in NEURAL:
        seen = set()
        for each, text in zip(asked, answers(system, sample, asked), strict=True):
            if text not in seen and len(word_pairs(text, films) - learned) >= _NEW:
                yield system, each, text
            seen.add(text)


def histories(data: Path, part: str) -> Iterator[Asked]:
    """The histories of a part, drawn with a fixed seed."""
    for name, splits in _PARTS[part].items():
        every = every_example(open_corpus(name, data), splits)
        for each in random.Random(0).sample(every, min(_EACH, len(every))):
            said = tuple(text for text in each.context if text.strip())[-_BEFORE:]
            if said:
                yield Asked(name, each.dialogue, said, each.response)


def every_example(corpus: Corpus, splits: Iterable[str]) -> list[TrainingExample]:
    """The examples of some splits."""
    return [each for split in splits for each in corpus.examples(split)]


def answers(system: str, corpus: Corpus, asked: Sequence[Asked]) -> list[str]:
    """What a system of the package answers to each history."""
    recommender = load_recommender(system, system, {}, SystemContext(corpus))

    async def all_answers() -> list[SystemReply]:
        said = (alternating(each.history, Speaker.USER) for each in asked)
        try:
            return await asyncio.gather(
                *(recommender.respond(Conversation(turns=turns)) for turns in said)
            )
        finally:
            await recommender.aclose()

    return [reply.text for reply in asyncio.run(all_answers())]


def word_pairs(text: str, films: Catalogue) -> set[tuple[str, str]]:
    """All pairs of successive words without a film's name."""
    for mention in reversed(films.link(text)):
        text = f"{text[: mention.start]}\n{text[mention.end :]}"
    parts = (part.split() for part in text.lower().split("\n"))
    return {pair for words in parts for pair in pairwise(words)}


if __name__ == "__main__":
    run(main)
