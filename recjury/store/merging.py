"""Add what stores have to another one, by identity: each page of rows in one transaction.

Rows are copied as they are, with the numbers that their texts have in the other store: a row's seal
covers the hashes of its texts, and not their numbers. Calls, whose seals do, are sealed again.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, func, select

from recjury.errors import StoreError
from recjury.store.calls import CALLS, CallReader
from recjury.store.campaigns import CAMPAIGNS, RUNS, Campaign
from recjury.store.column_types import as_stored
from recjury.store.conversations import CONVERSATIONS
from recjury.store.engine import insert_new
from recjury.store.evaluations import EVALUATIONS
from recjury.store.evaluators import CAMPAIGN_EVALUATORS, EVALUATORS
from recjury.store.failures import FAILURES
from recjury.store.logs import LOGS, read_logs
from recjury.store.measurements import MEASUREMENTS
from recjury.store.places import PLACES
from recjury.store.recorder import StoreRecorder
from recjury.store.schema import change_secret, read_secret
from recjury.store.sealed import AnyRow, SealedTable
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
from recjury.store.summaries import SUMMARIES
from recjury.store.tables import StageRow, table_of
from recjury.store.texts import chunks
from recjury.store.url import location_of
from recjury.store.verification import VerifiedStore
from recjury.store.writer import Transaction

_PAGE = 500


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

    What it has already is not added again; of two different results, the first stays. Raises
    StoreError for stores of different campaigns or code and one whose campaign is running, before
    anything is written, and for an altered row. Then a store that had results has more of them, and
    a new one is incomplete: it cannot be opened.
    """
    total = Merged()
    with Store.at(into) as target:
        is_new = not target.exists or target.read(_is_empty)
        secret = _check(sources, target, is_new=is_new)
        if is_new:
            target.create()
            _mark(target, secret, is_whole=False)
        for source in sources:
            with _opened(source) as other:
                total = total.plus(_Merge(other, target).run())
        if is_new:
            _mark(target, secret, is_whole=True)
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
            _mark(copy, copy.read(read_secret), is_whole=False)
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


@contextlib.contextmanager
def _opened(source: str) -> Iterator[Store]:
    """A store to read. Errors, also those of the block, say which store they are about."""
    try:
        with Store.open(source, read_only=True) as store:
            yield store
    except StoreError as error:
        place, said = str(location_of(source)), str(error)
        raise StoreError(said if place in said else f"{place}: {said}") from error


def _mark(store: Store, secret: bytes, *, is_whole: bool) -> None:
    store.write(lambda write: change_secret(write.connection, secret, is_whole=is_whole))


def _check(sources: Sequence[str], target: Store, *, is_new: bool) -> bytes:
    """Raise StoreError unless all of them can be added; the secret of the first."""
    known = {} if is_new else _campaigns(target)
    secrets: list[bytes] = []
    for each in sources:
        with _opened(each) as source:
            _check_idle(source, target)
            known |= _check_alike(source, known)
            secrets.append(source.read(read_secret))
    return secrets[0]


def _campaigns(store: Store) -> dict[str, tuple[Store, Campaign]]:
    return {each.id: (store, each) for each in store.campaigns()}


def _check_idle(source: Store, target: Store) -> None:
    if source.location.full_name == target.location.full_name:
        raise StoreError(f"{source.location} cannot be merged into itself: name another store")
    for each in source.campaigns():
        if source.running(each.id).is_running:
            raise StoreError(
                f"campaign {each.id} is running in {source.location}: wait until it ends"
            )


def _check_alike(
    source: Store, known: dict[str, tuple[Store, Campaign]]
) -> dict[str, tuple[Store, Campaign]]:
    """Those of its campaigns that are not known yet. Raises StoreError if it is no shard."""
    found = _campaigns(source)
    if found and known and not found.keys() & known.keys():
        (other, _), *_ = known.values()
        raise StoreError(
            f"{source.location} and {other.location} have no campaign in common: another seed, or "
            "other settings of its file, make another campaign"
        )
    for each in sorted(found.keys() & known.keys()):
        (other, theirs), mine = known[each], found[each][1].setup
        own = f"campaign {each} of {source.location} ran with"
        if mine.own_code != theirs.setup.own_code:
            raise StoreError(
                f"{own} {mine.own_code}, and that of {other.location} with "
                f"{theirs.setup.own_code}: run one of them again with the code of the other, which "
                "keeps what is there"
            )
        for name in ("packs", "data"):
            if getattr(mine, name) != getattr(theirs.setup, name):
                raise StoreError(f"{own} other {name} than that of {other.location}")
    return {each: found[each] for each in found.keys() - known.keys()}


