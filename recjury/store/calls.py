"""Rows of stored model calls, and a reader that compares them with their seals."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

import orjson
from sqlalchemy import Column, Connection, Table
from sqlmodel import SQLModel

from recjury.errors import StoreError
from recjury.records import JSON, CallRecord, ChatRequest, Choice, Message, Reply, Usage
from recjury.store.column_types import Hex, Whole
from recjury.store.sealed import as_written, check, column, seal
from recjury.store.texts import TextId, unpack


class CallValues(NamedTuple):
    """A row of `call`: a finished model call.

    `model` is the campaign's alias, `reply_model` the endpoint's name; `fingerprint` is what the
    endpoint calls its configuration, empty if it sends none. `code` was sent in place of the
    prompt's mark (`prompts.answer_code`). `unit` is the conversation, the evaluation or the
    campaign (for an optimisation of instructions) that asked first. `request` is
    JSON: a list of [role, text id, text id, ...]. `params` (JSON with all other parameters of the
    request), `reply`, `logprobs` (JSON) and `reasoning` (what the endpoint sent as the model's
    thoughts) are texts. `further` is a JSON list of the replies after the first: [text id, finish
    reason, text id of its reasoning or null]. `estimated` is 1 if the tokens were not reported but
    estimated. `cost` is in US dollars, and None if the price is unknown. `latency` is the time of
    the last attempt in seconds, `waited` the seconds that the call waited for limits and between
    attempts (None if unknown); `started_at` is in Unix seconds.
    """

    identity: bytes
    model: str
    purpose: str
    unit: str | None
    sample: int
    params: TextId
    request: str
    reply: TextId
    reply_model: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cost: float | None
    latency: float
    attempts: int
    logprobs: TextId | None
    started_at: float
    further: str
    reasoning: TextId | None
    estimated: int
    waited: float | None
    fingerprint: str
    code: str
    seal: bytes

    def sealed(self) -> tuple[JSON, ...]:
        """The values that the seal covers after the identity."""
        return self[1:-1]

    def more(self) -> tuple["FurtherReply", ...]:
        """Each reply after the first."""
        return tuple(FurtherReply(*entry) for entry in orjson.loads(self.further))

    def text_ids(self) -> tuple[int, ...]:
        """All texts that the row refers to: prompt parts in order, parameters, reply, logprobs,
        further replies, the reply's reasoning, the reasoning of further replies."""
        parts = (part for _, *ids in orjson.loads(self.request) for part in ids)
        odds = () if self.logprobs is None else (self.logprobs,)
        more = self.more()
        texts = (each.text for each in more)
        thoughts = (self.reasoning, *(each.reasoning for each in more))
        known = (number for number in thoughts if number is not None)
        return (*parts, self.params, self.reply, *odds, *texts, *known)


CALLS = Table(
    "call",
    SQLModel.metadata,
    Column("id", Whole, primary_key=True),
    Column("identity", Hex, nullable=False, unique=True),
    *(column(name, kind) for name, kind in list(CallValues.__annotations__.items())[1:-1]),
    Column("seal", Hex, nullable=False),
)


class FurtherReply(NamedTuple):
    """A reply after the first: the numbers of its texts, and its finish reason."""

    text: int
    finish_reason: str
    reasoning: int | None


def seal_call(values: Sequence[JSON], hashes: Iterable[bytes]) -> bytes:
    """The seal of a row.

    `values` are those of `CallValues.sealed`. `hashes` are the identity and then the hashes of the
    texts in the order of `CallValues.text_ids`.
    """
    return bytes.fromhex(seal(values, hashes))


def params_json(request: ChatRequest) -> str:
    """All parameters of a request except the messages, as canonical JSON."""
    asked: dict[str, object] = {
        "temperature": request.temperature,
        "top_p": None,  # this, seed and stop are of earlier requests
        "max_tokens": request.max_tokens,
        "seed": None,
        "stop": (),
        "schema": request.schema,
        "top_logprobs": request.top_logprobs,
    }
    if request.n > 1:
        asked["n"] = request.n
    if request.attempt > 0:
        asked["attempt"] = request.attempt
    if request.room > 1:
        asked["room"] = request.room
    return orjson.dumps(asked, option=orjson.OPT_SORT_KEYS).decode()


_OF_EARLIER_REQUESTS = ("top_p", "seed", "stop")
_CALL = f"SELECT {', '.join(CallValues._fields)} FROM call WHERE identity = ?"  # noqa: S608 (ours)
_TEXT = "SELECT body, size, hash FROM text WHERE id = ?"
_KNOWN = "SELECT identity FROM call WHERE identity IN "
_HASHES = "SELECT id, hash FROM text WHERE id IN "


