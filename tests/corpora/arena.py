"""A small label file, particles and scores in the forms of CRSArena-Eval."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from recjury.corpora.data_problems import Problem

DIALOGUE_LABELS = {
    "understanding": 1,
    "task_completion": 0,
    "interest_arousal": 2,
    "efficiency": 1,
    "dialogue_overall": 3,
    "preference_elicitation": 1,
    "explanation": 0,
}


def dialogue(conversation: str = "kbrd_redial_1", **labels: Any) -> dict[str, Any]:
    """Four turns, the system's labelled 2/1 and 0/0; `labels` replace those of the dialogue."""
    return {
        "conv_id": conversation,
        "dialogue": [
            {"turn_ind": 0, "role": "USER", "utterance": "Hi, a heist film?"},
            said(1, "Try Heat (1995). It is slow.", relevance=2, interestingness=1),
            {"turn_ind": 2, "role": "USER", "utterance": "Heat is great"},
            said(3, "Bye!", relevance=0, interestingness=0),
        ],
        "dial_level_aggregated": {**DIALOGUE_LABELS, **labels},
    }


def said(turn: int, text: str, **labels: object) -> dict[str, Any]:
    """A system turn with its labels."""
    return {
        "turn_ind": turn,
        "role": "ASST",
        "utterance": text,
        "turn_level_aggregated": labels,
    }


def write(path: Path, content: object) -> Path:
    """`content` as JSON."""
    path.write_text(json.dumps(content), "utf-8")
    return path


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    """`rows` as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def scores(
    conversation: str, turns: Mapping[int, Sequence[Mapping[str, object]]]
) -> dict[str, Any]:
    """A line of a file of scores: per turn, each particle's score by instruction."""
    return {
        "conv_id": conversation,
        "turns": {
            str(turn): {"particles": {str(n): own for n, own in enumerate(particles)}}
            for turn, particles in turns.items()
        },
    }


def count_faults(problems: Iterable[Problem]) -> dict[str, int]:
    """The number of problems of each kind."""
    return dict(Counter(str(problem.fault) for problem in problems))
