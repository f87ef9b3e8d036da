"""Replies and dialogues that people rated: the sets on which PairEval was evaluated, and others.

A folder has a file for each set (docs/data.md): DailyDialog-GRADE, ConvAI2-GRADE, Empathetic-GRADE
(Huang et al. 2020), DailyDialog-Zhao (Zhao et al. 2020), ConvAI2-USR, TopicalChat-USR (Mehri and
Eskenazi 2020a), FED (Mehri and Eskenazi 2020b).
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import Field

from recjury.corpora.dialogues import alternating, packed_or_plain
from recjury.corpora.json_rows import JsonRow
from recjury.errors import DataError
from recjury.input_files import read_rows
from recjury.records import Response, Speaker, Turn

PAIREVAL_SETS = (
    "dailydialog-grade",
    "dailydialog-zhao",
    "convai2-grade",
    "convai2-usr",
    "topicalchat-usr",
    "fed-turn",
)
"""The six sets of PairEval (Park et al. 2024, section 4.1)."""
RESPONSE_SETS = (*PAIREVAL_SETS, "empathetic-grade")
_FOLDER = "dialogue-eval"

_PEOPLE = ("Original Ground Truth", "New Human Generated", "Human")
_MODEL_OUTPUT = "model output"
_SPEAKERS = {"User": Speaker.USER, "System": Speaker.SYSTEM}
_BEGINNING = 3  # turns that tell dialogues apart
_WORD = re.compile(r"\w+")

Found = TypeVar("Found")


class LabelledResponse(NamedTuple):
    """A reply with the mean of its ratings, and each annotator's ratings by what was asked.

    `human` is True if a person wrote the reply. `group` is the same for replies whose dialogues
    begin alike: they are not independent. `facts` is what the speaker was told to use, if any.
    """

    response: Response
    target: float
    ratings: Mapping[str, tuple[float, ...]]
    human: bool
    group: str
    facts: str | None = None


class LabelledDialogue(NamedTuple):
    """A whole dialogue with the mean of its ratings; the rated speaker is the system."""

    id: str
    turns: tuple[Turn, ...]
    system: str | None
    target: float
    ratings: Mapping[str, tuple[float, ...]]
    human: bool


class _Row(JsonRow):
    id: str
    history: list[str]
    response: str | None
    reference: str | None = None
    system: str | None = None
    scores: dict[str, list[float]]
    target: float
    speakers: list[str] | None = None
    fact: str | None = None
    derived: dict[str, object] = Field(default_factory=dict)


def sets_folder(data: Path | None) -> Path:
    """The folder of the sets: `data`, or dialogue-eval/ in it. Analyses of sets need `data`."""
    assert data is not None
    return data / _FOLDER if (data / _FOLDER).is_dir() else data


def read_response_set(folder: Path, name: str) -> tuple[LabelledResponse, ...]:
    """The rated replies of a set of `RESPONSE_SETS`, in file order.

    Raises DataError, with file and line, if the set is unknown, missing, empty, or malformed.
    """
    if name not in RESPONSE_SETS:
        raise DataError(f"unknown set {name!r}: expected one of {', '.join(RESPONSE_SETS)}")
    path = packed_or_plain(folder, name)
    return _some(tuple(_labelled(row, path, line) for line, row in read_rows(path, _Row)), path)


def read_rated_dialogues(folder: Path) -> tuple[LabelledDialogue, ...]:
    """The 125 whole dialogues of FED. Raises DataError as `read_response_set`."""
    path = packed_or_plain(folder, "fed-dialogue")
    found = tuple(
        LabelledDialogue(
            row.id,
            _turns(row.history, row.speakers, path, line),
            row.system,
            row.target,
            _ratings(row),
            _is_human(row),
        )
        for line, row in read_rows(path, _Row)
    )
    return _some(found, path)


def begins_with(history: Sequence[Turn]) -> str:
    """The words of the first turns, in lower case: replies with the same ones are grouped.

    Three turns: in FED, 111 of 375 rows begin with "Hi!" and "Hi there!", from 37 dialogues.
    """
    start = history[:_BEGINNING]
    return " ".join(word for turn in start for word in _WORD.findall(turn.text.lower()))


def _labelled(row: _Row, path: Path, line: int) -> LabelledResponse:
    if row.response is None:
        raise DataError("a row without a response", path=path, line=line)
    speakers = row.speakers[:-1] if row.speakers else None
    history = _turns(row.history, speakers, path, line)
    response = Response(
        id=row.id,
        history=history,
        text=row.response,
        reference=row.reference,
        system=row.system,
    )
    return LabelledResponse(
        response, row.target, _ratings(row), _is_human(row), begins_with(history), row.fact
    )


def _turns(
    texts: Sequence[str], speakers: Sequence[str] | None, path: Path, line: int
) -> tuple[Turn, ...]:
    if speakers is None:
        return alternating(texts, Speaker.USER)
    if len(speakers) != len(texts) or not set(speakers) <= set(_SPEAKERS):
        raise DataError("expected User or System for each turn", path=path, line=line)
    return tuple(
        Turn(speaker=_SPEAKERS[speaker], text=text)
        for speaker, text in zip(speakers, texts, strict=True)
    )


def _ratings(row: _Row) -> dict[str, tuple[float, ...]]:
    return {name: tuple(given) for name, given in row.scores.items() if given}


def _is_human(row: _Row) -> bool:
    role = row.derived.get("role", _MODEL_OUTPUT)
    return row.system in _PEOPLE or role != _MODEL_OUTPUT


def _some(found: tuple[Found, ...], path: Path) -> tuple[Found, ...]:
    if not found:
        raise DataError("has no rows", path=path)
    return found
