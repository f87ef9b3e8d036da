"""Tables of the store, and queries over them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs.generator.writing import NOTE, whole
from recjury.store import tables


def store() -> Iterator[str]:
    """The parts of the page: tables, and queries that run."""
    yield NOTE.format("[how to work with a store](../how-to/stores.md)")
    yield (
        "Times are ISO 8601 in UTC with their offset; costs are US dollars. Keys are in bold. "
        "Columns that name a text hold its hash in `text`."
    )
    yield "## Tables"
    yield "\n".join(map(_described_table, tables.Row.__subclasses__()))
    yield "## Queries"
    yield "For `sqlite3 -readonly films.db`, Datasette or pandas."
    for title, query in _queries().items():
        yield f"### {title}"
        yield f"```sql\n{query}\n```"


def _described_table(row: Any) -> str:
    columns = ", ".join(map(_column, row.__table__.columns))
    return f"- `{row.__table__.name}` ({columns}): {whole(row)}"


def _column(column: Any) -> str:
    return f"**{column.name}**" if column.primary_key else str(column.name)


def _queries() -> dict[str, str]:
    """The queries of queries.sql by title."""
    parts = re.split(
        r"^-- (.*)\n",
        (Path(__file__).parent / "queries.sql").read_text("utf-8"),
        flags=re.MULTILINE,
    )
    return {title: query.strip() for title, query in zip(parts[1::2], parts[2::2], strict=True)}
