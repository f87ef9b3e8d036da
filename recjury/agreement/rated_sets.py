"""Labels of dialogues and replies that were rated elsewhere: USS, and the sets of PairEval."""

from collections.abc import Mapping
from pathlib import Path

from recjury.agreement.label_sets import LabelSet, of_ratings
from recjury.corpora.dialogues import packed_or_plain
from recjury.corpora.response_sets import (
    RESPONSE_SETS,
    begins_with,
    read_rated_dialogues,
    read_response_set,
)
from recjury.corpora.splitting import families
from recjury.corpora.uss import SUBSETS, read_uss
from recjury.errors import DataError
from recjury.records import ConversationLog, Ending, Scenario, ScoreTarget, Speaker, Turn

SATISFACTION = "satisfaction"
TURN_SATISFACTION = "turn_satisfaction"
REPLY_QUALITY = "reply_quality"
DIALOGUE_QUALITY = "dialogue_quality"

_ASKED = ("Overall", "coherence")

_Ratings = dict[ScoreTarget, tuple[float, ...]]


def uss_labels(folder: Path) -> LabelSet:
    """USS: satisfaction with dialogues, and with the system's turns that users react to.

    Users' turns carry the ratings; the place is the system's turn just before. A rated turn that
    follows no system turn is left out. Subsets whose file is missing are left out, too. Raises
    DataError if all are.
    """
    found = [name for name in SUBSETS if (folder / f"{name}.txt").exists()]
    if not found:
        raise DataError(f"has none of {', '.join(f'{name}.txt' for name in SUBSETS)}", path=folder)
    logs: dict[str, ConversationLog] = {}
    subsets: dict[str, str] = {}
    ratings: dict[str, _Ratings] = {SATISFACTION: {}, TURN_SATISFACTION: {}}
    for subset in found:
        for session in read_uss(folder, subset):
            logs[session.id] = _log("uss", session.id, (), session.turns, "unknown")
            subsets[session.id] = subset
            ratings[SATISFACTION][ScoreTarget(session.id)] = _floats(session.overall)
            for place, given in enumerate(session.ratings):
                if given and place and session.turns[place - 1].speaker is Speaker.SYSTEM:
                    rated = ScoreTarget(session.id, place - 1)
                    ratings[TURN_SATISFACTION][rated] = _floats(given)
    clusters = families({name: [t.text for t in log.interaction] for name, log in logs.items()})
    systems = dict.fromkeys(logs, "unknown")
    return of_ratings(LabelSet("uss", {}, subsets, systems, clusters, logs, ratings))


def dialogue_eval_labels(folder: Path) -> LabelSet:
    """The seven sets of replies, and FED's dialogues; labels are the sets' own `target`.

    A reply is the turn 0 of a conversation whose history is its context. Sets whose file is missing
    are left out. Raises DataError if all are.
    """
    logs: dict[str, ConversationLog] = {}
    subsets: dict[str, str] = {}
    clusters: dict[str, str] = {}
    labels: dict[str, dict[ScoreTarget, float]] = {REPLY_QUALITY: {}, DIALOGUE_QUALITY: {}}
    ratings: dict[str, _Ratings] = {REPLY_QUALITY: {}, DIALOGUE_QUALITY: {}}
    for name in (each for each in RESPONSE_SETS if packed_or_plain(folder, each).exists()):
        for row in read_response_set(folder, name):
            reply = row.response
            said = (Turn(speaker=Speaker.SYSTEM, text=reply.text),)
            logs[reply.id] = _log(name, reply.id, reply.history, said, reply.system)
            subsets[reply.id], clusters[reply.id] = name, f"{name}: {row.group}"
            place = ScoreTarget(reply.id, 0)
            labels[REPLY_QUALITY][place] = row.target
            _keep(ratings[REPLY_QUALITY], place, row.ratings)
    name = "fed-dialogue"
    if packed_or_plain(folder, name).exists():
        for each in read_rated_dialogues(folder):
            logs[each.id] = _log(name, each.id, (), each.turns, each.system)
            subsets[each.id], clusters[each.id] = name, f"{name}: {begins_with(each.turns)}"
            labels[DIALOGUE_QUALITY][ScoreTarget(each.id)] = each.target
            _keep(ratings[DIALOGUE_QUALITY], ScoreTarget(each.id), each.ratings)
    if not logs:
        raise DataError(f"has none of {', '.join((*RESPONSE_SETS, name))}", path=folder)
    systems = {name: log.system for name, log in logs.items()}
    return LabelSet("dialogue-eval", labels, subsets, systems, clusters, logs, ratings)


def _keep(ratings: _Ratings, place: ScoreTarget, given: Mapping[str, tuple[float, ...]]) -> None:
    """The single ratings of what the label is of; other things were asked, too."""
    for asked in _ASKED:
        if given.get(asked):
            ratings[place] = given[asked]


def _log(
    corpus: str,
    record: str,
    history: tuple[Turn, ...],
    turns: tuple[Turn, ...],
    system: str | None,
) -> ConversationLog:
    return ConversationLog(
        system=system or "unknown",
        scenario=Scenario(corpus=corpus, record=record, history=history),
        interaction=turns,
        ending=Ending.RECORDED,
    )


def _floats(values: tuple[int, ...]) -> tuple[float, ...]:
    return tuple(map(float, values))
