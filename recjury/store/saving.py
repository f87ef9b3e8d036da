"""What a run has finished: logs, failures and evaluations, each in one transaction."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from recjury.records import ConversationLog, Finding, Status, digest, text_hash, unfinished
from recjury.store import tables
from recjury.store.database import Chapter
from recjury.store.failures import as_written
from recjury.store.findings import texts_of, to_rows
from recjury.store.tables import add_new, now, put


def evaluation_id(conversation: str, evaluator: str, judging: int) -> str:
    """The identity of an evaluation."""
    return digest(conversation, evaluator, judging)


class Saving(Chapter):
    """What each trial of a run needs of a store."""

    async def log(self, conversation: str) -> ConversationLog | None:
        """The log of a conversation that is done."""
        if self.database.is_file:
            return self._log(conversation)
        return await asyncio.to_thread(self._log, conversation)

    async def save_log(
        self, conversation: str, log: ConversationLog, *, play: str, seconds: Sequence[float]
    ) -> None:
        """Keep how a planned conversation went. One that is done stays as it is.

        `play` is the id that the system saw, `seconds` how long each of its turns took. A failed
        one counts as a try, since an unreadable reply of its system would be found again.
        """
        content = json.dumps(log.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False)
        values: dict[str, Any] = {
            "state": "failed" if log.failed else "done",
            "play": play,
            "log": text_hash(content),
            "ending": log.ending,
            "rounds": log.rounds,
            "reason": next((turn.failure for turn in log.interaction if turn.failure), ""),
            "seconds": list(seconds),
            "finished_at": now(),
        }
        table = tables.Conversation.__table__
        change = update(table).where(table.c.id == conversation, table.c.state != "done")
        values["tries"] = table.c.tries + int(log.failed)

        def write(connection: Connection) -> None:
            _add_texts(connection, {text_hash(content): content})
            connection.execute(change.values(values))

        await self.database.write(write)

    async def save_failure(self, conversation: str, reason: str, *, tries: int) -> None:
        """Keep why the user could not speak; the conversation stays planned.

        `tries` is what the next run is given: one more than this one if replies were unreadable,
        since they would be found again.
        """
        table = tables.Conversation.__table__
        change = update(table).where(table.c.id == conversation, table.c.state != "done")
        change = change.values(state="planned", reason=reason, tries=tries)

        def write(connection: Connection) -> None:
            connection.execute(change)

        await self.database.write(write)

    async def save_evaluation(
        self,
        conversation: str,
        evaluator: str,
        judging: int,
        findings: Sequence[Finding],
        *,
        tries: int,
    ) -> None:
        """Keep what was found, in place of what was found before.

        `tries` is what the evaluation was given; the next run is given one more if something stayed
        unreadable.
        """
        id_, open_ = evaluation_id(conversation, evaluator, judging), unfinished(findings)
        row = {
            "id": id_,
            "conversation": conversation,
            "evaluator": evaluator,
            "judging": judging,
            "state": "incomplete" if open_ else "done",
            "tries": tries + (Status.UNREADABLE in open_),
            "finished_at": now(),
        }
        texts, rows = texts_of(findings), to_rows(id_, findings)

        done = select(tables.Evaluation.__table__.c.id).where(
            tables.Evaluation.__table__.c.id == id_,
            tables.Evaluation.__table__.c.state == "done",
        )

        def write(connection: Connection) -> None:
            if open_ and connection.execute(done).first():
                return  # another campaign has all of it
            _add_texts(connection, texts)
            put(connection, tables.Evaluation, [row])
            for table, new in zip(_FINDINGS, rows, strict=True):
                connection.execute(delete(table).where(table.c.evaluation == id_))
                if new:
                    connection.execute(insert(table), new)

        await self.database.write(write)

    def _log(self, conversation: str) -> ConversationLog | None:
        table, text = tables.Conversation.__table__, tables.Text.__table__
        query = select(text.c.text).join(table, table.c.log == text.c.hash)
        query = query.where(table.c.id == conversation, table.c.state == "done")
        with self.database.connection() as connection:
            content = connection.execute(query).scalar()
        with as_written(self.database.name, f"the log of conversation {conversation}"):
            return None if content is None else ConversationLog.model_validate(json.loads(content))


_FINDINGS = tuple(table.__table__ for table in (tables.Rating, tables.Evidence, tables.Statement))


def _add_texts(connection: Connection, texts: Mapping[str, str]) -> None:
    rows = [{"hash": key, "text": text} for key, text in texts.items()]
    add_new(connection, tables.Text, rows)
