"""Everything that evaluations stored, checked row by row and stage by stage."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from sqlalchemy import Connection

from recjury.errors import StoreError
from recjury.records import (
    Aspect,
    AspectScores,
    Decomposition,
    Kept,
    Rating,
    StageResult,
    Statement,
)
from recjury.store.calls import CallReader
from recjury.store.conversations import read_conversations
from recjury.store.debates import StoredDebate, read_debates
from recjury.store.evaluations import StoredEvaluation, read_data, read_evaluations
from recjury.store.evaluators import check_evaluator
from recjury.store.face import PARTICLES, StoredFace, read_face
from recjury.store.failures import read_unfinished
from recjury.store.kept import StoredObject, read_kept
from recjury.store.logs import read_logs
from recjury.store.ratings import StoredRating, read_ratings, seals_by_stage
from recjury.store.stage_results import DEBATE
from recjury.store.stages import CONVERSE, check_stages, is_conversation, is_evaluation, read_stages
from recjury.store.tables import ConversationRow, table_of
from recjury.store.texts import Damaged, refuse


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
    stages = read_stages(connection, [evaluation]).get(evaluation, set()) - {CONVERSE}
    stored = read_evaluations(connection, [evaluation])[evaluation]
    return read_contents(connection, [evaluation])[evaluation].results(sorted(stages), stored.kind)


def integrity(connection: Connection, calls: CallReader, unit: str) -> tuple[str, ...]:
    """The problems with the rows of a conversation or evaluation and of its model calls.

    Each text is compared with its hash and each row with its seal. The result is empty if nothing
    was altered. For an evaluation, the conversations that have its log are checked too.
    """
    found: list[str] = []

    def note(error: StoreError) -> None:
        found.append(str(error))

    conversations = _conversations(connection, unit, note)
    behind = [*_said(connection, conversations, note)]
    behind += read_contents(connection, [unit], note)[unit].calls()
    for call in dict.fromkeys(behind):
        try:
            calls.call(call)
        except StoreError as error:
            note(error)
    return tuple(dict.fromkeys(found))


def _conversations(connection: Connection, unit: str, damaged: Damaged) -> list[str]:
    """The conversation `unit`, or the conversations that the evaluation `unit` is about."""
    table = table_of(ConversationRow)
    row = connection.execute(table.select().where(table.c.id == unit)).first()
    own = [] if row is None else [unit]
    if own and not read_stages(connection, own).get(unit, set()) - {CONVERSE}:
        return own
    stored = read_evaluations(connection, [unit], damaged).get(unit)
    if stored is None:
        return own
    try:
        check_evaluator(connection, stored.evaluator)
        read_data(connection, unit)
    except StoreError as error:
        damaged(error)
    return _with_log(stored, own, damaged)


def _with_log(stored: StoredEvaluation, own: list[str], damaged: Damaged) -> list[str]:
    if not stored.conversations:
        damaged(StoreError(f"the log of evaluation {stored.id} is not in the store"))
    return list(dict.fromkeys((*own, *stored.conversations)))


def _said(connection: Connection, conversations: Iterable[str], damaged: Damaged) -> Iterator[str]:
    """The calls made in conversations; the rows of the conversations are checked."""
    wanted = tuple(conversations)
    for each in wanted:
        try:
            read_conversations(connection, [each])
        except StoreError as error:
            damaged(error)
        read_unfinished(connection, each, damaged)
    logs = read_logs(connection, wanted, damaged)
    seals: dict[str, dict[str, list[str]]] = {each: {} for each in wanted}
    for each, stored in logs.items():
        seals[each][CONVERSE] = list(stored.seals)
    check_stages(connection, seals, damaged, concerned=is_conversation)
    for stored in logs.values():
        for turn in stored.log.interaction:
            yield from turn.calls