class CallReader:
    """Reads calls over a connection of the database driver.

    It does without SQLAlchemy, because a resumed campaign reads tens of thousands of calls.
    """

    def __init__(self, driver: Any):
        """`driver` is a connection of the database driver, which has no static type."""
        self._driver = driver
        self._mark = "?" if isinstance(driver, sqlite3.Connection) else "%s"

    @classmethod
    def over(cls, connection: Connection) -> Self:
        """A reader over the driver's connection behind `connection`."""
        return cls(connection.connection.driver_connection)

    def reply(self, identity: str) -> Reply | None:
        """The reply of a call, marked as reused; None if there is no such call."""
        values = self._values(identity)
        return None if values is None else self._reply(values, reused=True)

    def call(self, identity: str) -> CallRecord:
        """A call as it was recorded. Raises StoreError if it is missing or was altered."""
        values = self._values(identity)
        if values is None:
            raise StoreError(f"call {identity} is not in the store")
        return CallRecord(
            identity=identity,
            request=self._request(values),
            reply=self._reply(values, reused=False),
            unit=values.unit,
            started_at=values.started_at,
        )

    def known(self, identities: Iterable[str]) -> set[str]:
        """Those of the identities that have a call."""
        wanted = tuple(map(bytes.fromhex, identities))
        found = self._execute(f"{_KNOWN}({', '.join('?' * len(wanted))})", wanted) if wanted else ()
        return {identity.hex() for (identity,) in found}

    def _values(self, identity: str) -> CallValues | None:
        row = self._first(_CALL, bytes.fromhex(identity))
        if row is None:
            return None
        values = CallValues(*row)
        with as_written(f"call {identity} in the store"):
            hashes = self._hashes(values.text_ids())
            check(seal_call(values.sealed(), (values.identity, *hashes)), values.seal)
        return values

    def _request(self, values: CallValues) -> ChatRequest:
        messages = (
            Message(role, tuple(self._plain(number) for number in ids))
            for role, *ids in orjson.loads(values.request)
        )
        asked = orjson.loads(self._plain(values.params))
        for name in _OF_EARLIER_REQUESTS:
            del asked[name]
        return ChatRequest(
            model=values.model,
            messages=tuple(messages),
            purpose=values.purpose,
            sample=values.sample,
            **asked,
        )

    def _reply(self, values: CallValues, *, reused: bool) -> Reply:
        odds = "[]" if values.logprobs is None else self._plain(values.logprobs)
        return Reply(
            call=values.identity.hex(),
            text=self._plain(values.reply),
            finish_reason=values.finish_reason,
            model=values.reply_model,
            usage=Usage(
                prompt_tokens=values.prompt_tokens,
                completion_tokens=values.completion_tokens,
                cached_tokens=values.cached_tokens,
                cost=values.cost,
                estimated=values.estimated == 1,
            ),
            logprobs=tuple(
                (token, value, tuple((other, odd) for other, odd in others))
                for token, value, others in orjson.loads(odds)
            ),
            reused=reused,
            latency=values.latency,
            attempts=values.attempts,
            further=tuple(
                Choice(self._plain(text), why, self._thoughts(thoughts))
                for text, why, thoughts in values.more()
            ),
            reasoning=self._thoughts(values.reasoning),
            waited=values.waited,
            fingerprint=values.fingerprint,
            code=values.code,
        )

    def _thoughts(self, number: int | None) -> str:
        return "" if number is None else self._plain(number)

    def _plain(self, number: int) -> str:
        return unpack(*self._first(_TEXT, number))

    def _hashes(self, numbers: Sequence[int]) -> list[bytes]:
        wanted = tuple(dict.fromkeys(numbers))
        marks = ", ".join("?" * len(wanted))
        found = dict(self._execute(f"{_HASHES}({marks})", wanted).fetchall())
        return [found[each] for each in numbers]

    def _first(self, query: str, key: object) -> Any:
        return self._execute(query, (key,)).fetchone()

    def _execute(self, query: str, values: tuple[object, ...]) -> Any:
        return self._driver.execute(query.replace("?", self._mark), values)


def read_call(connection: Connection, identity: str) -> CallRecord:
    """A recorded call with its prompt parts. Raises StoreError if it is missing or was altered."""
    return CallReader.over(connection).call(identity)
