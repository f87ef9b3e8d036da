"""Stores finished calls: the store's implementation of the protocol `Recorder`."""

import asyncio
import functools
import itertools
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

import orjson
from sqlalchemy import Engine
from sqlalchemy.pool import PoolProxiedConnection

from recjury.records import CallRecord, Reply
from recjury.safe_text import hide_secret, without_keys
from recjury.store.calls import CALLS, CallReader, CallValues, params_json, seal_call
from recjury.store.engine import insert_new, one_line_errors, user_error_of
from recjury.store.location import StoreLocation
from recjury.store.schema import read_secret
from recjury.store.texts import TextRef
from recjury.store.writer import Transaction, Writer


class StoreRecorder:
    """Looks up and records calls, many at the same time.

    Each record is committed when `record` returns. If two processes record the same identity, the
    first one written is kept.
    """

    def __init__(self, location: StoreLocation, engine: Engine, writer: Writer):
        """Reads from `engine` on the caller's thread, and writes with `writer`."""
        self._location = location
        self._engine = engine
        self._writer = writer
        self._connection: PoolProxiedConnection | None = None
        self._has_view = False
        self._is_remote = engine.dialect.name != "sqlite"
        self._asked: list[tuple[str, asyncio.Future[bool]]] = []
        insert = insert_new(CALLS).compile(engine, column_keys=list(CallValues._fields))
        assert tuple(insert.positiontup or ()) == CallValues._fields
        self._insert = str(insert)

    async def __aenter__(self) -> Self:
        """Return the recorder; it opens nothing before the first call."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait until everything has been written."""
        await self.aclose()

    @functools.cached_property
    def secret(self) -> bytes:
        """The secret of the store. Raises StoreError if it cannot be read."""
        with one_line_errors(self._location), self._engine.connect() as connection:
            secret = read_secret(connection)
        hide_secret(secret)
        return secret

    async def recall(self, identity: str) -> Reply | None:
        """The stored reply for this identity, or None. Raises StoreError if it is damaged."""
        with one_line_errors(self._location):
            if self._is_remote and not await self._is_there(identity):
                return None
            # A look-up by key takes microseconds: less than handing it to a thread.
            return CallReader(self._view()).reply(identity)

    async def _is_there(self, identity: str) -> bool:
        """Whether there is such a call: the store is asked once for all that ask in this pass of
        the event loop, since most campaigns find few of their calls."""
        loop = asyncio.get_running_loop()
        if not self._asked:
            loop.call_soon(self._answer)
        answer: asyncio.Future[bool] = loop.create_future()
        self._asked.append((identity, answer))
        return await answer

    def _answer(self) -> None:
        asked, self._asked = self._asked, []
        waiting = [(identity, answer) for identity, answer in asked if not answer.done()]
        try:
            there = CallReader(self._view()).known(identity for identity, _ in waiting)
        except Exception as error:  # each of those that wait raises it
            for _, answer in waiting:
                answer.set_exception(error)
            return
        for identity, answer in waiting:
            answer.set_result(identity in there)

    async def record(self, call: CallRecord) -> None:
        """Store a finished call; return when it is committed."""
        await self._writer.submit(self.write, call)

    async def aclose(self) -> None:
        """Wait until all submitted calls are committed, and close the reader."""
        await self._writer.flush()
        self._end_view()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _view(self) -> Any:
        """A connection of the driver, with one view of the store for all calls that ask in this
        pass of the event loop: what is recorded meanwhile cannot be asked for before the next one.

        To take a view costs more than to read a call, if another connection writes meanwhile.
        """
        if self._connection is None:
            self._connection = self._engine.raw_connection()
        driver: Any = self._connection.driver_connection
        if not self._has_view:
            self._has_view = True
            if not self._is_remote:  # another driver begins by itself
                driver.execute("BEGIN")
            asyncio.get_running_loop().call_soon(self._end_view)
        return driver

    def _end_view(self) -> None:
        """Read what is new again."""
        if self._has_view and self._connection is not None:
            self._has_view = False
            driver: Any = self._connection.driver_connection
            try:
                driver.commit()
            except Exception as error:
                # If the database has gone, the next look-up says so.
                if user_error_of(error, self._location) is None:
                    raise

    def write(self, transaction: Transaction, calls: Sequence[CallRecord]) -> None:
        """Store finished calls in a transaction; of an identity that is there, nothing changes."""
        texts = [_texts(call) for call in calls]
        every = itertools.chain.from_iterable(texts)
        kept = transaction.texts.intern(transaction.connection, every)
        rows = [
            _values(call, [kept[text] for text in own])
            for call, own in zip(calls, texts, strict=True)
        ]
        cursor = transaction.connection.connection.cursor()
        cursor.executemany(self._insert, rows)
        cursor.close()


def _texts(call: CallRecord) -> list[str]:
    """All texts of a call, in the order of `CallValues.text_ids`.

    A reply without reasoning has no text for it.
    """
    texts = [part for message in call.request.messages for part in message.parts]
    texts.append(params_json(call.request))
    texts.append(call.reply.text)
    if call.reply.logprobs:
        texts.append(orjson.dumps(call.reply.logprobs).decode())
    texts += (further.text for further in call.reply.further)
    thoughts = (call.reply.reasoning, *(further.reasoning for further in call.reply.further))
    texts += filter(None, thoughts)
    return texts


def _values(call: CallRecord, kept: Sequence[TextRef]) -> tuple[object, ...]:
    """The row, in the order of `CallValues`: by place, because thousands are built per second."""
    request, reply, usage = call.request, call.reply, call.reply.usage
    numbers = iter(kept)
    shape = [
        [message.role, *(next(numbers).id for _ in message.parts)] for message in request.messages
    ]
    params, said = next(numbers).id, next(numbers).id
    odds = next(numbers) if reply.logprobs else None
    texts = [next(numbers).id for _ in reply.further]
    reasoning = next(numbers).id if reply.reasoning else None
    further = [
        (text, choice.finish_reason, next(numbers).id if choice.reasoning else None)
        for text, choice in zip(texts, reply.further, strict=True)
    ]
    identity = bytes.fromhex(call.identity)
    row = CallValues(
        identity,
        request.model,
        request.purpose,
        call.unit,
        request.sample,
        params,
        orjson.dumps(shape).decode(),
        said,
        without_keys(reply.model),
        without_keys(reply.finish_reason),
        usage.prompt_tokens,
        usage.completion_tokens,
        usage.cached_tokens,
        None if usage.cost is None else float(usage.cost),
        float(reply.latency),
        reply.attempts,
        None if odds is None else odds.id,
        float(call.started_at),
        without_keys(orjson.dumps(further).decode()),
        reasoning,
        int(usage.estimated),
        None if reply.waited is None else float(reply.waited),
        without_keys(reply.fingerprint),
        reply.code,
        seal=b"",
    )
    return (*row[:-1], seal_call(row.sealed(), (identity, *(each.hash for each in kept))))
