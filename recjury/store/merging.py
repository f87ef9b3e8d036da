"""Merging stores: the shards of a campaign become one. A second time adds nothing."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from recjury.errors import UserError
from recjury.store import tables
from recjury.store.processes import check_gone
from recjury.store.store import Store
from recjury.store.tables import Row, add_new

_BATCH = 1_000  # rows in one transaction
_FINDINGS: tuple[type[Row], ...] = (tables.Rating, tables.Evidence, tables.Statement)
_RATING = ("metric", "rater", "turn", "status", "score")


class Merged(NamedTuple):
    """How many conversations and evaluations were added.

    `differing` are evaluations that both stores have, with other ratings; those of the first stay.
    """

    conversations: int
    evaluations: int
    differing: tuple[str, ...]


def merge(source: Store, target: Store) -> Merged:
    """Add what `source` has to `target`. What both have stays, and what is done wins.

    Raises UserError if `source` was altered, if a run goes on in it, or if a campaign that both
    have was made of other systems, users or evaluators.
    """
    name = source.database.name
    if problems := source.check():
        raise UserError(f"{name} is not whole: {problems[0]}")
    with source.database.connection() as reading:
        _check_no_run(reading)
        with target.database.connection() as there:
            for campaign in reading.execute(select(tables.Campaign.__table__.c.name)).scalars():
                _check_same(name, campaign, reading, there)
        for table in (tables.Text, tables.Evaluator, tables.Call):
            for rows in _rows(reading, table):
                with target.database.transaction() as writing:
                    add_new(writing, table, rows)
        conversations = _add_conversations(reading, target)
        evaluations, differing = _add_evaluations(reading, target)
        _add_campaigns(reading, target)
    return Merged(conversations, evaluations, tuple(differing))


def _rows(connection: Connection, table: type[Row]) -> Iterator[list[dict[str, Any]]]:
    """All rows of a table, in the order of their keys."""
    own = table.__table__
    found = connection.execute(select(own).order_by(*own.primary_key.columns))
    for batch in found.mappings().partitions(_BATCH):
        yield [dict(row) for row in batch]


def _check_no_run(connection: Connection) -> None:
    """Raise UserError if a run goes on, or may go on elsewhere."""
    run = tables.Run.__table__
    for row in connection.execute(select(run).where(run.c.state == "running")):
        check_gone(row)


def _check_same(name: str, campaign: str, source: Connection, target: Connection) -> None:
    """Raise UserError if a campaign of both has other parts in one of them."""
    theirs, mine = (_parts(each, campaign) for each in (source, target))
    if not mine:
        return
    for part in sorted(theirs.keys() | mine.keys()):
        if theirs.get(part) != mine.get(part):
            raise UserError(
                f"{name} has another {part} in the campaign {campaign}: other code or settings, so "
                "it is no shard of the same campaign"
            )


def _parts(connection: Connection, campaign: str) -> dict[str, str]:
    """The systems, users and evaluators of a campaign's last run, with their identities."""
    plan, rating = tables.Plan.__table__.c, tables.CampaignEvaluator.__table__.c
    rows = [
        *connection.execute(
            select(plan.run, plan.system, plan.version, plan.user, plan.user_version)
            .where(plan.campaign == campaign)
            .distinct()
        )
    ]
    last = max((row.run for row in rows), default=0)
    found: dict[str, str] = {}
    for row in rows:
        if row.run == last:
            found |= {f"system {row.system}": row.version, f"user {row.user}": row.user_version}
    named = select(rating.name, rating.evaluator).where(
        rating.campaign == campaign, rating.run == last
    )
    return found | {f"evaluator {row.name}": row.evaluator for row in connection.execute(named)}


