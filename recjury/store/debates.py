"""Debates: one row for each statement of the transcript, and the verdict."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, Row, select

from recjury.errors import StoreError
from recjury.records import JSON, Debate, DebateTranscript, Role, Statement, Status, Verdict
from recjury.store.evaluation_tables import DebateRow, StatementRow
from recjury.store.tables import table_of
from recjury.store.texts import (
    Damaged,
    chunks,
    read_string_list,
    refuse,
    seal,
    sealed_repair,
    string_list,
)


def debate_row(evaluation: str, debate: Debate) -> dict[str, JSON]:
    """A row of `debate`, sealed."""
    transcript, verdict = debate
    row: dict[str, JSON] = {
        "evaluation": evaluation,
        "log": transcript.log,
        "max_rounds": transcript.max_rounds,
        "protocol": transcript.protocol,
        "judges": string_list(transcript.judges),
        "score": None if verdict.score is None else float(verdict.score),
        "status": verdict.status.value,
        "reason": verdict.reason,
        "spoke": verdict.spoke,
        "rounds": verdict.rounds,
        "agreed": int(verdict.agreed),
    }
    return {**row, "seal": seal(list(row.values()))}


def statement_rows(evaluation: str, transcript: DebateTranscript) -> list[dict[str, JSON]]:
    """Rows of `statement`, sealed."""
    rows: list[dict[str, JSON]] = []
    for position, said in enumerate(transcript.statements):
        row: dict[str, JSON] = {
            "evaluation": evaluation,
            "position": position,
            "round": said.round,
            "role": said.role.value,
            "speaker": said.speaker,
            "text": said.text,
            "score": None if said.score is None else float(said.score),
            "status": said.status.value,
            "reason": said.reason,
            "calls": string_list(said.calls),
        }
        rows.append({**row, **sealed_repair(list(row.values()), said.repaired or None)})
    return rows


class StoredDebate(NamedTuple):
    """A debate and the seals of its rows, the verdict's first."""

    debate: Debate
    seals: tuple[str, ...]


def read_debates(
    connection: Connection, evaluations: Iterable[str], damaged: Damaged = refuse
) -> dict[str, StoredDebate]:
    """Debates by evaluation; evaluations without one are left out.

    `damaged` is called for each altered row.
    """
    debates, wanted = table_of(DebateRow), tuple(evaluations)
    spoken = _read_statements(connection, wanted, damaged)
    found: dict[str, StoredDebate] = {}
    for some in chunks(wanted):
        query = select(debates).where(debates.c.evaluation.in_(some))
        for row in connection.execute(query):
            try:
                found[row.evaluation] = _stored(row, spoken.get(row.evaluation, []))
            except StoreError as error:
                damaged(error)
    return found


def _read_statements(
    connection: Connection, evaluations: Iterable[str], damaged: Damaged
) -> dict[str, list["_Spoken"]]:
    statements = table_of(StatementRow)
    spoken: dict[str, list[_Spoken]] = {}
    for some in chunks(evaluations):
        query = select(statements).where(statements.c.evaluation.in_(some))
        order = (statements.c.evaluation, statements.c.position)
        for row in connection.execute(query.order_by(*order)):
            try:
                spoken.setdefault(row.evaluation, []).append(_Spoken(_statement(row), row.seal))
            except StoreError as error:
                damaged(error)
    return spoken


class _Spoken(NamedTuple):
    statement: Statement
    seal: str


def _stored(row: Row[tuple[object, ...]], spoken: Sequence[_Spoken]) -> StoredDebate:
    try:
        if _sealed(row) == row.seal:
            transcript = DebateTranscript(
                log=row.log,
                max_rounds=row.max_rounds,
                protocol=row.protocol,
                judges=read_string_list(row.judges),
                statements=tuple(one.statement for one in spoken),
            )
            verdict = Verdict(
                score=row.score,
                status=Status(row.status),
                reason=row.reason,
                spoke=row.spoke,
                rounds=row.rounds,
                agreed=row.agreed == 1,
            )
            seals = (row.seal, *(one.seal for one in spoken))
            return StoredDebate(Debate(transcript, verdict), seals)
    except (TypeError, ValueError):  # a damaged row may hold any value
        pass
    raise StoreError(
        f"the verdict of evaluation {row.evaluation} in the store was changed after it was written"
    )


def _statement(row: Row[tuple[object, ...]]) -> Statement:
    try:
        values = row._mapping
        sealed = [values[name] for name in values if name not in {"id", "seal", "repaired"}]
        if sealed_repair(sealed, row.repaired)["seal"] == row.seal:
            return Statement(
                role=Role(row.role),
                round=row.round,
                speaker=row.speaker,
                text=row.text,
                score=row.score,
                status=Status(row.status),
                reason=row.reason,
                calls=read_string_list(row.calls),
                repaired=row.repaired or "",
            )
    except (TypeError, ValueError):  # a damaged row may hold any value
        pass
    raise StoreError(
        f"the statement of the {row.role} in round {row.round} of {row.evaluation} in the store "
        f"was changed after it was written"
    )


def _sealed(row: Row[tuple[object, ...]]) -> str:
    values = row._mapping
    return seal([values[name] for name in values if name not in {"id", "seal"}])
