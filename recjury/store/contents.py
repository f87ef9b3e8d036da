"""Everything that evaluations stored, checked row by row and stage by stage."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from sqlalchemy import Connection, select

from recjury.errors import StoreError
from recjury.records import (
    Aspect,
    AspectScores,
    ConversationLog,
    Decomposition,
    Kept,
    Rating,
    StageResult,
    Statement,
)
from recjury.store.calls import CallReader
from recjury.store.conversations import read_conversations
from recjury.store.debates import StoredDebate, read_debates
from recjury.store.evaluations import StoredEvaluation, check_data, read_evaluations
from recjury.store.evaluators import check_evaluators
from recjury.store.face import PARTICLES, StoredFace, read_face
from recjury.store.failures import read_unfinished
from recjury.store.kept import StoredObject, read_kept
from recjury.store.logs import StoredLog, read_logs
from recjury.store.ratings import StoredRating, read_ratings, seals_by_stage
from recjury.store.sealed import Damaged, refuse
from recjury.store.stage_results import DEBATE
from recjury.store.stages import CONVERSE, check_stages, is_conversation, is_evaluation, read_stages
from recjury.store.tables import ConversationRow, table_of
from recjury.store.texts import chunks


class Content(NamedTuple):
    """The results of an evaluation's finished stages; other results are None or empty."""

    ratings: tuple[StoredRating, ...] = ()
    debate: StoredDebate | None = None
    face: StoredFace = StoredFace(None, {}, {})
    kept: Mapping[str, StoredObject] = MappingProxyType({})

    def seals(self) -> dict[str, list[str]]:
        """The seals of all rows by stage: first of other results, then of ratings."""
        found: dict[str, list[str]] = {}
        if self.debate is not None:
            found[DEBATE] = list(self.debate.seals)
        for stage, seals in self.face.seals.items():
            found[stage] = [*found.get(stage, ()), *seals]
        for stage, each in self.kept.items():
            found.setdefault(stage, []).append(each.seal)
        for stage, seals in seals_by_stage(self.ratings).items():
            found.setdefault(stage, []).extend(seals)
        return found

    def calls(self) -> tuple[str, ...]:
        """The identities of the model calls that it is based on, in order and without
        duplicates."""
        statements = () if self.debate is None else self.debate.debate.transcript.statements
        sources: tuple[Rating | Statement, ...] = (
            *(each.rating for each in self.ratings),
            *statements,
        )
        own = (call for source in sources for call in source.calls)
        return tuple(dict.fromkeys((*own, *self.face.calls())))

    def results(self, stages: Iterable[str], kind: str) -> dict[str, StageResult]:
        """The result of each stage in `stages`; `kind` is the evaluator's kind."""
        return {stage: self._result(stage, kind) for stage in stages}

    def _result(self, stage: str, kind: str) -> StageResult:
        ratings = (each.rating for each in self.ratings if each.stage == stage)
        return StageResult(tuple(ratings), self._kept(stage, kind))

    def _kept(self, stage: str, kind: str) -> Kept | None:
        if stage in self.kept:
            return self.kept[stage].body
        if stage == DEBATE and self.debate is not None:
            return self.debate.debate
        if stage == PARTICLES and self.face.decomposition is not None:
            return self.face.decomposition
        if stage == PARTICLES and kind == "face":
            # A log without a system turn leaves no row.
            return Decomposition(decomposer="", turns=())
        if stage in list(Aspect) and Aspect(stage) in self.face.scores:
            return AspectScores(Aspect(stage), self.face.scores[Aspect(stage)])
        return None


def read_contents(
    connection: Connection, evaluations: Iterable[str], damaged: Damaged = refuse
) -> dict[str, Content]:
    """The content of each evaluation.

    `damaged` is called for each altered row and for each stage that has lost or gained rows.
    """
    wanted = tuple(dict.fromkeys(evaluations))
    ratings = read_ratings(connection, wanted, damaged)
    debates = read_debates(connection, wanted, damaged)
    face = read_face(connection, wanted, damaged)
    kept = read_kept(connection, wanted, damaged)
    found = {
        each: Content(
            ratings=ratings.get(each, ()),
            debate=debates.get(each),
            face=face.get(each, StoredFace(None, {}, {})),
            kept=kept.get(each, {}),
        )
        for each in wanted
    }
    seals = {each: content.seals() for each, content in found.items()}
    check_stages(connection, seals, damaged, concerned=is_evaluation)
    return found


def stage_results(connection: Connection, evaluation: str) -> dict[str, StageResult]:
    """The result of each finished stage of an evaluation. Raises StoreError for altered rows."""
    stored = read_evaluations(connection, [evaluation])
    return _results(connection, stored, read_contents(connection, stored))[evaluation]


