"""Debates: one row for each statement of the transcript, and the verdict."""

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import Connection

from recjury.records import JSON, Debate, DebateTranscript, Role, Statement, Status, Verdict
from recjury.store.evaluation_tables import DebateRow, StatementRow
from recjury.store.sealed import AnyRow, Damaged, SealedTable, refuse
from recjury.store.texts import read_string_list, string_list

_DEBATES = SealedTable(DebateRow, "the verdict of evaluation {evaluation}")
_STATEMENTS = SealedTable(
    StatementRow,
    "the statement of the {role} in round {round} of {evaluation}",
    order=("evaluation", "position"),
    added_later={"repaired": None},
    unsealed={"id"},
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
    return _DEBATES.sealed(row)


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
            "repaired": said.repaired or None,
        }
        rows.append(_STATEMENTS.sealed(row))
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
    wanted = tuple(evaluations)
    spoken: dict[str, list[Statement]] = {}
    seals: dict[str, list[str]] = {}
    for row, said in _STATEMENTS.read(connection, "evaluation", wanted, _statement, damaged):
        spoken.setdefault(row.evaluation, []).append(said)
        seals.setdefault(row.evaluation, []).append(row.seal)

    def build(row: AnyRow) -> StoredDebate:
        debate = _debate(row, tuple(spoken.get(row.evaluation, ())))
        return StoredDebate(debate, (row.seal, *seals.get(row.evaluation, ())))

    debates = _DEBATES.read(connection, "evaluation", wanted, build, damaged)
    return {row.evaluation: debate for row, debate in debates}


def _debate(row: AnyRow, spoken: tuple[Statement, ...]) -> Debate:
    transcript = DebateTranscript(
        log=row.log,
        max_rounds=row.max_rounds,
        protocol=row.protocol,
        judges=read_string_list(row.judges),
        statements=spoken,
    )
    verdict = Verdict(
        score=row.score,
        status=Status(row.status),
        reason=row.reason,
        spoke=row.spoke,
        rounds=row.rounds,
        agreed=row.agreed == 1,
    )
    return Debate(transcript, verdict)


def _statement(row: AnyRow) -> Statement:
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
