"""Texts addressed by their content.

Each text is stored once, compressed if that is smaller, and compared with its hash whenever it is
read.
"""

import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from typing import NamedTuple, NewType, TypeVar

from sqlalchemy import Connection, Engine, select
from sqlalchemy.engine.interfaces import DBAPICursor

from recjury.errors import StoreError
from recjury.safe_text import without_keys
from recjury.store.tables import TextRow, table_of

K = TypeVar("K")

_WORTH_PACKING = 1024  # bytes
_CHUNK = 500  # keys in one IN (...)


TextId = NewType("TextId", int)
"""The number of a row of `text`."""


class TextRef(NamedTuple):
    """The row id of a stored text, and the SHA-256 of its uncompressed bytes."""

    id: TextId
    hash: bytes


def plain_bytes(text: str) -> bytes:
    """UTF-8; a lone surrogate, which a model may send, is kept unchanged."""
    return text.encode("utf-8", "surrogatepass")


def pack(plain: bytes) -> bytes:
    """`plain`, zlib-compressed if that is shorter and the text is long enough."""
    if len(plain) < _WORTH_PACKING:
        return plain
    # Small windows: setting up the default ones costs more than compressing a short text.
    window, memory = (13, 6) if len(plain) <= 8192 else (15, 8)
    packer = zlib.compressobj(6, zlib.DEFLATED, window, memory)
    packed = packer.compress(plain) + packer.flush()
    return packed if len(packed) < len(plain) else plain


def unpack(body: bytes, size: int, digest: bytes) -> str:
    """The text of a row. Raises StoreError with its hash if the bytes do not match the hash."""
    try:
        plain = body if len(body) == size else zlib.decompress(body)
        if len(plain) == size and sha256(plain).digest() == digest:
            return plain.decode("utf-8", "surrogatepass")
    except (zlib.error, TypeError):  # a damaged row may hold any value
        pass
    raise StoreError(f"text {digest.hex()} in the store is damaged: it does not match its hash")


TextValues = tuple[bytes, int, bytes]
"""The hash, size and body of a text to store."""


def put_into_sqlite(cursor: DBAPICursor, rows: Sequence[TextValues]) -> list[int]:
    """Store texts that are not there yet; the numbers of all."""
    numbers: list[int] = []
    for row in rows:
        cursor.execute(
            "INSERT INTO text (hash, size, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", row
        )
        number = cursor.lastrowid
        if not cursor.rowcount:  # the store has it
            cursor.execute("SELECT id FROM text WHERE hash = ?", row[:1])
            ((number,),) = cursor.fetchall()
        numbers.append(number)
    cursor.close()
    return numbers


def put_into_postgres(cursor: DBAPICursor, rows: Sequence[TextValues]) -> list[int]:
    """As `put_into_sqlite`, in two messages to the server, however many texts there are."""
    hashes, sizes, bodies = (list(each) for each in zip(*rows, strict=True))
    cursor.execute(
        "INSERT INTO text (hash, size, body) SELECT * FROM "
        "unnest(%s::bytea[], %s::bigint[], %s::bytea[]) ON CONFLICT DO NOTHING",
        (hashes, sizes, bodies),
    )
    cursor.execute("SELECT hash, id FROM text WHERE hash = ANY(%s)", (hashes,))
    numbers = dict(cursor.fetchall())
    cursor.close()
    return [numbers[each] for each in hashes]


class Interner:
    """Stores texts, and caches the row ids of recent ones.

    The cache holds at most `characters` characters. Texts of a transaction are cached after it is
    committed: call `commit` or `rollback` after each transaction.
    """

    def __init__(self, engine: Engine, *, characters: int = 4_000_000):
        """The cache is valid for connections of `engine`."""
        self._known: OrderedDict[str, TextRef] = OrderedDict()
        self._fresh: list[str] = []
        self._room = characters
        self._put = put_into_postgres if engine.dialect.name == "postgresql" else put_into_sqlite

    def intern(self, connection: Connection, texts: Iterable[str]) -> Mapping[str, TextRef]:
        """Store the missing texts, without keys.

        The result has the row ids of all `texts`, and may have others.

        It is valid until the transaction ends.
        """
        known = self._known
        missing = {text: plain_bytes(without_keys(text)) for text in texts if text not in known}
        if missing:
            rows = [(sha256(plain).digest(), len(plain), pack(plain)) for plain in missing.values()]
            numbers = self._put(connection.connection.cursor(), rows)
            for text, (digest, _, _), number in zip(missing, rows, numbers, strict=True):
                known[text] = TextRef(TextId(number), digest)
            self._fresh += missing
        return known

    def commit(self) -> None:
        """Keep the texts of a committed transaction in the cache, and drop the oldest."""
        self._room -= sum(map(len, self._fresh))
        self._fresh.clear()
        while self._room < 0:
            oldest, _ = self._known.popitem(last=False)
            self._room += len(oldest)

    def rollback(self) -> None:
        """Remove the texts of a transaction that was rolled back from the cache."""
        for text in self._fresh:
            self._known.pop(text, None)
        self._fresh.clear()


def hashes_of_ids(connection: Connection, ids: Iterable[int]) -> dict[int, bytes]:
    """The hash of each text; unknown ids are left out."""
    table = table_of(TextRow)
    found: dict[int, bytes] = {}
    for some in chunks(ids):
        rows = connection.execute(select(table.c.id, table.c.hash).where(table.c.id.in_(some)))
        found.update((row.id, bytes.fromhex(row.hash)) for row in rows)
    return found


def texts_of_ids(connection: Connection, ids: Iterable[int]) -> dict[int, str]:
    """The text of each id. Raises StoreError if one is missing or damaged."""
    table = table_of(TextRow)
    wanted = tuple(dict.fromkeys(ids))
    found: dict[int, str] = {}
    for some in chunks(wanted):
        for row in connection.execute(select(table).where(table.c.id.in_(some))):
            found[row.id] = unpack(row.body, row.size, bytes.fromhex(row.hash))
    for number in wanted:
        if number not in found:
            raise StoreError(f"text number {number} is not in the store")
    return found


def text_reader(connection: Connection) -> Callable[[int], str]:
    """A function that reads the text of an id, each text once. It raises as `texts_of_ids`."""
    return cache(lambda number: texts_of_ids(connection, [number])[number])


def chunks(keys: Iterable[K]) -> Iterable[Sequence[K]]:
    """`keys` without duplicates and in order, in groups that fit into one query."""
    wanted = tuple(dict.fromkeys(keys))
    return (wanted[start : start + _CHUNK] for start in range(0, len(wanted), _CHUNK))
