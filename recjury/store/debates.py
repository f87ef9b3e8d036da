"""Debates: the transcript's statements, a row each, and the verdict."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, Row, select, union

from recjury.errors import StoreError
from recjury.records import JSON, DebateTranscript, Role, Statement, Status, Verdict
from recjury.store.engine import insert_new
from recjury.store.tables import (
    CampaignTrialRow,
    DebateRow,
    StageRow,
    StatementRow,
    TrialRow,
    table_of,
)
from recjury.store.texts import Damaged, chunks, read_string_list, refuse, seal, string_list
from recjury.store.trials import finish_stage, trial_ids
from recjury.store.writer import Transaction


class Debate(NamedTuple):
    """What was said, and what came of it."""

    transcript: DebateTranscript
    verdict: Verdict


class FinishedDebate(NamedTuple):
    """A trial's debate."""

    trial: str
    debate: Debate


class DebateSummary(NamedTuple):
    """A line of a list of debates, read without checking; `score` is the verdict's, 0-100."""

    trial: str
    system: str
    scenario: str
    score: float | None
    rounds: int
    agreed: bool


def write_debates(transaction: Transaction, finished: Sequence[FinishedDebate]) -> None:
    """Keep debates and finish the stage "debate"; a trial that has a debate keeps it."""
    for trial, debate in finished:
        row = _debate_row(trial, debate)
        statements = _statement_rows(trial, debate.transcript)
        seals = [str(row["seal"]), *(str(statement["seal"]) for statement in statements)]
        if finish_stage(transaction, trial, "debate", seals):
            transaction.connection.execute(insert_new(DebateRow), [row])
            if statements:
                transaction.connection.execute(insert_new(StatementRow), statements)


def _debate_row(trial: str, debate: Debate) -> dict[str, JSON]:
    transcript, verdict = debate
    row: dict[str, JSON] = {
        "trial": trial,
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


def _statement_rows(trial: str, transcript: DebateTranscript) -> list[dict[str, JSON]]:
    rows: list[dict[str, JSON]] = []
    for position, said in enumerate(transcript.statements):
        row: dict[str, JSON] = {
            "trial": trial,
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
        rows.append({**row, "seal": seal(list(row.values()))})
    return rows


class StoredDebate(NamedTuple):
    """A debate and the seals of its rows, the verdict's first."""

    debate: Debate
    seals: tuple[str, ...]


def read_debates(
    connection: Connection, trials: Iterable[str], damaged: Damaged = refuse
) -> dict[str, StoredDebate]:
    """Debates by trial, of those that have one; `damaged` hears of altered rows."""
    wanted = tuple(trials)
    debates, statements = table_of(DebateRow), table_of(StatementRow)
    spoken: dict[str, list[_Spoken]] = {}
    query = select(statements).where(statements.c.trial.in_(wanted))
    for row in connection.execute(query.order_by(statements.c.trial, statements.c.position)):
        try:
            spoken.setdefault(row.trial, []).append(_Spoken(_statement(row), row.seal))
        except StoreError as error:
            damaged(error)
    found: dict[str, StoredDebate] = {}
    for row in connection.execute(select(debates).where(debates.c.trial.in_(wanted))):
        try:
            found[row.trial] = _stored(row, spoken.get(row.trial, []))
        except StoreError as error:
            damaged(error)
    return found


def debate_summaries(connection: Connection, trials: Iterable[str]) -> tuple[DebateSummary, ...]:
    """A line per debate of `trials`, in their order."""
    debates, trial_rows = table_of(DebateRow), table_of(TrialRow)
    query = select(
        debates.c.trial,
        trial_rows.c.system,
        trial_rows.c.scenario,
        debates.c.score,
        debates.c.rounds,
        debates.c.agreed,
    ).join(trial_rows, trial_rows.c.id == debates.c.trial)
    lines: list[DebateSummary] = []
    for some in chunks(trials):
        rows = connection.execute(query.where(debates.c.trial.in_(some)))
        found = {row.trial: DebateSummary(*row[:-1], agreed=row.agreed == 1) for row in rows}
        lines.extend(found[trial] for trial in some if trial in found)
    return tuple(lines)


def debated(connection: Connection, campaign: str | None) -> tuple[str, ...]:
    """The trials that anything in the store says have held a debate, whatever is left of them.

    That is their stage, verdict or statements; of a trial without its own row, that a campaign
    has it. In the plan's order; those that no longer are in it come last.
    """
    links, trials = table_of(CampaignTrialRow), table_of(TrialRow)
    stages, debates, statements = table_of(StageRow), table_of(DebateRow), table_of(StatementRow)
    lost = links.outerjoin(trials, trials.c.id == links.c.trial)
    witnesses = union(
        select(stages.c.trial).where(stages.c.stage == "debate"),
        select(debates.c.trial),
        select(statements.c.trial),
        select(links.c.trial).select_from(lost).where(trials.c.id.is_(None)),
    )
    found = set(connection.execute(witnesses).scalars())
    if campaign is None:
        order = trial_ids(connection)
        return (*(t for t in order if t in found), *sorted(found.difference(order)))
    planned = select(links.c.trial).where(links.c.campaign == campaign).order_by(links.c.ordinal)
    return tuple(t for t in connection.execute(planned).scalars() if t in found)


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
    except (TypeError, ValueError):  # what a damaged row can be read as
        pass
    raise StoreError(f"the verdict of trial {row.trial} in the store is not as it was written")


def _statement(row: Row[tuple[object, ...]]) -> Statement:
    try:
        if _sealed(row) == row.seal:
            return Statement(
                role=Role(row.role),
                round=row.round,
                speaker=row.speaker,
                text=row.text,
                score=row.score,
                status=Status(row.status),
                reason=row.reason,
                calls=read_string_list(row.calls),
            )
    except (TypeError, ValueError):  # what a damaged row can be read as
        pass
    raise StoreError(
        f"the statement of the {row.role} in round {row.round} of {row.trial} in the store "
        f"is not as it was written"
    )


def _sealed(row: Row[tuple[object, ...]]) -> str:
    values = row._mapping
    return seal([values[name] for name in values if name not in {"id", "seal"}])
