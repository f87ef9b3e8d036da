"""CRSArena-Eval: dialogues of people with nine systems, and their labels on seven aspects.

The file (`crs_arena_eval.json`) has two more labels for each dialogue. The paper does not describe
them and no published score covers them; they are read under their own names. The scales are those
of `records.Aspect`. A label that is missing, unknown, out of range or not an integer is reported
and not used.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field, TypeAdapter

from recjury.corpora.data_problems import Fault, Problem
from recjury.corpora.json_rows import ClosedRow
from recjury.errors import DataError
from recjury.input_files import read_json_file_with_nan
from recjury.records import (
    Aspect,
    ConversationLog,
    Ending,
    Level,
    Scenario,
    ScoreTarget,
    Speaker,
    Turn,
)

CORPUS = "crsarena-eval"
SUBSETS = ("redial", "opendialkg")
UNDESCRIBED = {"preference_elicitation": 2, "explanation": 2}
"""Labels of a dialogue that no paper describes, with the highest value found in the file."""

_TURN_ASPECTS = {str(a): a.high for a in Aspect if a.level is Level.TURN}
_DIALOGUE_ASPECTS = {str(a): a.high for a in Aspect if a.level is Level.DIALOGUE}

Labels = Mapping[str, Mapping[ScoreTarget, int]]
"""The labels by aspect and place, in file order."""


class _Said(ClosedRow):
    turn_ind: int
    role: Literal["USER", "ASST"]
    utterance: str
    turn_level_aggregated: dict[str, object] = Field(default_factory=dict)


class _Dialogue(ClosedRow):
    conv_id: str = Field(min_length=1)
    dialogue: list[_Said] = Field(min_length=1)
    dial_level_aggregated: dict[str, object] = Field(default_factory=dict)


_FILE = TypeAdapter(list[_Dialogue])


class CrsArena(NamedTuple):
    """The logs by conversation id, their labels by aspect, and the problems found in the labels."""

    logs: Mapping[str, ConversationLog]
    labels: Labels
    problems: tuple[Problem, ...]


def subset_of(conversation: str) -> str:
    """ "redial" or "opendialkg": what the conversation's system was made for.

    Raises DataError for an id that is not `{system}_{subset}_{user}`.
    """
    parts = conversation.split("_")
    if len(parts) < 3 or parts[1] not in SUBSETS:
        raise DataError(
            f"conversation {conversation!r}: expected an id like kbrd_redial_USER "
            f"({' or '.join(SUBSETS)} in the middle)"
        )
    return parts[1]


def system_of(conversation: str) -> str:
    """The system with its subset ("kbrd_redial"). Raises DataError like `subset_of`."""
    return f"{conversation.split('_')[0]}_{subset_of(conversation)}"


def user_of(conversation: str) -> str:
    """The person who talked ("USER" of "kbrd_redial_USER"). Raises DataError like `subset_of`."""
    subset_of(conversation)
    return conversation.split("_", 2)[2]


def read_crsarena(path: Path) -> CrsArena:
    """All conversations of a label file, in file order.

    Raises DataError if the file has another form, if a conversation occurs twice, or if turns
    are not numbered from 0 or do not alternate.
    """
    logs: dict[str, ConversationLog] = {}
    labels: dict[str, dict[ScoreTarget, int]] = {
        name: {} for name in (*_TURN_ASPECTS, *_DIALOGUE_ASPECTS, *UNDESCRIBED)
    }
    problems: list[Problem] = []
    for dialogue in read_json_file_with_nan(path, _FILE):
        if dialogue.conv_id in logs:
            raise DataError(f"a second conversation {dialogue.conv_id!r}", path=path)
        fault = _fault(dialogue)
        if fault:
            raise DataError(f"{dialogue.conv_id}: {fault}", path=path)
        try:
            logs[dialogue.conv_id] = _log(dialogue)
        except DataError as error:
            raise DataError(str(error), path=path) from None
        for place, given, scale in _labelled(dialogue):
            problems += _read_labels(place, given, scale, labels)
    if not logs:
        raise DataError("holds no conversation", path=path)
    return CrsArena(logs, labels, tuple(problems))


def _fault(dialogue: _Dialogue) -> str:
    turns = dialogue.dialogue
    if [said.turn_ind for said in turns] != list(range(len(turns))):
        return "expected turns numbered 0, 1, 2, ..."
    for one, two in pairwise(turns):
        if one.role == two.role:
            return f"turns {one.turn_ind} and {two.turn_ind} are both by {one.role}"
    return ""


def _log(dialogue: _Dialogue) -> ConversationLog:
    subset = subset_of(dialogue.conv_id)
    return ConversationLog(
        system=system_of(dialogue.conv_id),
        scenario=Scenario(corpus=f"{CORPUS}/{subset}", record=dialogue.conv_id),
        interaction=tuple(
            Turn(
                speaker=Speaker.USER if said.role == "USER" else Speaker.SYSTEM,
                text=said.utterance,
            )
            for said in dialogue.dialogue
        ),
        ending=Ending.RECORDED,
    )


class _Given(NamedTuple):
    place: ScoreTarget
    labels: Mapping[str, object]
    scale: Mapping[str, int]


def _labelled(dialogue: _Dialogue) -> Iterator[_Given]:
    for said in dialogue.dialogue:
        if said.role == "ASST":
            place = ScoreTarget(dialogue.conv_id, said.turn_ind)
            yield _Given(place, said.turn_level_aggregated, _TURN_ASPECTS)
    whole = ScoreTarget(dialogue.conv_id)
    yield _Given(whole, dialogue.dial_level_aggregated, _DIALOGUE_ASPECTS)


def _read_labels(
    place: ScoreTarget,
    given: Mapping[str, object],
    scale: Mapping[str, int],
    labels: Mapping[str, dict[ScoreTarget, int]],
) -> Iterator[Problem]:
    more = UNDESCRIBED if place.turn is None else {}
    for name in scale:
        if name not in given:
            yield Problem(Fault.MISSING_LABEL, place, name, "has no label")
    for name, value in given.items():
        high = scale.get(name, more.get(name))
        if high is None:
            yield Problem(Fault.UNKNOWN_ASPECT, place, name, "is not an aspect of this level")
        elif isinstance(value, bool) or not isinstance(value, int):
            yield Problem(
                Fault.NOT_AN_INTEGER, place, name, f"the label {value!r} is not an integer"
            )
        elif not 0 <= value <= high:
            yield Problem(
                Fault.OUT_OF_RANGE, place, name, f"the label {value} is outside 0 to {high}"
            )
        else:
            labels[name][place] = value
