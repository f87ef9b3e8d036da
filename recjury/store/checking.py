"""Whether a store is whole: what the database finds, hashes, and references."""

from collections.abc import Iterator

from sqlalchemy import Connection, select, text

from recjury.records import text_hash
from recjury.store import tables
from recjury.store.database import Chapter
from recjury.store.saving import evaluation_id

# Each column, with the table that has a row for each of its values.
_REFERENCES = (
    ("run.campaign", "campaign.name"),
    ("plan.campaign", "campaign.name"),
    ("plan.conversation", "conversation.id"),
    ("conversation.log", "text.hash"),
    ("campaign_evaluator.evaluator", "evaluator.id"),
    ("evaluation.conversation", "conversation.id"),
    ("evaluation.evaluator", "evaluator.id"),
    ("rating.evaluation", "evaluation.id"),
    ("rating.rationale", "text.hash"),
    ("evidence.evaluation", "evaluation.id"),
    ("statement.evaluation", "evaluation.id"),
    ("statement.text", "text.hash"),
    ("call.reply", "text.hash"),
)


class Checking(Chapter):
    """What `store verify` asks of the store itself."""

    def check(self) -> list[str]:
        """One line for each problem, of any campaign; none if all is as it was written."""
        with self.database.connection() as connection:
            return [
                *_database_problems(connection),
                *_altered_texts(connection),
                *_altered_evaluations(connection),
                *_missing_rows(connection),
                *_missing_parts(connection),
            ]


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


def _altered_evaluations(connection: Connection) -> Iterator[str]:
    table = tables.Evaluation.__table__.c
    columns = (table.conversation, table.evaluator, table.judging)
    for id_, *parts in connection.execute(select(table.id, *columns)):
        if evaluation_id(*parts) != id_:
            yield f"evaluation {id_} is not of the conversation, evaluator and judging in its id"


def _missing_rows(connection: Connection) -> Iterator[str]:
    for column, key in _REFERENCES:
        table, target = column.partition(".")[0], key.partition(".")[0]
        query = f"""
            SELECT DISTINCT {column} FROM {table} LEFT JOIN {target} ON {column} = {key}
            WHERE {column} IS NOT NULL AND {key} IS NULL
        """  # noqa: S608 (the names stand above)
        for value in connection.execute(text(query)).scalars():
            yield f"{column} {value} has no row in {target}"


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
