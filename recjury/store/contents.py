"""Everything that the store has of evaluations, checked row by row and stage by stage."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, select

from recjury.errors import StoreError
from recjury.records import ConversationLog
from recjury.store.calls import CallReader
from recjury.store.column_types import WrongTypeError
from recjury.store.conversations import CONVERSATIONS, read_conversations
from recjury.store.evaluations import StoredEvaluation, read_evaluations
from recjury.store.evaluators import EVALUATORS
from recjury.store.failures import read_unfinished
from recjury.store.fetching import fetch
from recjury.store.logs import StoredLog, read_logs
from recjury.store.sealed import Damaged
from recjury.store.stage_results import Results, calls_behind, read_stage_results


class WholeEvaluation(NamedTuple):
    """An evaluation of which nothing was altered: its row, its results by stage, and its log."""

    stored: StoredEvaluation
    results: Results
    log: ConversationLog


def read_whole(connection: Connection, evaluations: Iterable[str]) -> dict[str, WholeEvaluation]:
    """All of `evaluations` if there is no problem with any of their rows and calls, else none.

    It is much faster than to read one evaluation after the other.
    """
    problems: list[StoreError] = []
    try:
        found = _examine(connection, tuple(evaluations), problems.append)
    except WrongTypeError:
        return {}
    if problems:
        return {}
    return {
        each: WholeEvaluation(stored, found.results[each], found.logs[stored.conversations[0]].body)
        for each, stored in found.evaluations.items()
    }


def integrity(connection: Connection, unit: str) -> tuple[str, ...]:
    """The problems with the rows of a conversation or evaluation and of its model calls.

    Each text is compared with its hash and each row with its seal. The result is empty if nothing
    was altered. For an evaluation, the conversations that have its log are checked too. Raises
    WrongTypeError.
    """
    problems: list[StoreError] = []
    _examine(connection, [unit], problems.append)
    return tuple(dict.fromkeys(map(str, problems)))


class _Examined(NamedTuple):
    """What was read of conversations and evaluations."""

    evaluations: Mapping[str, StoredEvaluation]
    results: Mapping[str, Results]
    logs: Mapping[str, StoredLog]


def _examine(connection: Connection, units: Sequence[str], damaged: Damaged) -> _Examined:
    """Read everything of `units`; `damaged` is called for each problem."""
    own = _conversations(connection, units)
    evaluations = _evaluations(connection, [each for each in units if each not in own], damaged)
    about = (each for stored in evaluations.values() for each in stored.conversations)
    conversations = tuple(dict.fromkeys((*own, *about)))
    read_conversations(connection, conversations, damaged)
    read_unfinished(connection, conversations, damaged)
    logs = read_logs(connection, conversations, damaged)
    results = read_stage_results(connection, [each for each in units if each not in own], damaged)
    said = (call for each in logs.values() for turn in each.body.interaction for call in turn.calls)
    behind = (call for each in results.values() for call in calls_behind(each))
    calls = CallReader.over(connection)
    for call in dict.fromkeys((*said, *behind)):
        try:
            calls.call(call)
        except StoreError as error:
            damaged(error)
    return _Examined(evaluations, results, logs)


def _conversations(connection: Connection, units: Sequence[str]) -> list[str]:
    """The conversations among `units`."""
    return [each for (each,) in fetch(connection, _IDS, CONVERSATIONS.c.id, units)]


_IDS = select(CONVERSATIONS.c.id)


def _evaluations(
    connection: Connection, units: Sequence[str], damaged: Damaged
) -> dict[str, StoredEvaluation]:
    """Evaluations; their evaluators and logs are checked, too."""
    found = read_evaluations(connection, units, damaged)
    list(EVALUATORS.find(connection, {stored.evaluator for stored in found.values()}, damaged))
    for each, stored in found.items():
        if not stored.conversations:
            damaged(StoreError(f"the log of evaluation {each} is not in the store"))
    return found
