"""Calls: found again by their identity, and committed before their reply is used."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from recjury.records import Completion, Request, Unit, text_hash
from recjury.store.database import Chapter
from recjury.store.failures import in_one_line
from recjury.store.tables import now
from recjury.store.texts import from_stored, to_stored

# What stands on the way of each call is plain SQL: SQLAlchemy would take longer than SQLite.
_ADD_TEXT = "INSERT INTO text (hash, text) VALUES (?, ?) ON CONFLICT DO NOTHING"
_ADD_CALL = """
    INSERT INTO call (id, campaign, conversation, evaluation, model, purpose, prompt, code, reply,
                      more, tokens_in, tokens_out, cost, served, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
_RECALL = """
    SELECT c.id, t.text, c.code, c.more, c.tokens_in, c.tokens_out, c.cost, c.served
    FROM call c JOIN text t ON t.hash = c.reply WHERE c.id = ?
"""


class Calls(Chapter):
    """What a gateway needs of a store."""

    async def recall(self, calls: Sequence[str]) -> dict[str, Completion]:
        """The stored completions, by call."""
        if self.database.is_file:
            with in_one_line(self.database.name):
                read = self.database.driver.execute
                rows = [read(_RECALL, (call,)).fetchone() for call in calls]
        else:
            rows = await asyncio.to_thread(self._recall_from_server, calls)
        return {row[0]: _completion(row) for row in rows if row is not None}

    async def record(
        self, done: Sequence[Completion], request: Request, model: str, unit: Unit
    ) -> dict[str, Completion]:
        """What the store has now, by call: where one was there already, the earlier completion.

        It returns after the commit. Raises Stop if nothing can be written.
        """
        texts = {text_hash(each.text): each.text for each in done}
        prompt = _prompt(request, texts)
        asked_by = [to_stored(each) for each in (*unit, model, request.purpose)]
        time = now()
        rows = [
            (
                each.call,
                *asked_by,
                prompt,
                each.code,
                text_hash(each.text),
                _more(each),
                each.tokens_in,
                each.tokens_out,
                each.cost,
                to_stored(each.served),
                time,
            )
            for each in done
        ]
        new = [(key, to_stored(text)) for key, text in texts.items()]
        if await self.database.insert([(_ADD_TEXT, new), (_ADD_CALL, rows)]) == len(rows):
            return {each.call: each for each in done}
        return await self.recall([each.call for each in done])

    def _recall_from_server(self, calls: Sequence[str]) -> list[Any]:
        with self.database.connection() as connection:
            query = self.database.marked(_RECALL)
            return [connection.exec_driver_sql(query, (call,)).first() for call in calls]


def _prompt(request: Request, texts: dict[str, str]) -> str:
    """The stored form of a prompt. Its parts are added to `texts`, by hash."""
    prompt = []
    for message in request.messages:
        hashes = [text_hash(part) for part in message.parts]
        texts.update(zip(hashes, message.parts, strict=True))
        prompt.append([message.role, *hashes])
    return json.dumps(prompt)


_MORE = ("finish", "thoughts", "logprobs", "dialect")


def _more(each: Completion) -> str:
    return json.dumps(
        {k: v for k in _MORE if (v := getattr(each, k)) and (k, v) != ("finish", "stop")}
    )


def to_completion(
    call: str,
    text: str,
    code: str,
    more: Mapping[str, Any],
    tokens_in: int | None,
    tokens_out: int | None,
    cost: float | None,
    served: str,
) -> Completion:
    """What was stored."""
    logprobs = tuple(more.get("logprobs", ()))
    fields = {**more, "logprobs": logprobs, "served": served, "reused": True}
    return Completion(
        text, call, code, tokens_in=tokens_in, tokens_out=tokens_out, cost=cost, **fields
    )


def _completion(row: Sequence[Any]) -> Completion:
    """What a row of `_RECALL` holds. SQLite's driver returns JSON as it is written."""
    call, text, code, more, tokens_in, tokens_out, cost, served = row
    fields = json.loads(more) if isinstance(more, str) else more
    told = (tokens_in, tokens_out, cost, from_stored(served))
    return to_completion(call, from_stored(text), code, fields, *told)
