"""Evaluations: what an evaluator is given, the stages it works in, and what a stage gives."""

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from recjury.records.base import JSON, Record, digest
from recjury.records.conversation import ConversationLog
from recjury.records.particle import AspectScores, Decomposition
from recjury.records.rating import Rating
from recjury.records.transcript import Debate


class Stage(Record):
    """A part of an evaluation that is kept on its own once it is done.

    It runs when the stages named in `after` are done, and is given what they gave.
    """

    name: str
    after: tuple[str, ...] = ()


class ConversationRecord(NamedTuple):
    """A log, and what is known of it besides: it is no part of what the log is identified by.

    `seconds` and `costs` (US dollars) are by system turn, in order; None where not known, and
    empty for conversations that were recorded elsewhere.
    """

    log: ConversationLog
    seconds: tuple[float | None, ...] = ()
    costs: tuple[float | None, ...] = ()


Kept: TypeAlias = Debate | Decomposition | AspectScores | dict[str, JSON]
"""What a stage may leave besides ratings; a dict of plain JSON where it is none of the others."""


class StageResult(NamedTuple):
    """What a stage gives: ratings, and whatever else is to be kept."""

    ratings: tuple[Rating, ...] = ()
    kept: Kept | None = None


# Part of the identities below: raise it when an evaluator comes to compute something else.
IDENTITY_VERSION = 1


def evaluator_id(kind: str, settings: Mapping[str, JSON]) -> str:
    """The identity of a version of an evaluator: its kind and all that can change its ratings."""
    return digest(["evaluator", IDENTITY_VERSION, kind, settings])


def evaluation_id(log: str, evaluator: str, data: Mapping[str, JSON], judging: int = 0) -> str:
    """The identity of an evaluation: a log's content, the version of an evaluator, the number of
    the judging (0 is the first), and what of the corpus can change the ratings."""
    return digest(["evaluation", IDENTITY_VERSION, log, evaluator, data, judging])
