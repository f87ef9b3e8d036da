"""Merge rows that change after they were written: of two versions of one, the later is kept.

So a store is the same in whatever order others are merged into it, and how often.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, and_, delete

from recjury.store.campaigns import CAMPAIGNS, RUNS
from recjury.store.conversations import CONVERSATIONS
from recjury.store.engine import insert_or_replace
from recjury.store.evaluators import CAMPAIGN_EVALUATORS, joined_uses
from recjury.store.places import PLACES, PlanEntry
from recjury.store.sealed import AnyRow, SealedTable
from recjury.store.writer import Transaction

_PLACE = ("campaign", "conversation")
_SHARED = ("scenario", "system", "repeat")

_Name = tuple[Any, ...]


_Rank = Callable[[AnyRow], tuple[Any, ...]]

# By table: what names a row, and which of two rows with one name is kept, the one that ranks above.
_LATEST: dict[str, tuple[_Name, _Rank]] = {
    CAMPAIGNS.table.name: (("id",), lambda row: (-row.created_at, row.seal)),  # its first beginning
    # What a run has learned is written after its beginning, and nothing says when.
    RUNS.table.name: (
        ("campaign", "started_at"),
        lambda row: (row.learned is not None, row.seal),
    ),
    PLACES.table.name: (_PLACE, lambda row: (row.written_at, row.set_aside)),
}


def keep_latest(
    table: SealedTable[Any],
    connection: Connection,
    rows: Sequence[AnyRow],
    transaction: Transaction,
) -> list[AnyRow]:
    """Add rows of another store, in place of those that are earlier; the rows that were added."""
    named, rank = _LATEST[table.table.name]
    here, copies = transaction.connection, table.copies(connection, rows, transaction)
    there = {name: row for name, (row, _) in _there(here, rows, table, named).items()}
    kept = [
        (row, copy, there.get(_name(row, named)))
        for row, copy in zip(rows, copies, strict=True)
        if _name(row, named) not in there or rank(row) > rank(there[_name(row, named)])
    ]
    if table is RUNS:  # whose name is not their primary key
        gone = [old.id for _, _, old in kept if old is not None]
        here.execute(delete(table.table).where(table.c.id.in_(gone)))
    if kept:
        here.execute(insert_or_replace(table.table), [copy for _, copy, _ in kept])
    return [row for row, _, _ in kept]


def merge_uses(connection: Connection, rows: Sequence[AnyRow], transaction: Transaction) -> None:
    """Add how campaigns use evaluators: as the later start did, with the metrics of both."""
    table, here = CAMPAIGN_EVALUATORS, transaction.connection
    copies = table.copies(connection, rows, transaction)
    there = _there(here, rows, table, ("campaign", "evaluator"))
    for copy, (row, use) in zip(copies, table.intact(connection, rows), strict=True):
        _, other = there.get((row.campaign, row.evaluator), (None, None))
        joined = use if other is None else joined_uses(other, use)
        if joined == use != other:
            here.execute(insert_or_replace(table.table), copy)
        elif joined != other:
            table.replace(transaction, [(joined, {"campaign": row.campaign})])


def merge_places(connection: Connection, rows: Sequence[AnyRow], transaction: Transaction) -> None:
    """Add places; if two stores gave one place to different conversations, the later plan counts.

    The other conversation is set aside, as `write_plan` does.
    """
    kept = keep_latest(PLACES, connection, rows, transaction)
    new = {_name(row, _PLACE) for row in kept if not row.set_aside}
    sharing = list(_sharing(transaction.connection, new))
    others = [row for row, _ in sharing if _name(row, _PLACE) not in new]
    # One plan may have several conversations with the same scenario, system and repeat.
    planned = _there(connection, others, PLACES, _PLACE).items()
    together = {name for name, (row, _) in planned if not row.set_aside}
    plans: dict[_Name, tuple[list[Any], list[Any]]] = defaultdict(lambda: ([], []))
    for row, entry in sharing:
        if (name := _name(row, _PLACE)) not in together:
            link = dict(zip(_PLACE, name, strict=True))
            plans[row.campaign, *_name(row, _SHARED)][name in new].append((entry, link))
    for both in filter(all, plans.values()):
        earlier = min(both, key=lambda plan: max(entry.written_at for entry, _ in plan))
        aside = [(entry.model_copy(update={"set_aside": 1}), link) for entry, link in earlier]
        PLACES.replace(transaction, aside)


def _sharing(here: Connection, new: Collection[_Name]) -> Iterator[tuple[AnyRow, PlanEntry]]:
    """The places of a store that those named share with others, themselves included."""
    if not new:
        return
    own, other = CONVERSATIONS.table.alias(), CONVERSATIONS.c
    query = PLACES.select().add_columns(*(other[each] for each in _SHARED))
    query = query.join(CONVERSATIONS.table, other.id == PLACES.c.conversation)
    query = query.join(own, and_(*(own.c[each] == other[each] for each in _SHARED))).distinct()
    campaigns, conversations = map(set, zip(*new, strict=True))
    query = query.where(own.c.id.in_(conversations), PLACES.c.campaign.in_(campaigns))
    rows = here.execute(query.where(PLACES.c.set_aside == 0)).all()
    yield from PLACES.intact(here, rows)


def _there(
    here: Connection, rows: Sequence[AnyRow], table: SealedTable[Any], named: Sequence[str]
) -> dict[_Name, tuple[AnyRow, Any]]:
    """The rows of a store that have the names of rows of another one, with their records."""
    query = table.select()
    for each in named:
        query = query.where(table.c[each].in_({row._mapping[each] for row in rows}))
    found = here.execute(query).all()
    return {_name(row, named): (row, record) for row, record in table.intact(here, found)}


def _name(row: AnyRow, columns: Sequence[str]) -> _Name:
    return tuple(row._mapping[each] for each in columns)
