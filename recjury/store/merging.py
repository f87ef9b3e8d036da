"""Add what stores have to another one, by identity: each page of rows in one transaction.

Rows are copied as they are, with the numbers that their texts have in the other store: a row's seal
covers the hashes of its texts, and not their numbers. Calls, whose seals do, are sealed again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, func, select, tuple_

from recjury.errors import StoreError
from recjury.records import CallRecord
from recjury.store.calls import CALLS, CallReader, CallValues
from recjury.store.campaigns import CAMPAIGNS, RUNS
from recjury.store.changing import keep_latest, merge_places, merge_uses
from recjury.store.column_types import as_stored
from recjury.store.conversations import CONVERSATIONS
from recjury.store.engine import insert_new
from recjury.store.evaluations import EVALUATIONS
from recjury.store.evaluators import CAMPAIGN_EVALUATORS, EVALUATORS
from recjury.store.failures import FAILURES
from recjury.store.kept_counts import forget_counts
from recjury.store.logs import LOGS, read_logs
from recjury.store.measurements import MEASUREMENTS
from recjury.store.mergeable import check_mergeable, mark, opened_source, opened_target
from recjury.store.places import PLACES
from recjury.store.recorder import StoreRecorder
from recjury.store.schema import read_secret
from recjury.store.sealed import AnyRow, SealedTable, refuse_keys
from recjury.store.stage_results import (
    DEBATES,
    EVIDENCE,
    OUTPUTS,
    RATINGS,
    STATEMENTS,
    read_stage_results,
)
from recjury.store.stages import CONVERSE
from recjury.store.store import Store
from recjury.store.summaries import SUMMARIES, without_summary
from recjury.store.tables import StageRow, table_of
from recjury.store.texts import chunks, texts_of_ids
from recjury.store.verification import VerifiedStore
from recjury.store.writer import Transaction

_PAGE = 500
_NAMED = 5  # of what differs in the results of a stage


class Merged(NamedTuple):
    """What was added; `conflicts` are things of which two stores have different results."""

    conversations: int = 0
    evaluations: int = 0
    calls: int = 0
    conflicts: tuple[str, ...] = ()

    def plus(self, other: "Merged") -> "Merged":
        """Both together."""
        return Merged(
            self.conversations + other.conversations,
            self.evaluations + other.evaluations,
            self.calls + other.calls,
            self.conflicts + other.conflicts,
        )


def merge_stores(sources: Sequence[str], into: str) -> Merged:
    """Add the content of `sources` (URLs or paths) to the store `into`, made if it is missing.

    What it has already is not added again; of two different results, the first stays. What changes
    (plans, and what evaluators are asked for) is as the later run left it. Raises StoreError for
    stores of different campaigns or code and one whose campaign is running, before anything is
    written, and for an altered row and one with a key of this machine. Then a store that had
    results has more of them, and a new one is incomplete: it cannot be opened until a merge into it
    has ended well.
    """
    total = Merged()
    with opened_target(into) as (target, is_begun):
        is_new = not target.exists or target.read(_is_empty)
        secret = check_mergeable(sources, target, is_new=is_new)
        if is_new:
            if not is_begun:
                target.create()
            mark(target, secret, is_whole=False)
        for source in sources:
            with opened_source(source) as other:
                total = total.plus(_Merge(other, target).run())
        target.count()
        if is_new or is_begun:
            mark(target, target.read(read_secret), is_whole=True)
    return total


def copy_store(source: str, into: str) -> VerifiedStore:
    """Copy a store (URL or path) to a place where there is none, or an empty one, and verify it.

    Raises StoreError as `merge_stores`, if something is there already, and if the copy does not
    have all rows as they were written.
    """
    with Store.open(source, read_only=True) as original, Store.at(into) as copy:
        if copy.exists and not copy.read(_is_empty):
            raise StoreError(
                f"{copy.location} has results already: copy to an empty place, or add to it with "
                "`recjury store merge`"
            )
        merged = merge_stores([source], into)
        found = copy.verify()
        wrong = found.problems or merged.conflicts
        if not wrong and copy.read(_sizes) != original.read(_sizes):
            wrong = ("it has other numbers of rows",)
        if wrong:
            mark(copy, copy.read(read_secret), is_whole=False)
    if wrong:
        raise StoreError(
            f"the copy in {copy.location} differs from {original.location}: {wrong[0]}"
        )
    return found


def _sizes(connection: Connection) -> list[int]:
    tables = (CALLS, table_of(StageRow), *(each.table for each in SealedTable.every()))
    queries = (select(func.count()).select_from(table) for table in tables)
    return [connection.execute(query).scalar_one() for query in queries]


def _is_empty(connection: Connection) -> bool:
    return not any(_sizes(connection))


class _Merge:
    """Adds one store to another."""

    def __init__(self, source: Store, target: Store):
        self._source, self._target = source, target
        self._recorder: StoreRecorder = target.recorder()
        self._counts = dict.fromkeys(("conversations", "evaluations", "calls"), 0)
        self._conflicts: dict[tuple[str, str], set[str]] = {}

    def run(self) -> Merged:
        """Add everything; what is counted has to be counted again."""
        self._target.write(forget_counts)
        self._pages(CAMPAIGNS.table, partial(keep_latest, CAMPAIGNS))
        self._pages(RUNS.table, partial(keep_latest, RUNS))
        for table in (EVALUATORS, CONVERSATIONS):
            self._pages(table.table, self._sealed(table))
        self._pages(CAMPAIGN_EVALUATORS.table, merge_uses)
        self._pages(PLACES.table, merge_places)
        self._pages(LOGS.table, self._logs)
        self._pages(EVALUATIONS.table, self._evaluations)
        self._pages(FAILURES.table, self._once(FAILURES, "unit"))
        self._pages(MEASUREMENTS.table, self._once(MEASUREMENTS, "kind"))
        self._pages(CALLS, self._calls)
        return Merged(**self._counts, conflicts=tuple(self._listed()))

    def _pages(self, table: Table, add: "_Add") -> None:
        """Give the rows of a table to `add`, some at a time, in the order of their primary key."""
        key = tuple(table.primary_key)
        query = select(*as_stored(table)).order_by(*key).limit(_PAGE)
        page = query
        while True:
            with self._source.reading() as connection:
                rows = connection.execute(page).all()
                if not rows:
                    return
                self._target.write(partial(add, connection, rows))
            page = query.where(tuple_(*key) > tuple(rows[-1]._mapping[each.name] for each in key))

    def _sealed(self, table: SealedTable[Any]) -> "_Add":
        def add(connection: Connection, rows: Sequence[AnyRow], transaction: Transaction) -> None:
            values = table.copies(connection, rows, transaction)
            transaction.connection.execute(insert_new(table.table), values)

        return add

    def _once(self, table: SealedTable[Any], column: str) -> "_Add":
        """Rows without an identity of their own: equal ones are the same."""

        def add(connection: Connection, rows: Sequence[AnyRow], transaction: Transaction) -> None:
            own = table.c[column]
            keys = {row._mapping[column] for row in rows}
            query = select(own, table.c.seal).where(own.in_(keys))
            there = {tuple(row) for row in transaction.connection.execute(query)}
            new = [row for row in rows if (row._mapping[column], row.seal) not in there]
            if new:
                values = table.copies(connection, new, transaction)
                transaction.connection.execute(table.table.insert(), values)

        return add

    def _logs(
        self, connection: Connection, rows: Sequence[AnyRow], transaction: Transaction
    ) -> None:
        digests = {row.conversation: row.digest for row in rows}
        read_logs(connection, tuple(digests))  # compares rows and stages with their seals
        query = select(LOGS.c.conversation, LOGS.c.digest)
        query = query.where(LOGS.c.conversation.in_(digests))
        there = {row.conversation: row.digest for row in transaction.connection.execute(query)}
        for each, digest in there.items():
            if digest != digests[each]:
                self._conflict("conversation", each)
        new = [each for each in digests if each not in there]
        self._counts["conversations"] += len(new)
        self._stages(connection, transaction, [(each, CONVERSE) for each in new], [LOGS])

    def _evaluations(
        self, connection: Connection, rows: Sequence[AnyRow], transaction: Transaction
    ) -> set[str]:
        """Add evaluations; the ids of those that are not in conflict."""
        here, same = transaction.connection, set[str | None]((None,))
        if originals := {row.fork_of for row in rows} - {None}:  # before their forks
            query = select(*as_stored(EVALUATIONS.table)).where(EVALUATIONS.c.id.in_(originals))
            same |= self._evaluations(connection, connection.execute(query).all(), transaction)
        query = select(LOGS.c.digest).where(LOGS.c.digest.in_({row.log for row in rows}))
        known = set(here.execute(query).scalars())
        # The log of a conversation that is in conflict is not there, nor what judged it.
        own = [row for row in rows if row.log in known and row.fork_of in same]
        ids = [row.id for row in own]
        if not ids:
            return set()
        read_stage_results(connection, ids)  # compares rows and stages with their seals
        values = EVALUATIONS.copies(connection, own, transaction)
        query = select(func.count()).where(EVALUATIONS.c.id.in_(ids))
        self._counts["evaluations"] += len(ids) - here.execute(query).scalar_one()
        here.execute(insert_new(EVALUATIONS.table), values)
        there, mine = _stages_of(here, ids), _stages_of(connection, ids)
        unlike = [place for place in mine if there.get(place, mine[place]) != mine[place]]
        for each, stage in unlike:
            what = _differing(mine[each, stage], there[each, stage])
            self._conflict(f"stage {stage} of evaluation", each, what)
        kept = set(ids) - {each for each, _ in unlike}  # later stages use the earlier ones
        new = [place for place in mine if place not in there and place[0] in kept]
        self._stages(connection, transaction, new, _RESULTS)
        return kept

    def _stages(
        self,
        connection: Connection,
        transaction: Transaction,
        new: Sequence[tuple[str, str]],
        tables: Sequence[SealedTable[Any]],
    ) -> None:
        """Copy finished stages, by unit and stage, with their summaries and rows."""
        units, wanted = list(dict.fromkeys(unit for unit, _ in new)), set(new)
        stages = table_of(StageRow)
        rows = _of_units(connection, stages, units)
        values = [dict(row._mapping) for row in rows if (row.unit, row.stage) in wanted]
        if values:
            transaction.connection.execute(insert_new(stages), values)
        for table in (SUMMARIES, *tables):
            rows = _of_units(connection, table.table, units)
            if kept := [row for row in rows if _place(table, row) in wanted]:
                copies = table.copies(connection, kept, transaction)
                transaction.connection.execute(insert_new(table.table), copies)
            if table is SUMMARIES:
                own = {(*_place(table, row), row.stage_seal) for row in kept}
                for unit, stage, _ in own ^ {(v["unit"], v["stage"], v["seal"]) for v in values}:
                    raise without_summary(unit, stage)

    def _calls(
        self, connection: Connection, rows: Sequence[AnyRow], transaction: Transaction
    ) -> None:
        reader, here = CallReader.over(connection), CallReader.over(transaction.connection)
        calls = [reader.call(row.identity) for row in rows]
        texts = {row.identity: CallValues._make(row[1:]).text_ids() for row in rows}
        plain = texts_of_ids(connection, chain.from_iterable(texts.values()))
        for row in rows:
            own = (plain[number] for number in texts[row.identity])
            refuse_keys(f"call {row.identity} in the store", (*row, *own))
        known = select(CALLS.c.identity).where(CALLS.c.identity.in_([c.identity for c in calls]))
        there = set(transaction.connection.execute(known).scalars())
        for each in calls:
            if each.identity in there and _said(here.call(each.identity)) != _said(each):
                self._conflict("the reply of call", each.identity)
        new = [each for each in calls if each.identity not in there]
        self._recorder.write(transaction, new)
        self._counts["calls"] += len(new)

    def _conflict(self, kind: str, one: str, what: str = "one") -> None:
        self._conflicts.setdefault((kind, what), set()).add(one)

    def _listed(self) -> Iterator[str]:
        """Conflicts, a line for all that differ in the same."""
        for (kind, what), ids in self._conflicts.items():
            others = f" and {len(ids) - 1:,} others" if len(ids) > 1 else ""
            yield f"{kind} {min(ids)}{others}: {self._source.location} has another {what}"


_Add = Callable[[Connection, Sequence[AnyRow], Transaction], object]
_Seals = dict[str, list[str]]
_RESULTS = (OUTPUTS, RATINGS, EVIDENCE, DEBATES, STATEMENTS)


def _said(call: CallRecord) -> tuple[object, ...]:
    return call.reply.text, call.reply.further


def _differing(mine: _Seals, theirs: _Seals) -> str:
    """What of two results of one stage differs, such as the metrics whose ratings do."""
    every = sorted(mine.keys() | theirs.keys())
    found = [each for each in every if mine.get(each) != theirs.get(each)]
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return ", ".join(found[:_NAMED]) + more


def _place(table: SealedTable[Any], row: AnyRow) -> tuple[str, str]:
    """The unit and the stage that a row belongs to."""
    if table is LOGS:
        return row.conversation, CONVERSE
    if table is SUMMARIES:
        return row.unit, row.stage
    return row.evaluation, "debate" if table in (DEBATES, STATEMENTS) else row.stage


def _of_units(connection: Connection, table: Table, units: Iterable[str]) -> list[AnyRow]:
    column = next(
        table.c[each] for each in ("unit", "conversation", "evaluation") if each in table.c
    )
    query = select(*as_stored(table))
    return [
        row
        for some in chunks(units)
        for row in connection.execute(query.where(column.in_(some)).order_by(*table.primary_key))
    ]


def _stages_of(connection: Connection, evaluations: Sequence[str]) -> dict[tuple[str, str], _Seals]:
    """The finished stages of evaluations, each with the seals of its results, by factor or kind."""
    stages = table_of(StageRow)
    rows = _of_units(connection, stages, evaluations)
    found: dict[tuple[str, str], _Seals] = {(row.unit, row.stage): {} for row in rows}
    for table in _RESULTS:
        for row in _of_units(connection, table.table, evaluations):
            name = row.factor if table is RATINGS else table.table.name
            found.setdefault(_place(table, row), {}).setdefault(name, []).append(row.seal)
    return found
