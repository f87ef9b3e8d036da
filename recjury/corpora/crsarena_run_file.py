"""The run file of CRSArena-Eval: a pooled score per turn and dialogue, for its leaderboard.

A JSON list of `{conv_id, turns: [{turn_ind, turn_level_pred: {aspect: score}}],
dial_level_pred: {aspect: score}}`. In the released `face_run.json`, five turns without any score
have 0.0 for relevance: a missing score is written there as 0.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import orjson
from pydantic import TypeAdapter

from recjury.corpora.crsarena_runs import is_number
from recjury.corpora.data_problems import Fault, Problem
from recjury.corpora.json_rows import ClosedRow
from recjury.errors import DataError
from recjury.input_files import read_json_file_with_nan
from recjury.records import Aspect, Level, ScoreTarget

RunScores = Mapping[Aspect, Mapping[ScoreTarget, float]]


class _Turn(ClosedRow):
    turn_ind: int
    turn_level_pred: dict[str, object]


class _Dialogue(ClosedRow):
    conv_id: str
    turns: list[_Turn]
    dial_level_pred: dict[str, object]


_FILE = TypeAdapter(list[_Dialogue])


def read_run_file(path: Path) -> tuple[dict[Aspect, dict[ScoreTarget, float]], tuple[Problem, ...]]:
    """The scores by aspect and place, and the problems found; null means no score.

    Raises DataError for another form, and for a conversation or turn that occurs twice.
    """
    scores: dict[Aspect, dict[ScoreTarget, float]] = {}
    problems: list[Problem] = []
    seen: set[ScoreTarget] = set()
    dialogues: list[_Dialogue] = read_json_file_with_nan(path, _FILE)
    for dialogue in dialogues:
        given = [(ScoreTarget(dialogue.conv_id), dialogue.dial_level_pred)]
        given += (
            (ScoreTarget(dialogue.conv_id, t.turn_ind), t.turn_level_pred) for t in dialogue.turns
        )
        for place, own in given:
            if place in seen:
                raise DataError(f"a second {place}", path=path)
            seen.add(place)
            problems += _take(place, own, scores)
    return {aspect: scores[aspect] for aspect in Aspect if aspect in scores}, tuple(problems)


def _take(
    place: ScoreTarget, given: Mapping[str, object], scores: dict[Aspect, dict[ScoreTarget, float]]
) -> Iterator[Problem]:
    level = Level.DIALOGUE if place.turn is None else Level.TURN
    for name, score in given.items():
        if name not in set(Aspect) or Aspect(name).level is not level:
            yield Problem(Fault.UNKNOWN_ASPECT, place, name, "is not an aspect of this level")
            continue
        aspect = Aspect(name)
        if score is None:
            yield Problem(Fault.MISSING_SCORE, place, name, "has no score")
        elif not is_number(score):
            yield Problem(Fault.NOT_A_NUMBER, place, name, f"the score {score!r} is not a number")
        else:
            if not aspect.low <= score <= aspect.high:
                what = f"the score {score:g} is outside {aspect.low} to {aspect.high}"
                yield Problem(Fault.OUT_OF_RANGE, place, name, what)
            scores.setdefault(aspect, {})[place] = float(score)


def run_file(scores: RunScores, conversations: Iterable[str]) -> bytes:
    """The run file with the scores of `conversations`, in that order, without unscored places."""
    turns: dict[str, dict[int, dict[str, float]]] = {}
    wholes: dict[str, dict[str, float]] = {}
    for aspect, own in scores.items():
        for place, score in own.items():
            if place.turn is None:
                wholes.setdefault(place.conversation, {})[aspect.value] = score
            else:
                numbered = turns.setdefault(place.conversation, {})
                numbered.setdefault(place.turn, {})[aspect.value] = score
    rows = [
        {
            "conv_id": conversation,
            "turns": [
                {"turn_ind": turn, "turn_level_pred": given}
                for turn, given in sorted(turns.get(conversation, {}).items())
            ],
            "dial_level_pred": wholes.get(conversation, {}),
        }
        for conversation in conversations
    ]
    return orjson.dumps(rows, option=orjson.OPT_INDENT_2)
