"""Where a store is: a file of SQLite, or a database of PostgreSQL."""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator

from sqlalchemy import Connection, Engine


class Transactions:
    """Transactions of one connection."""

    @contextlib.contextmanager
    def begun(self, connection: Connection) -> Iterator[None]:
        """A transaction, which is rolled back if the block raises."""
        with connection.begin():
            yield

    def close(self) -> None:
        """Close what is open beside the connection."""


class StoreLocation(ABC):
    """Where a store is, or is to be made. `str` shows it without a password."""

    @abstractmethod
    def connect(self, *, read_only: bool = False) -> Engine:
        """An engine on the store; nothing is opened yet. With `read_only` nothing can be changed.

        Raises StoreError if the database's driver is not installed.
        """

    @property
    def full_name(self) -> str:
        """The same for all names of one store."""
        return str(self)

    @property
    @abstractmethod
    def exists(self) -> bool:
        """Whether there is anything: a store, or something else that is not empty.

        Raises StoreError if that cannot be found out.
        """

    @abstractmethod
    def make(self) -> None:
        """Make the store if there is none. Raises StoreError, OSError and the driver's errors."""

    def transactions(self) -> Transactions:
        """What begins and ends the transactions of one connection that writes."""
        return Transactions()

    def check(self, connection: Connection) -> None:  # noqa: B027 (only a file can lose rows)
        """Raise StoreError if acknowledged rows were lost."""

    def close(self) -> None:  # noqa: B027 (only a file leaves something)
        """Remove what is needed only while a process that writes has the store open."""

    def problems(self, connection: Connection) -> list[str]:  # noqa: ARG002
        """What the database itself finds wrong with a store's file."""
        return []