class _Merge:
    """Adds one store to another."""

    def __init__(self, source: Store, target: Store):
        self._source, self._target = source, target
        self._recorder: StoreRecorder = target.recorder()
        self._counts = dict.fromkeys(("conversations", "evaluations", "calls"), 0)
        self._conflicts: list[str] = []

    def run(self) -> Merged:
        """Add everything."""
        self._pages(CAMPAIGNS.table, CAMPAIGNS.c.id, self._sealed(CAMPAIGNS))
        self._pages(RUNS.table, RUNS.c.id, self._once(RUNS, "campaign"))
        for table in (EVALUATORS, CONVERSATIONS):
            self._pages(table.table, table.c.id, self._sealed(table))
        self._pages(CAMPAIGN_EVALUATORS.table, None, self._sealed(CAMPAIGN_EVALUATORS))
        self._pages(PLACES.table, None, self._sealed(PLACES))
        self._pages(LOGS.table, LOGS.c.conversation, self._logs)
        for are_forks in (False, True):  # a fork refers to the evaluation before it
            self._pages(EVALUATIONS.table, EVALUATIONS.c.id, self._evaluations(are_forks=are_forks))
        self._pages(FAILURES.table, FAILURES.c.id, self._once(FAILURES, "unit"))
        self._pages(MEASUREMENTS.table, MEASUREMENTS.c.id, self._once(MEASUREMENTS, "kind"))
        self._pages(CALLS, CALLS.c.id, self._calls)
        return Merged(**self._counts, conflicts=tuple(self._conflicts))

    def _pages(self, table: Table, key: Any, add: "_Add") -> None:
        """Give the rows of a table to `add`, some at a time, in the order of `key` or at once."""
        last: Any = None
        while True:
            with self._source.reading() as connection:
                query = select(*as_stored(table))
                if key is not None:
                    query = query.order_by(key).limit(_PAGE)
                    query = query if last is None else query.where(key > last)
                rows = connection.execute(query).all()
                if not rows:
                    return
                self._target.write(partial(_with, add, connection, rows))
            if key is None:
                return
            last = rows[-1]._mapping[key.name]

    def _sealed(self, table: SealedTable[Any]) -> "_Add":
        def add(connection: Connection, transaction: Transaction, rows: Sequence[AnyRow]) -> None:
            values = table.copies(connection, rows, transaction)
            transaction.connection.execute(insert_new(table.table), values)

        return add

    def _once(self, table: SealedTable[Any], column: str) -> "_Add":
        """Rows without an identity of their own: equal ones are the same."""

        def add(connection: Connection, transaction: Transaction, rows: Sequence[AnyRow]) -> None:
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
        self, connection: Connection, transaction: Transaction, rows: Sequence[AnyRow]
    ) -> None:
        digests = {row.conversation: row.digest for row in rows}
        read_logs(connection, tuple(digests))  # compares rows and stages with their seals
        query = select(LOGS.c.conversation, LOGS.c.digest)
        query = query.where(LOGS.c.conversation.in_(digests))
        there = {row.conversation: row.digest for row in transaction.connection.execute(query)}
        for each, digest in there.items():
            if digest != digests[each]:
                self._conflict(f"conversation {each}")
        new = [each for each in digests if each not in there]
        self._counts["conversations"] += len(new)
        self._stages(connection, transaction, [(each, CONVERSE) for each in new], [LOGS])

    def _evaluations(self, *, are_forks: bool) -> "_Add":
        def add(connection: Connection, transaction: Transaction, rows: Sequence[AnyRow]) -> None:
            here = transaction.connection
            query = select(LOGS.c.digest).where(LOGS.c.digest.in_({row.log for row in rows}))
            known = set(here.execute(query).scalars())
            # The log of a conversation that is in conflict is not there, nor what judged it.
            own = [r for r in rows if (r.fork_of is not None) == are_forks and r.log in known]
            ids = [row.id for row in own]
            if not ids:
                return
            read_stage_results(connection, ids)  # compares rows and stages with their seals
            values = EVALUATIONS.copies(connection, own, transaction)
            added = here.execute(insert_new(EVALUATIONS.table), values).rowcount
            self._counts["evaluations"] += max(added, 0)
            there, mine = _stages_of(here, ids), _stages_of(connection, ids)
            for place in mine.keys() & there.keys():
                if mine[place] != there[place]:
                    self._conflict(f"stage {place[1]} of evaluation {place[0]}")
            new = [place for place in mine if place not in there]
            self._stages(connection, transaction, new, _RESULTS)

        return add

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

    def _calls(
        self, connection: Connection, transaction: Transaction, rows: Sequence[AnyRow]
    ) -> None:
        reader, here = CallReader.over(connection), CallReader.over(transaction.connection)
        calls = [reader.call(row.identity) for row in rows]
        known = select(CALLS.c.identity).where(CALLS.c.identity.in_([c.identity for c in calls]))
        there = set(transaction.connection.execute(known).scalars())
        for each in calls:
            if each.identity in there and here.call(each.identity).reply.text != each.reply.text:
                self._conflict(f"the reply of call {each.identity}")
        new = [each for each in calls if each.identity not in there]
        self._recorder.write(transaction, new)
        self._counts["calls"] += len(new)

    def _conflict(self, what: str) -> None:
        self._conflicts.append(f"{what}: {self._source.location} has another one")


_Add = Callable[[Connection, Transaction, Sequence[AnyRow]], None]
_RESULTS = (OUTPUTS, RATINGS, EVIDENCE, DEBATES, STATEMENTS)


def _with(
    add: _Add, connection: Connection, rows: Sequence[AnyRow], transaction: Transaction
) -> None:
    add(connection, transaction, rows)


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


def _stages_of(
    connection: Connection, evaluations: Sequence[str]
) -> dict[tuple[str, str], list[str]]:
    """The finished stages of evaluations, each with the seals of its results."""
    stages = table_of(StageRow)
    rows = _of_units(connection, stages, evaluations)
    found: dict[tuple[str, str], list[str]] = {(row.unit, row.stage): [] for row in rows}
    for table in _RESULTS:
        for row in _of_units(connection, table.table, evaluations):
            found.setdefault(_place(table, row), []).append(row.seal)
    return found
