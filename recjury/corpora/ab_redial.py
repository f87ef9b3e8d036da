"""AB-ReDial: dialogues between two people, with the ratings of crowd workers.

Each dialogue and each rated turn becomes one record. The two files have a row for each dialogue
and annotator. They contain irregularities (docs/data.md): five `ConvId` values name two dialogues
each, some cells have no tab after the role, and one cell holds two utterances, which shifts the
rated turns of its dialogue.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from recjury.corpora.csv_rows import read_csv_rows
from recjury.errors import DataError
from recjury.records import ConversationLog, Ending, Scenario, Speaker, Turn

SCALES: Mapping[str, tuple[int, int]] = {
    "relevance": (0, 4),
    "interestingness": (1, 3),
    "turn_overall": (1, 5),
    "understanding": (1, 3),
    "task_completion": (1, 3),
    "interest_arousal": (0, 3),
    "efficiency": (0, 1),
    "dialogue_overall": (1, 5),
}
"""The lowest and the highest rating of each aspect, as found in the files."""

_TURN_ASPECTS = {
    "relevance": "relevance{}",
    "interestingness": "interestingness{}",
    "turn_overall": "overall{}",
}
_DIALOGUE_ASPECTS = {
    "understanding": "understanding",
    "task_completion": "task-completion",
    "interest_arousal": "interest-arousal",
    "efficiency": "efficiency",
    "dialogue_overall": "dialogue-overall",
}
_GROUP = 4  # utterances shown for one rated turn: two before it, itself, and the user's reply
_TAG = re.compile(r"^(SYSTEM|USER)\s+")
_JOINED = re.compile(r',?"(?=(?:SYSTEM|USER)\t)')

_Row = dict[str, str]


class RatedDialogue(NamedTuple):
    """A whole dialogue. `ratings` has each aspect's ratings, one per annotator who gave one.

    `id` is the ConvId. If the ConvId names two dialogues, ".1" or ".2" is appended.
    """

    id: str
    turns: tuple[Turn, ...]
    ratings: Mapping[str, tuple[int, ...]]


class RatedTurn(NamedTuple):
    """A system turn as shown to annotators, with the `context` before it and the user's `reply`.

    `id` is the dialogue's id, "#" and the number of the rated turn (1 to 3). `certain` is False in
    the one dialogue whose utterances are shifted: there, the reader guesses which turn was rated.
    """

    id: str
    dialogue: str
    context: tuple[Turn, ...]
    turn: Turn
    reply: Turn | None
    certain: bool
    ratings: Mapping[str, tuple[int, ...]]


class AbRedial(NamedTuple):
    """The 200 dialogues and 600 rated turns, in the order of their first rows."""

    dialogues: tuple[RatedDialogue, ...]
    turns: tuple[RatedTurn, ...]


def read_ab_redial(folder: Path) -> AbRedial:
    """Read `annotated_dialogues.csv` and `annotated_turns.csv` of `folder`.

    Raises DataError with file and line if something is missing or malformed.
    """
    by_text = _dialogue_rows(folder / "annotated_dialogues.csv")
    ids = _ids(by_text)
    dialogues = tuple(
        RatedDialogue(ids[key], _turns(key.cells), _ratings(rows, _DIALOGUE_ASPECTS))
        for key, rows in by_text.items()
    )
    return AbRedial(dialogues, tuple(_rated_turns(folder / "annotated_turns.csv", ids)))


def dialogue_log(dialogue: RatedDialogue) -> ConversationLog:
    """The dialogue as a log: every turn is interaction, and the "system" is a person."""
    return _log(dialogue.id, (), dialogue.turns)


def turn_log(rated: RatedTurn) -> ConversationLog:
    """A rated turn as a log: its context is the history, and the turn has index 0."""
    reply = () if rated.reply is None else (rated.reply,)
    return _log(rated.id, rated.context, (rated.turn, *reply))


def _log(record: str, history: tuple[Turn, ...], turns: tuple[Turn, ...]) -> ConversationLog:
    scenario = Scenario(corpus="ab-redial", record=record, history=history)
    return ConversationLog(
        system="person", scenario=scenario, interaction=turns, ending=Ending.RECORDED
    )


class _Key(NamedTuple):
    """The key of a dialogue. The ConvId alone is not unique."""

    conversation: str
    cells: tuple[str, ...]


def _dialogue_rows(path: Path) -> dict[_Key, list[_Row]]:
    found: dict[_Key, list[_Row]] = {}
    for line, row in _rows(path, ("ConvId", "utterance0", *_DIALOGUE_ASPECTS.values())):
        cells = tuple(v for name, v in row.items() if name.startswith("utterance") and v)
        _check(path, line, row, cells, _DIALOGUE_ASPECTS)
        found.setdefault(_Key(row["ConvId"], cells), []).append(row)
    return found


def _rated_turns(path: Path, ids: Mapping[_Key, str]) -> Iterator[RatedTurn]:
    named = [
        {aspect: column.format(number) for aspect, column in _TURN_ASPECTS.items()}
        for number in (1, 2, 3)
    ]
    groups: dict[tuple[str, int, tuple[str, ...]], list[_Row]] = {}
    owners: dict[_Key, str] = {}
    columns = [f"utterance{i}" for i in range(3 * _GROUP)]
    for line, row in _rows(path, ("ConvId", *columns, *(c for n in named for c in n.values()))):
        shown = _Key(row["ConvId"], tuple(row[column] for column in columns))
        if shown not in owners:
            owners[shown] = _owner(shown, ids, path, line)
        for number in range(3):
            cells = shown.cells[_GROUP * number : _GROUP * (number + 1)]
            _check(path, line, row, cells, named[number])
            groups.setdefault((owners[shown], number, cells), []).append(row)
    for (dialogue, number, cells), rows in groups.items():
        yield _rated_turn(dialogue, number + 1, cells, _ratings(rows, named[number]))


def _rated_turn(
    dialogue: str, number: int, cells: tuple[str, ...], ratings: Mapping[str, tuple[int, ...]]
) -> RatedTurn:
    turns = _turns(cells)
    # The rated turn is usually the third of four. If the third turn is the user's, the last
    # system turn is the most likely one.
    certain = len(turns) == _GROUP and turns[2].speaker is Speaker.SYSTEM
    place = 2 if certain else max(i for i, t in enumerate(turns) if t.speaker is Speaker.SYSTEM)
    reply = turns[place + 1] if place + 1 < len(turns) else None
    return RatedTurn(
        f"{dialogue}#{number}", dialogue, turns[:place], turns[place], reply, certain, ratings
    )


def _ids(by_text: Iterable[_Key]) -> dict[_Key, str]:
    """An id for each dialogue: its ConvId, numbered in file order if it is not unique."""
    keys = list(by_text)
    same: dict[str, list[_Key]] = {}
    for key in keys:
        same.setdefault(key.conversation, []).append(key)
    return {
        key: key.conversation
        if len(same[key.conversation]) == 1
        else f"{key.conversation}.{same[key.conversation].index(key) + 1}"
        for key in keys
    }


def _owner(shown: _Key, ids: Mapping[_Key, str], path: Path, line: int) -> str:
    """The dialogue with that ConvId that contains at least half of the cells shown."""
    overlap = {
        key: len(set(shown.cells) & set(key.cells))
        for key in ids
        if key.conversation == shown.conversation
    }
    best = max(overlap, key=overlap.__getitem__, default=None)
    if best is None or 2 * overlap[best] < len(set(shown.cells)):
        raise DataError(
            f"no dialogue in annotated_dialogues.csv has the turns of {shown.conversation!r}",
            path=path,
            line=line,
        )
    return ids[best]


def _turns(cells: Sequence[str]) -> tuple[Turn, ...]:
    """Cells as turns. If a quoting error merged two utterances into a cell, both are returned."""
    parts = [part for cell in cells for part in _JOINED.split(cell)]
    return tuple(
        Turn(speaker=Speaker(match[1].lower()), text=part[match.end() :].strip())
        for part in parts
        if (match := _TAG.match(part + " "))
    )


def _ratings(rows: Iterable[_Row], columns: Mapping[str, str]) -> dict[str, tuple[int, ...]]:
    rows = list(rows)
    return {
        aspect: tuple(int(float(row[column])) for row in rows if row[column])
        for aspect, column in columns.items()
    }


def _check(
    path: Path, line: int, row: _Row, cells: Sequence[str], columns: Mapping[str, str]
) -> None:
    bad = next((cell for cell in cells if not _TAG.match(cell + " ")), None)
    if bad is not None:
        raise DataError(
            f"expected SYSTEM or USER before each utterance, got {bad[:40]!r}", path=path, line=line
        )
    for aspect, column in columns.items():
        low, high = SCALES[aspect]
        if row[column] and row[column].removesuffix(".0") not in map(str, range(low, high + 1)):
            raise DataError(
                f"{column}: expected {low} to {high} or nothing, got {row[column]!r}",
                path=path,
                line=line,
            )


def _rows(path: Path, needed: Sequence[str]) -> Iterator[tuple[int, _Row]]:
    return ((row.line, row.cells) for row in read_csv_rows(path, needed))