def _add_conversations(source: Connection, target: Store) -> int:
    """Add conversations; one that is done takes the place of one that is not."""
    table, added = tables.Conversation.__table__, 0
    for rows in _rows(source, tables.Conversation):
        done = {row["id"]: row for row in rows if row["state"] != "planned"}
        with target.database.transaction() as writing:
            add_new(writing, tables.Conversation, [{**row, **_PLANNED} for row in rows])
            open_ = select(table.c.id).where(table.c.id.in_(done), table.c.state != "done")
            for id_ in writing.execute(open_).scalars().all():
                writing.execute(update(table).where(table.c.id == id_).values(done[id_]))
                added += done[id_]["state"] == "done"
    return added


_PLANNED = {"state": "planned", "play": "", "log": None, "ending": "", "rounds": 0}


def _add_evaluations(source: Connection, target: Store) -> tuple[int, list[str]]:
    """Add evaluations with their findings; those that differ are named."""
    added, differing = 0, list[str]()
    for rows in _rows(source, tables.Evaluation):
        ids = [row["id"] for row in rows]
        findings = {table: _of(source, table, ids) for table in _FINDINGS}
        with target.database.transaction() as writing:
            there = _states(writing, ids)
            new = [row for row in rows if there.get(row["id"], "") not in ("done", row["state"])]
            _replace(writing, new, findings)
            both = [id_ for id_ in ids if there.get(id_) == "done"]
            own = _of(writing, tables.Rating, both)
            differing += (id_ for id_ in both if _differ(findings[tables.Rating], own, id_))
        added += len(new)
    return added, differing


Found = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows by their evaluation."""


def _of(connection: Connection, table: type[Row], evaluations: Sequence[str]) -> Found:
    own = table.__table__
    query = select(own).where(own.c.evaluation.in_(evaluations)).order_by(own.c.evaluation)
    rows = [dict(row) for row in connection.execute(query).mappings()]
    return {id_: [*of] for id_, of in groupby(rows, lambda row: row["evaluation"])}


def _states(connection: Connection, evaluations: Sequence[str]) -> dict[str, str]:
    own = tables.Evaluation.__table__.c
    query = select(own.id, own.state).where(own.id.in_(evaluations))
    return {row.id: row.state for row in connection.execute(query)}


def _replace(
    writing: Connection, rows: Sequence[Mapping[str, Any]], findings: Mapping[type[Row], Found]
) -> None:
    tables.put(writing, tables.Evaluation, rows)
    for table, found in findings.items():
        own = table.__table__
        for row in rows:
            writing.execute(delete(own).where(own.c.evaluation == row["id"]))
            if new := found.get(row["id"]):
                writing.execute(insert(own), [dict(each) for each in new])


def _differ(theirs: Found, mine: Found, evaluation: str) -> bool:
    first, second = (
        {tuple(row[key] for key in _RATING) for row in found.get(evaluation, ())}
        for found in (theirs, mine)
    )
    return first != second


def _add_campaigns(source: Connection, target: Store) -> None:
    """Add runs, plans and names at the end: what is seen of a campaign is whole."""
    with target.database.transaction() as writing:
        for rows in _rows(source, tables.Campaign):
            add_new(writing, tables.Campaign, rows)
        numbers = {
            row["id"]: _run(writing, row) for rows in _rows(source, tables.Run) for row in rows
        }
        for table in (tables.Plan, tables.CampaignEvaluator):
            for rows in _rows(source, table):
                add_new(writing, table, [{**row, "run": numbers[row["run"]]} for row in rows])


def _run(writing: Connection, row: Mapping[str, Any]) -> int:
    """The number that a run has in the target; one with the same process and time is the same."""
    own = tables.Run.__table__
    keys = ("campaign", "host", "pid", "process_start", "started_at")
    same = select(own.c.id).where(*(own.c[key] == row[key] for key in keys))
    if (number := writing.execute(same).scalar()) is not None:
        return int(number)
    values = {key: value for key, value in row.items() if key != "id"}
    key = writing.execute(insert(own).values(values)).inserted_primary_key
    assert key is not None
    return int(key[0])