def _results(
    connection: Connection,
    evaluations: Mapping[str, StoredEvaluation],
    contents: Mapping[str, Content],
) -> dict[str, dict[str, StageResult]]:
    finished = read_stages(connection, evaluations)
    return {
        each: contents[each].results(sorted(finished.get(each, set()) - {CONVERSE}), stored.kind)
        for each, stored in evaluations.items()
    }


class WholeEvaluation(NamedTuple):
    """An evaluation of which nothing was altered: its row, its results by stage, and its log."""

    stored: StoredEvaluation
    results: Mapping[str, StageResult]
    log: ConversationLog


def read_whole(
    connection: Connection, calls: CallReader, evaluations: Iterable[str]
) -> dict[str, WholeEvaluation]:
    """All of `evaluations` if there is no problem with any of their rows and calls, else none.

    It is much faster than to read one evaluation after the other.
    """
    problems: list[StoreError] = []
    found = _examine(connection, calls, tuple(evaluations), problems.append)
    if problems:
        return {}
    results = _results(connection, found.evaluations, found.contents)
    return {
        each: WholeEvaluation(stored, results[each], found.logs[stored.conversations[0]].log)
        for each, stored in found.evaluations.items()
    }


def integrity(connection: Connection, calls: CallReader, unit: str) -> tuple[str, ...]:
    """The problems with the rows of a conversation or evaluation and of its model calls.

    Each text is compared with its hash and each row with its seal. The result is empty if nothing
    was altered. For an evaluation, the conversations that have its log are checked too.
    """
    problems: list[StoreError] = []
    _examine(connection, calls, [unit], problems.append)
    return tuple(dict.fromkeys(map(str, problems)))


class _Examined(NamedTuple):
    """What was read of conversations and evaluations."""

    evaluations: Mapping[str, StoredEvaluation]
    contents: Mapping[str, Content]
    logs: Mapping[str, StoredLog]


def _examine(
    connection: Connection, calls: CallReader, units: Sequence[str], damaged: Damaged
) -> _Examined:
    """Read everything of `units`; `damaged` is called for each problem."""
    own = _conversations(connection, units)
    evaluations = _evaluations(connection, units, own, damaged)
    about = (each for stored in evaluations.values() for each in stored.conversations)
    conversations = tuple(dict.fromkeys((*own, *about)))
    logs = _read_said(connection, conversations, damaged)
    contents = read_contents(connection, units, damaged)
    said = (call for each in logs.values() for turn in each.log.interaction for call in turn.calls)
    behind = (call for content in contents.values() for call in content.calls())
    for call in dict.fromkeys((*said, *behind)):
        try:
            calls.call(call)
        except StoreError as error:
            damaged(error)
    return _Examined(evaluations, contents, logs)


def _conversations(connection: Connection, units: Sequence[str]) -> list[str]:
    """The conversations among `units`."""
    table = table_of(ConversationRow)
    query = select(table.c.id)
    rows = (connection.execute(query.where(table.c.id.in_(some))) for some in chunks(units))
    found = {row.id for some in rows for row in some}
    return [each for each in units if each in found]


def _evaluations(
    connection: Connection, units: Sequence[str], own: Sequence[str], damaged: Damaged
) -> dict[str, StoredEvaluation]:
    """The evaluations among `units`; their evaluators, data and logs are checked, too.

    A unit is one if it is not a conversation (`own`), or if a stage of an evaluation is finished:
    in a migrated store, a conversation and an evaluation may have the same id.
    """
    stages = read_stages(connection, own)
    alone = {each for each in own if not stages.get(each, set()) - {CONVERSE}}
    wanted = [each for each in units if each not in alone]
    found = read_evaluations(connection, wanted, damaged)
    for check, ids in (
        (check_evaluators, {stored.evaluator for stored in found.values()}),
        (check_data, found.keys()),
    ):
        try:
            check(connection, ids)
        except StoreError as error:
            damaged(error)
    for each, stored in found.items():
        if not stored.conversations:
            damaged(StoreError(f"the log of evaluation {each} is not in the store"))
    return found


def _read_said(
    connection: Connection, conversations: Sequence[str], damaged: Damaged
) -> dict[str, StoredLog]:
    """The logs of conversations, whose rows are checked."""
    read_conversations(connection, conversations, damaged)
    read_unfinished(connection, conversations, damaged)
    logs = read_logs(connection, conversations, damaged)
    seals: dict[str, dict[str, list[str]]] = {each: {} for each in conversations}
    for each, stored in logs.items():
        seals[each][CONVERSE] = list(stored.seals)
    check_stages(connection, seals, damaged, concerned=is_conversation)
    return logs
