"""A folder of small rated sets and dialogues, in the form of the real ones."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path

from recjury.corpora.response_sets import RESPONSE_SETS


def write_lines(path: Path, rows: Iterable[object]) -> None:
    """JSON lines, gzipped."""
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")


def write_folder(folder: Path, *, rows: int = 8, dialogues: int = 30) -> Path:
    """Write all sets, dialogues, adversarial replies and worsened replies; return the folder.

    A reply's number is its quality, and people's ratings follow it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*RESPONSE_SETS, "fed-dialogue"):
        write_lines(folder / f"{name}.jsonl.gz", (_rated(name, n) for n in range(rows)))
    for corpus in ("dailydialog.train", "dailydialog.validation"):
        write_lines(folder / f"{corpus}.jsonl.gz", (_dialogue(corpus, n) for n in range(dialogues)))
    for split in ("dev", "test"):
        write_lines(folder / f"dailydialogpp.{split}.jsonl.gz", (_context(n) for n in range(6)))
    write_lines(folder / "robustness-pairs.jsonl.gz", (_pair(n) for n in range(6)))
    return folder


def _rated(name: str, number: int) -> dict[str, object]:
    text = f"{name} reply worth {number}"
    whole = name == "fed-dialogue"
    return {
        "id": f"{name}-{number}",
        "history": [f"{name} was opened by a question, number {number}?", "And I answered it."],
        "response": None if whole else text,
        "reference": None,
        "system": "some",
        "scores": {"Overall": [number, number + 1]},
        "target": number + 0.5,
        "speakers": ["User", "System"] if whole else None,
    }


def _dialogue(corpus: str, number: int) -> dict[str, object]:
    said = [f"Turn {turn} of dialogue {number} worth {turn % 3} in {corpus}." for turn in range(5)]
    return {"id": f"{corpus}-{number}", "turns": said, "topic": "any"}


def _context(number: int) -> dict[str, object]:
    return {
        "id": str(number),
        "context": [f"Somebody asks about thing {number}.", "The other one wonders about it."],
        "positives": [f"Yes, I like thing {number}, worth 5."],
        "adversarial": [f"Thing {number} is asking you, worth 0."],
        "random": [],
    }


def _pair(number: int) -> dict[str, object]:
    attack = ("repetition", "dullness")[number % 2]
    return {
        "id": str(number),
        "attack": attack,
        "history": ["Did you have a good day at the office today?"],
        "original": f"Good, worth {number + 2}.",
        "perturbed": f"Bad, worth {3 if number == 4 else 1}." if number else "Good, worth 2.",
    }
