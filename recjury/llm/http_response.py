"""What comes back over HTTP: a response, or the reason why there is none."""

import zlib
from typing import NamedTuple

from recjury.llm.quota import QUOTA_HEADERS

MAX_BYTES = 16 * 2**20
"""The largest response that is read. The longest known are lists of embeddings."""

KEPT_HEADERS = frozenset(
    {
        "retry-after",
        "retry-after-ms",
        "location",
        "date",
        "content-length",
        "content-encoding",
        "transfer-encoding",
        *QUOTA_HEADERS,
    }
)
"""The headers that are read, in lower case."""


class HttpResponse(NamedTuple):
    """A response. `headers` has those of `KEPT_HEADERS`, with names in lower case."""

    status: int
    body: bytes
    headers: dict[str, str]


class TransportError(Exception):
    """No complete response arrived. `connected` is False if the request cannot have arrived
    either."""

    def __init__(self, reason: str, *, connected: bool = True):
        """Store the reason: one line without a key."""
        super().__init__(reason)
        self.connected = connected


class TooLargeError(TransportError):
    """The response is larger than the session's limit."""


def too_large(most: int) -> TooLargeError:
    """The error for a response of more than `most` bytes."""
    return TooLargeError(f"the answer is larger than {most} bytes")


def broken(how: str) -> TransportError:
    """The error for a connection that ended before the response did."""
    return TransportError(f"the connection broke ({how})")


def unpacked(raw: bytes, encoding: str, most: int) -> bytes:
    """`raw` without the compression that Content-Encoding names.

    Raises TooLargeError beyond `most` bytes, and TransportError for what cannot be unpacked.
    """
    encoding = encoding.strip().lower()
    if encoding in {"", "identity"}:
        return raw
    if encoding not in {"gzip", "x-gzip", "deflate"}:
        raise TransportError(f"the answer is compressed ({encoding[:40]}), and was not asked to be")
    # 32: with the header of gzip or of zlib; negative: deflate without a header.
    for window in (32 + zlib.MAX_WBITS, -zlib.MAX_WBITS):
        stream = zlib.decompressobj(window)
        try:
            found = stream.decompress(raw, most + 1)
        except zlib.error:
            continue
        if len(found) > most:
            raise too_large(most)
        if stream.eof:
            return found
    raise TransportError("the compressed answer cannot be unpacked")
