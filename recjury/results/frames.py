"""Tables of a store as Arrow, for pandas, Polars and others."""

from typing import TYPE_CHECKING

from recjury.results.choice import require
from recjury.results.file_formats import arrow_batches, arrow_schema, require_arrow
from recjury.results.tables import tables
from recjury.store import Store

if TYPE_CHECKING:
    import pyarrow as pa


def frame(store: Store, name: str, campaign: str | None = None) -> "pa.Table":
    """One of the tables conversations, evaluations, turns, ratings, statements and calls, of a
    campaign (its id) or, for None, of the whole store.

    Each says by which conversation, evaluation, evaluator and metric its rows are. Raises
    StoreError for another name, and where a row is not as it was written; ConfigError without
    the extra `frames`.
    """
    require_arrow("a frame")
    import pyarrow as pa

    by_name = {table.name: table for table in tables(store, campaign)}
    require("table", [name], by_name)
    table = by_name[name]
    schema = arrow_schema(table.fields)
    rows = table.rows(store.results(campaign))
    return pa.Table.from_batches(arrow_batches(schema, rows), schema=schema)
