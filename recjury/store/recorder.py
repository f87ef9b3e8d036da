"""Keeps finished calls: the store's side of the protocol `Recorder`."""

from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import NamedTuple, Self

import orjson
from sqlalchemy import Engine

from recjury.records import CallRecord, Reply
from recjury.store.calls import CallReader, CallValues, params_json
from recjury.store.engine import insert_new
from recjury.store.tables import CallRow
from recjury.store.texts import Kept
from recjury.store.writer import Transaction, Writer


class StoreRecorder:
    """Recalls and records calls, many at once. Each record is committed when `record` returns.

    Of two equal identities (two processes at once) the first one written stays.
    """

    def __init__(self, engine: Engine, writer: Writer):
        """Reads from `engine` on the caller's thread, writes through `writer`."""
        self._reader = CallReader(engine)
        self._writer = writer
        insert = insert_new(CallRow).compile(engine, column_keys=list(CallValues._fields))
        assert tuple(insert.positiontup or ()) == CallValues._fields
        self._insert = str(insert)

    async def __aenter__(self) -> Self:
        """Nothing is opened before the first call."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait for what is still being written."""
        await self.aclose()

    async def recall(self, identity: str) -> Reply | None:
        """The reply kept for this identity, or None; StoreError if it is damaged."""
        # A look-up by key takes microseconds: less than handing it to a thread.
        return self._reader.reply(identity)

    async def record(self, call: CallRecord) -> None:
        """Keep a finished call; returns once it is committed."""
        await self._writer.submit(self._write, call)

    async def aclose(self) -> None:
        """Wait until everything handed over is committed, and stop reading."""
        await self._writer.flush()
        self._reader.close()

    def _write(self, transaction: Transaction, calls: Sequence[CallRecord]) -> None:
        prepared = [
            _Prepared(call, params_json(call.request), _logprobs(call.reply)) for call in calls
        ]
        texts = (text for each in prepared for text in each.texts())
        places = transaction.texts.intern(transaction.connection, texts)
        rows = [_values(each, places) for each in prepared]
        cursor = transaction.connection.connection.cursor()
        cursor.executemany(self._insert, rows)
        cursor.close()


class _Prepared(NamedTuple):
    call: CallRecord
    params: str
    logprobs: str | None

    def texts(self) -> Iterable[str]:
        for message in self.call.request.messages:
            yield from message.parts
        yield self.params
        yield self.call.reply.text
        if self.logprobs is not None:
            yield self.logprobs


def _logprobs(reply: Reply) -> str | None:
    return orjson.dumps(reply.logprobs).decode() if reply.logprobs else None


def _values(prepared: _Prepared, places: Mapping[str, Kept]) -> CallValues:
    call, request, reply = prepared.call, prepared.call.request, prepared.call.reply
    shape = [
        [message.role, *(places[part].id for part in message.parts)] for message in request.messages
    ]
    unsealed = CallValues(
        identity=bytes.fromhex(call.identity),
        model=request.model,
        purpose=request.purpose,
        trial=call.trial,
        sample=request.sample,
        params=places[prepared.params].id,
        request=orjson.dumps(shape).decode(),
        reply=places[reply.text].id,
        reply_model=reply.model,
        finish_reason=reply.finish_reason,
        prompt_tokens=reply.usage.prompt_tokens,
        completion_tokens=reply.usage.completion_tokens,
        cached_tokens=reply.usage.cached_tokens,
        cost=float(reply.usage.cost),
        latency=float(reply.latency),
        attempts=reply.attempts,
        logprobs=None if prepared.logprobs is None else places[prepared.logprobs].id,
        started_at=float(call.started_at),
        seal=b"",
    )
    hashes = {places[text].id: places[text].hash for text in prepared.texts()}
    return unsealed._replace(seal=unsealed.sealed(hashes))
