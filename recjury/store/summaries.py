"""Summaries of finished stages: what tables add up, without the texts.

A summary is written in the transaction of its stage, and sealed together with the stage's own seal.
So tables of many conversations are made without reading logs, rationales and debates. Every summary
can be made again from the rows (`remake_summaries`); a stage without one, which an earlier version
wrote, is read from its rows.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Column, Connection, Table, and_, inspect, null, select
from sqlmodel import SQLModel

from recjury.records import (
    ConversationLog,
    Ending,
    Level,
    Rating,
    Role,
    StageResult,
    Status,
)
from recjury.safe_text import without_keys
from recjury.store.column_types import Hex, PlainText, as_stored
from recjury.store.engine import insert_new
from recjury.store.sealed import Damaged, canonical_json, changed, seal
from recjury.store.tables import StageRow, table_of
from recjury.store.texts import chunks

SUMMARIES = Table(
    "summary",
    SQLModel.metadata,
    Column("unit", PlainText, primary_key=True),
    Column("stage", PlainText, primary_key=True),
    Column("body", PlainText, nullable=False),
    Column("seal", Hex, nullable=False),
    sqlite_with_rowid=False,
)


class DebateScore(NamedTuple):
    """Who said something in a debate, in which round (from 1), and the score that was given."""

    role: Role
    round: int
    speaker: str
    score: float | None


class LogSummary(NamedTuple):
    """What tables show of a conversation; the fields are those of `ConversationResult`.

    `acts` counts the declared acts that were dropped, and those that differ from the words.
    """

    log: str
    system: str
    scenario: str
    corpus: str
    pair: str
    target_seen: bool
    ending: Ending
    rounds: int
    has_list: bool
    items_linked: bool
    person: str
    acts: tuple[int, int]


class StageSummary(NamedTuple):
    """The ratings of a stage of an evaluation, without rationales, rubrics and calls; and who spoke
    in its debate."""

    ratings: tuple[Rating, ...] = ()
    said: tuple[DebateScore, ...] = ()


def summary_of_log(digest: str, log: ConversationLog) -> LogSummary:
    """The summary of a log with this id."""
    return LogSummary(
        log=digest,
        system=log.system,
        scenario=log.scenario.id,
        corpus=log.scenario.corpus,
        pair=log.scenario.pair_id,
        target_seen=log.scenario.target_seen,
        ending=log.ending,
        rounds=len(log.system_turns),
        has_list=any(turn.items for turn in log.system_turns),
        items_linked=log.items_linked,
        person="" if log.person is None else log.person.described,
        acts=(log.acts_dropped, log.acts_differing),
    )


def body_of_stage(result: StageResult) -> list[object]:
    """What is stored of a stage's result."""
    debate = result.debate
    said = () if debate is None else debate.transcript.statements
    return [
        [
            (
                *(each.evaluator, each.factor, each.score, each.status, each.reason),
                *(
                    each.level,
                    each.turn,
                    float(each.low),
                    None if each.high is None else float(each.high),
                ),
            )
            for each in result.ratings
        ],
        [[each.role, each.round, each.speaker, each.score] for each in said],
    ]


def write_summary(
    connection: Connection, unit: str, stage: str, body: object, stage_seal: str
) -> None:
    """Store the summary of a stage that has just been finished."""
    text = without_keys(canonical_json(body))
    row = {"unit": unit, "stage": stage, "body": text, "seal": _seal(unit, stage, text, stage_seal)}
    connection.execute(insert_new(SUMMARIES), row)


def _seal(unit: str, stage: str, body: str, stage_seal: str | None) -> str:
    return seal([str(unit), str(stage), str(body), stage_seal])


def read_summaries(
    connection: Connection, units: Iterable[str]
) -> dict[str, dict[str, list[Any] | None]]:
    """The finished stages of each unit that has any, with what `write_summary` was given.

    A stage without a summary has None. Raises StoreError for an altered summary, and for one of
    another stage than that in the store.
    """
    unit, stage, _, stage_seal = as_stored(table_of(StageRow))
    query = select(unit, stage, stage_seal, null(), null())
    if inspect(connection).has_table(SUMMARIES.name):
        stages, own = table_of(StageRow).c, SUMMARIES.c
        same = and_(own.unit == stages.unit, own.stage == stages.stage)
        columns = (unit, stage, stage_seal, *as_stored(SUMMARIES)[2:])
        query = select(*columns).select_from(table_of(StageRow).outerjoin(SUMMARIES, same))
    found: dict[str, dict[str, list[Any] | None]] = {}
    for some in chunks(units):
        rows = connection.execute(query.where(table_of(StageRow).c.unit.in_(some))).all()
        for name, part, sealed, body, own_seal in sorted(rows, key=_place):
            bodies = found.setdefault(name, {})
            if body is None:
                bodies[part] = None
            elif isinstance(body, str) and own_seal == _seal(name, part, body, sealed):
                bodies[part] = orjson.loads(body)
            else:
                raise changed(f"the summary of stage {part} of {name} in the store")
    return found


def check_summaries(connection: Connection, damaged: Damaged) -> int:
    """Compare all summaries with their seals and stages; how many there are.

    `damaged` is called for each that was altered, or whose stage is not there.
    """
    stages, own = table_of(StageRow), SUMMARIES.c
    same = and_(own.unit == stages.c.unit, own.stage == stages.c.stage)
    columns = (*as_stored(SUMMARIES), as_stored(stages)[-1].label("stage_seal"))
    query = select(*columns).select_from(SUMMARIES.outerjoin(stages, same))
    number = 0
    for row in connection.execute(query.execution_options(yield_per=1_000)):
        number += 1
        if row.seal != _seal(row.unit, row.stage, row.body, row.stage_seal):
            damaged(changed(f"the summary of stage {row.stage} of {row.unit} in the store"))
    return number


def _place(row: Any) -> tuple[str, str]:
    return row[0], row[1]


def log_summary(body: Sequence[Any]) -> LogSummary:
    """A conversation's summary, as it is stored."""
    values = dict(zip(LogSummary._fields, body, strict=True))
    dropped, differing = values.pop("acts")
    ending = Ending(values.pop("ending"))
    return LogSummary(**values, ending=ending, acts=(dropped, differing))


def stage_summary(body: Sequence[Any]) -> StageSummary:
    """A stage's summary, as it is stored."""
    ratings, said = body
    return StageSummary(
        tuple([_rating(*each) for each in ratings]),
        tuple([_said(*each) for each in said]),
    )


def rated(result: StageResult) -> StageSummary:
    """As `stage_summary`, for a stage that has none."""
    return stage_summary(body_of_stage(result))


@lru_cache(maxsize=10_000)
def _said(role: str, number: int, speaker: str, score: float | None) -> DebateScore:
    return DebateScore(Role(role), number, speaker, score)


# Records are immutable, and most ratings of a campaign are alike: 13 of 20,000 conversations are
# some hundred different ones.
@lru_cache(maxsize=10_000)
def _rating(
    evaluator: str,
    factor: str,
    score: float | None,
    status: str,
    reason: str,
    level: str,
    turn: int | None,
    low: float,
    high: float | None,
) -> Rating:
    return Rating(
        evaluator=evaluator,
        factor=factor,
        score=score,
        status=Status(status),
        reason=reason,
        level=Level(level),
        turn=turn,
        low=low,
        high=high,
    )
