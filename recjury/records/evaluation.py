"""Evaluations: the input of an evaluator, its stages, and their results."""

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from recjury.records.base import JSON, Record, digest
from recjury.records.conversation import ConversationLog
from recjury.records.particle import AspectScores, Decomposition
from recjury.records.rating import Rating
from recjury.records.transcript import Debate


class Stage(Record):
    """A part of an evaluation whose result is stored separately.

    It runs when the stages named in `after` are done, and gets their results.
    """

    name: str
    after: tuple[str, ...] = ()


class ConversationRecord(NamedTuple):
    """A log, with extra data; this extra data is not part of the log's identity.

    `seconds` and `costs` (US dollars) are by system turn, in order. A value is None if it is not
    known; both are empty for conversations that were recorded elsewhere.
    """

    log: ConversationLog
    seconds: tuple[float | None, ...] = ()
    costs: tuple[float | None, ...] = ()


Kept: TypeAlias = Debate | Decomposition | AspectScores | dict[str, JSON]
"""What a stage may store besides ratings: one of these types, or any other JSON object."""


class StageResult(NamedTuple):
    """The result of a stage: ratings, and anything else to store."""

    ratings: tuple[Rating, ...] = ()
    kept: Kept | None = None


# Part of the identities below: increase it when evaluators compute something else.
IDENTITY_VERSION = 1


def evaluator_id(kind: str, settings: Mapping[str, JSON]) -> str:
    """The identity of an evaluator's version: its kind, and everything that can change its
    ratings."""
    return digest(["evaluator", IDENTITY_VERSION, kind, settings])


def evaluation_id(log: str, evaluator: str, data: Mapping[str, JSON], judging: int = 0) -> str:
    """The identity of an evaluation.

    It is derived from the log's content, the version of the evaluator, the number of the judging
    (from 0), and the part of the corpus that can change the ratings.
    """
    return digest(["evaluation", IDENTITY_VERSION, log, evaluator, data, judging])
