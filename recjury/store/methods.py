"""Functions that read or write, as methods of a store."""

import functools
from collections.abc import Callable, Coroutine, Sequence
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

from sqlalchemy import Connection

from recjury.store.kept_counts import counting
from recjury.store.running import Access
from recjury.store.writer import Transaction

A = TypeVar("A")
P = ParamSpec("P")
T = TypeVar("T")


class Queued(NamedTuple):
    """What waits for a transaction, and the units of which it writes results."""

    write: Callable[[Transaction], object]
    results_of: Sequence[object]


def write_queued(transaction: Transaction, queued: Sequence[Queued]) -> None:
    """Write what shares a transaction, and keep the counts."""
    with counting(transaction, [one for each in queued for one in each.results_of]):
        for each in queued:
            each.write(transaction)


def reads(read: Callable[Concatenate[Connection, P], T]) -> Callable[Concatenate[Access, P], T]:
    """A function that reads, as a method of the store: it gets a connection of its own."""

    @functools.wraps(read)
    def method(store: Access, /, *args: P.args, **options: P.kwargs) -> T:
        return store.read(lambda connection: read(connection, *args, **options))

    return method


def writes(
    write: Callable[Concatenate[Transaction, P], T],
) -> Callable[Concatenate[Access, P], T]:
    """A function that writes, as a method: it gets a transaction of its own."""

    @functools.wraps(write)
    def method(store: Access, /, *args: P.args, **options: P.kwargs) -> T:
        return store.write(lambda transaction: write(transaction, *args, **options))

    return method


def queues(
    write: Callable[Concatenate[Transaction, A, P], object],
) -> Callable[Concatenate[Access, A, P], Coroutine[None, None, None]]:
    """A function that writes results, as a method for many units at once: it shares the
    transactions of the writer thread, and returns when its rows are committed.

    Its first argument is what the results are of.
    """

    @functools.wraps(write)
    async def method(store: Access, of: A, /, *args: P.args, **options: P.kwargs) -> None:
        await store.queue(lambda transaction: write(transaction, of, *args, **options), of)

    return method
