"""The sentences from which the model of `recjury.judges.measured.fluency` is trained.

Texts of people: ReDial (CC BY 4.0), CCPE (CC BY 4.0) and MultiWOZ (MIT). Recordings: those of the
four sources whose names come first by hash, which are the four systems on OpenDialKG; ChatGPT and
the simulated users count as fluent, the other systems as doubtful. Corpora whose licence forbids
commercial use or wants the same licence (DailyDialog, OpenDialKG, SGD) are left out.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from recjury.corpora import open_corpus
from recjury.corpora.concept import read_concept
from recjury.judges.measured.annotated_log import annotate
from recjury.judges.measured.fluency import FEW_WORDS
from recjury.judges.measured.text import TITLE, MaskedText, Sentence
from recjury.knowledge import Catalogue
from recjury.records import Speaker

SYSTEMS = ("kbrd", "barcor", "unicrs", "chatgpt")
CORPORA = ("redial", "opendialkg")
_LONGEST = 60
_MOST_COPIES = 2


def hashed(text: str) -> int:
    """A number that decides by chance, and always in the same way."""
    return int(sha256(text.encode()).hexdigest()[:8], 16)


def training_sources() -> list[str]:
    """The half of the recorded sources whose names have the lowest hashes."""
    names = [f"{system}_{corpus}" for system in SYSTEMS for corpus in CORPORA]
    return sorted(names, key=lambda name: sha256(name.encode()).hexdigest())[: len(names) // 2]


class Texts(NamedTuple):
    """Fluent sentences to count, fluent sentences to fit with, and doubtful ones by system."""

    counted: list[Sentence]
    fitted: list[Sentence]
    doubtful: dict[str, list[Sentence]]


def read_texts(data: Path, left_out: frozenset[str]) -> Texts:
    """The sentences of `data`; of each conversation in four, one is fitted with, three are counted.

    `left_out` are sentences, as their words in lower case, that must not be trained with.
    """
    texts = Texts([], [], {})
    copies: Counter[tuple[str, str]] = Counter()
    for kind, conversation, masked in (*_people(data), *_recorded(data)):
        for sentence in MaskedText.of_masked(masked).sentences:
            words = " ".join(sentence.words)
            if not FEW_WORDS <= len(sentence.words) <= _LONGEST or words in left_out:
                continue
            copies[kind, words] += 1
            if kind in SYSTEMS:
                if copies[kind, words] == 1:
                    texts.doubtful.setdefault(kind, []).append(sentence)
            elif kind == "people" or copies[kind, words] <= _MOST_COPIES:
                (texts.counted if hashed(conversation) % 4 else texts.fitted).append(sentence)
    return texts


def _people(data: Path) -> Iterator[tuple[str, str, str]]:
    films = open_corpus("redial", data).catalogue
    for row in _rows(data / "ievalm" / "redial" / "valid_data.jsonl"):
        for message in row["messages"]:
            text = re.sub(r"@\d+", TITLE, message["text"])
            yield "people", f"redial/{row['conversationId']}", text
    seen: set[tuple[str, str]] = set()
    for row in _rows(data / "ievalm" / "redial" / "test_data_processed.jsonl"):
        for text in (*row["context"], row["resp"]):
            if (row["dialog_id"], text) not in seen:
                seen.add((row["dialog_id"], text))
                yield "people", f"redial-test/{row['dialog_id']}", _masked(text, films)
    for name in ("CCPE", "MWOZ", "ReDial"):
        sessions = (data / "uss" / f"{name}.txt").read_text("utf-8").split("\n\n")
        for number, session in enumerate(sessions):
            for line in session.strip("\n").split("\n"):
                text = [*line.split("\t"), "OVERALL"][1]
                if text != "OVERALL":
                    masked = _masked(text, films) if name == "ReDial" else text
                    yield "people", f"{name}/{number}", masked


def _recorded(data: Path) -> Iterator[tuple[str, str, str]]:
    for source in training_sources():
        system, _, corpus = source.partition("_")
        catalogue = open_corpus(corpus, data).catalogue
        for log in read_concept(data / "concept" / f"{source}.jsonl.gz", data):
            for turn in log.interaction:
                fluent = system == "chatgpt" or turn.speaker is Speaker.USER
                kind = "fluent" if fluent else system
                yield kind, log.scenario.record, _masked(turn.text, catalogue)


def _masked(text: str, catalogue: Catalogue) -> str:
    spans = [(film.start, film.end) for film in annotate(text, catalogue).named]
    return MaskedText(text, spans).masked


def _rows(path: Path) -> Iterator[dict]:  # type: ignore[type-arg]
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)
