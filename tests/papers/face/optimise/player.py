"""A scripted model for `recjury face optimise`, and a small AB-ReDial to run it on.

A system turn says what it is worth ("worth 3"), an instruction how well it lets the rater see that
("(quality 0.45)"); replies depend on the request alone.
"""

import csv
import hashlib
import re
from pathlib import Path
from random import Random

from tests.answers import without_code
from tests.endpoint import Answer, Body, completion, prompt

REWRITE = "You improve the instructions"
SCORE = "Work by these instructions"

_QUALITY = re.compile(r"\(quality (\d\.\d\d)\)")
_WORTH = re.compile(r"<words>[^<]*worth (\d)")
_DIALOGUE = (
    "understanding",
    "task-completion",
    "interest-arousal",
    "efficiency",
    "dialogue-overall",
)


def play(body: Body) -> Answer:
    """A score for each sample, or a critique with new instructions."""
    text = without_code(prompt(body))
    rng = Random(hashlib.sha256(text.encode()).hexdigest())
    found = _QUALITY.search(text.rpartition("<instructions>")[2]) or _QUALITY.search(text)
    quality = float(found[1]) if found else 0.1
    if SCORE in text:
        said = _WORTH.search(text)
        seen = quality * ((int(said[1]) if said else 2) - 2) / 1.4 + (1 - quality) * rng.gauss()
        share = min(1.0, max(0.0, 0.5 + seen / 2))
        scores = [sum(rng.random() < share for _ in range(2)) for _ in range(int(str(body["n"])))]
        reply = completion("")
        reply["choices"] = [
            {
                "index": number,
                "message": {"role": "assistant", "content": f"<rating>{score}</rating>"},
                "finish_reason": "stop",
            }
            for number, score in enumerate(scores)
        ]
        return reply
    assert REWRITE in text, text
    better = min(0.95, max(0.0, quality + rng.gauss(0.1, 0.15)))
    return (
        "<critique>It says too little.</critique>\n<instructions>Rate the particle. "
        f"Step 1: is it useful? [{rng.randrange(10**6)}] (quality {better:.2f})</instructions>"
    )


def write_ab_redial(data: Path, dialogues: int = 12) -> None:
    """Twelve dialogues of three rated turns, two raters each, who see what a turn is worth."""
    folder = data / "ab-redial"
    folder.mkdir(parents=True)
    rng = Random(0)
    whole: list[list[str]] = []
    turns: list[list[str]] = []
    for number in range(dialogues):
        groups = [_group(number, turn, rng.randrange(5)) for turn in range(3)]
        spoken = [cell for group in groups for cell, _ in group]
        shown = [
            value
            for group in groups
            for value in (*(cell for cell, _ in group), str(group[2][1]), "2", "3")
        ]
        for _ in range(2):
            whole.append([f"D{number}", *spoken, "2", "2", "1", "1", str(1 + number % 5)])
            turns.append([f"D{number}", *shown])
    _write(folder / "annotated_dialogues.csv", [f"utterance{n}" for n in range(12)], whole)
    names = [
        name
        for k in range(3)
        for name in (
            *(f"utterance{4 * k + n}" for n in range(4)),
            *(f"{kind}{k + 1}" for kind in ("relevance", "interestingness", "overall")),
        )
    ]
    _write(folder / "annotated_turns.csv", names, turns)


def _group(dialogue: int, turn: int, worth: int) -> list[tuple[str, int]]:
    said = f"in dialogue {dialogue} at place {turn}"
    return [
        (f"SYSTEM\tWhat would you like to see next {said}?", 0),
        (f"USER\tSomething with a good story {said}.", 0),
        (f"SYSTEM\tThen this one is worth {worth} stars {said}.", worth),
        (f"USER\tThank you very much for that {said}.", 0),
    ]


def _write(path: Path, names: list[str], rows: list[list[str]]) -> None:
    ratings = list(_DIALOGUE) if path.name.startswith("annotated_dialogues") else []
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["ConvId", *names, *ratings], *rows])
