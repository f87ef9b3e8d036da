"""Where a store is: a file of SQLite, or a database of PostgreSQL."""

from abc import ABC, abstractmethod

from sqlalchemy import Engine

from recjury.store.column_types import WrongTypeError


class Place(ABC):
    """Where a store is, or is to be made. `str` shows it without a password."""

    @abstractmethod
    def connect(self, *, read_only: bool = False) -> Engine:
        """An engine on the store; nothing is opened yet. With `read_only` nothing can be changed.

        Raises StoreError if the database's driver is not installed.
        """

    @property
    @abstractmethod
    def exists(self) -> bool:
        """Whether there is anything: a store, or something else that is not empty.

        Raises StoreError if that cannot be found out.
        """

    @abstractmethod
    def make(self) -> None:
        """Make the store if there is none. Raises StoreError, OSError and the driver's errors."""

    def wrong_value(self) -> WrongTypeError | None:
        """The error that names the first value of another type than its column's, or None.

        Only SQLite stores such values.
        """
        return None
