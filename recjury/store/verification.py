"""Everything in a store, compared with its seals and hashes."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, func, select

from recjury.errors import StoreError
from recjury.store.call_counts import call_identities
from recjury.store.calls import CallReader
from recjury.store.column_types import WrongTypeError, as_stored
from recjury.store.conversations import CONVERSATIONS
from recjury.store.evaluations import EVALUATIONS
from recjury.store.failures import FAILURES
from recjury.store.kept_counts import check_counts
from recjury.store.location import StoreLocation
from recjury.store.logs import LOGS, read_logs
from recjury.store.places import PLACES
from recjury.store.schema import check_schema
from recjury.store.sealed import Damaged, SealedTable, as_written
from recjury.store.stage_results import read_stage_results
from recjury.store.stages import CONVERSE
from recjury.store.summaries import check_summaries
from recjury.store.tables import TextRow, table_of
from recjury.store.texts import chunks, unpack

_ROWS = 500  # that are read at once


class VerifiedStore(NamedTuple):
    """How many rows a store has, and what is wrong with them: one line for each problem."""

    rows: int
    problems: tuple[str, ...]


def verify_store(connection: Connection, location: StoreLocation) -> VerifiedStore:
    """Read all rows of a store, and compare them with their seals and hashes.

    Stages and plans that have lost rows are found, too. Raises StoreError for a store without any
    rows.
    """
    check_schema(connection)
    problems = location.problems(connection)
    rows = 0

    def damaged(error: StoreError) -> None:
        problems.append(str(error))

    try:
        rows = sum(_checked(connection, damaged))
    except WrongTypeError as error:
        problems.append(str(error))
    if not rows and not problems:
        raise StoreError("the store is empty: there is nothing to verify")
    return VerifiedStore(rows, tuple(dict.fromkeys(problems)))


def _checked(connection: Connection, damaged: Damaged) -> Iterator[int]:
    """Check everything; numbers of rows that were checked."""
    yield _check_texts(connection, damaged)
    check_summaries(connection, damaged)
    check_counts(connection, damaged)
    for table in SealedTable.every():
        for some in _parts(connection, table.table):
            for _ in table.intact(connection, some, damaged):
                pass
            yield len(some)
    calls = CallReader.over(connection)
    for call in call_identities(connection):
        try:
            calls.call(call)
        except StoreError as error:
            damaged(error)
        yield 1
    _check_plans(connection, damaged)
    for some in chunks(_ids(connection, CONVERSATIONS)):
        read_logs(connection, some, damaged)
    for some in chunks(_ids(connection, EVALUATIONS)):
        read_stage_results(connection, some, damaged)


def _check_texts(connection: Connection, damaged: Damaged) -> int:
    number = 0
    for some in _parts(connection, table_of(TextRow)):
        for row in some:
            try:
                with as_written(f"row {row.id} of table text in the store"):
                    unpack(row.body, row.size, bytes.fromhex(row.hash))
            except StoreError as error:
                damaged(error)
        number += len(some)
    return number


def _check_plans(connection: Connection, damaged: Damaged) -> None:
    """Whether each conversation that was begun is in a plan."""
    failed = select(FAILURES.c.unit).where(FAILURES.c.stage == CONVERSE)
    begun = select(LOGS.c.conversation).union(failed).subquery()
    own, place = begun.c.conversation, PLACES.c.conversation
    both = begun.outerjoin(PLACES.table, place == own)
    query = select(func.count(), func.min(own)).select_from(both).where(place.is_(None))
    number, first = connection.execute(query).one()
    if number:
        damaged(
            StoreError(
                f"conversation {first} was begun, and is in no campaign's plan ({number:,} in "
                "all): run its campaign again, which plans it"
            )
        )


def _parts(connection: Connection, table: Table) -> Iterable[Any]:
    """All rows of a table, some at a time."""
    query = select(*as_stored(table)).execution_options(yield_per=_ROWS)
    return connection.execute(query).partitions()


def _ids(connection: Connection, table: SealedTable[Any]) -> tuple[str, ...]:
    return tuple(connection.execute(select(table.c.id)).scalars())
