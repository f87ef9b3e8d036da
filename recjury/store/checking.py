"""Whether a store is whole: what the database finds, hashes, and references."""

import json
from collections.abc import Iterator

from sqlalchemy import Connection, exists, select

from recjury.errors import Altered
from recjury.records import ConversationLog, text_hash
from recjury.store import tables
from recjury.store.database import Chapter
from recjury.store.failures import as_written
from recjury.store.saving import evaluation_id


class Checking(Chapter):
    """What `store verify` asks of the store itself."""

    def check(self) -> list[str]:
        """One line for each problem, of any campaign; none if all is as it was written."""
        problems: list[str] = []
        with self.database.connection() as connection:
            for find in _FINDERS:
                try:
                    with as_written(self.database.name, "what JSON holds"):
                        problems.extend(find(connection))
                except Altered as error:
                    problems.append(str(error))
        return problems


def _database_problems(connection: Connection) -> list[str]:
    if connection.dialect.name != "sqlite":
        return []
    found = connection.exec_driver_sql("PRAGMA integrity_check").scalars()
    return [f"SQLite: {line}" for line in found if line != "ok"]


def _altered_texts(connection: Connection) -> Iterator[str]:
    table = tables.Text.__table__.c
    for hash_, content in connection.execute(select(table.hash, table.text)):
        if text_hash(content) != hash_:
            yield f"text {hash_} is not what was stored under this hash"


def _altered_conversations(connection: Connection) -> Iterator[str]:
    """Rows that do not say what their log says."""
    table, part = tables.Conversation.__table__.c, tables.Text.__table__.c
    columns = (table.id, table.state, table.ending, table.rounds, part.text)
    for id_, state, *row, content in connection.execute(
        select(*columns).where(table.log == part.hash, table.state != "planned")
    ):
        log = ConversationLog.model_validate(json.loads(content))
        if [state == "failed", *row] != [log.failed, log.ending, log.rounds]:
            yield f"conversation {id_} has another state, ending or number of rounds than its log"


def _altered_evaluations(connection: Connection) -> Iterator[str]:
    table = tables.Evaluation.__table__.c
    columns = (table.conversation, table.evaluator, table.judging)
    for id_, *parts in connection.execute(select(table.id, *columns)):
        if evaluation_id(*parts) != id_:
            yield f"evaluation {id_} is not of the conversation, evaluator and judging in its id"


def _missing_rows(connection: Connection) -> Iterator[str]:
    for table in tables.Row.metadata.sorted_tables:
        for reference in sorted(table.foreign_keys, key=lambda each: each.parent.name):
            column, key = reference.parent, reference.column
            missing = (
                select(column).distinct().where(column.is_not(None), ~exists().where(key == column))
            )
            for value in connection.execute(missing).scalars():
                yield f"{column} {value} has no row in {key.table}"


def _missing_parts(connection: Connection) -> Iterator[str]:
    """What JSON columns refer to: parts of prompts, and the calls of ratings and statements."""
    call, key = tables.Call.__table__.c, tables.Text.__table__.c.hash
    texts = set(connection.execute(select(key)).scalars())
    calls = set()
    for id_, prompt in connection.execute(select(call.id, call.prompt)):
        calls.add(id_)
        if any(part not in texts for _, *parts in prompt for part in parts):
            yield f"call {id_} has a prompt of which a part is missing"
    for table in (tables.Rating.__table__, tables.Statement.__table__):
        for evaluation, ids in connection.execute(select(table.c.evaluation, table.c.calls)):
            for id_ in ids:
                if id_ not in calls:
                    yield f"{table.name} of evaluation {evaluation}: its call {id_} is missing"


_FINDERS = (
    _database_problems,
    _altered_texts,
    _altered_conversations,
    _altered_evaluations,
    _missing_rows,
    _missing_parts,
)
