"""Questions to a store in SQL, for pages."""

from typing import Any

from sqlalchemy import text

from recjury.store import Store


def rows(store: Store, query: str, **values: Any) -> list[tuple[Any, ...]]:
    """All rows of a query, with `values` in place of its `:names`."""
    with store.connection() as connection:
        return [tuple(row) for row in connection.execute(text(query), values)]
