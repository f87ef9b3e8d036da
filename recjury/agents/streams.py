"""JSON values from a response: the whole body, a value a line, or server-sent events."""

import codecs
import json
from collections.abc import AsyncIterable, AsyncIterator
from typing import Any, Literal

from recjury.errors import SystemFailed
from recjury.keys import one_line

Stream = Literal["no", "sse", "lines"]

_LONGEST = 4_000_000  # bytes of a response, whatever it is made of


async def values_of(chunks: AsyncIterable[bytes], stream: Stream) -> AsyncIterator[Any]:
    """The values, as soon as each is complete. Raises SystemFailed for what is not JSON."""
    if stream == "no":
        yield _json("\n".join([line async for line in _lines(chunks)]))
    elif stream == "lines":
        async for line in _lines(chunks):
            if line.strip():
                yield _json(line)
    else:
        async for name, data in _events(_lines(chunks)):
            if data.strip() == "[DONE]":
                return
            value = _json(data)
            yield {"event": name} | value if name and isinstance(value, dict) else value


async def _events(lines: AsyncIterator[str]) -> AsyncIterator[tuple[str, str]]:
    """Name and data of each server-sent event (WHATWG HTML, 9.2.6), also of an unclosed last."""
    name, data = "", list[str]()
    async for line in lines:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
        elif not line:
            if data:
                yield name, "\n".join(data)
            name, data = "", []
    if data:
        yield name, "\n".join(data)


async def _lines(chunks: AsyncIterable[bytes]) -> AsyncIterator[str]:
    """Lines that end with a line feed, with or without a carriage return, and with nothing else."""
    decoder, rest, size = codecs.getincrementaldecoder("utf-8-sig")("replace"), "", 0
    async for chunk in chunks:
        size += len(chunk)
        if size > _LONGEST:
            raise SystemFailed(f"its response is longer than {_LONGEST:,} bytes")
        *lines, rest = (rest + decoder.decode(chunk)).split("\n")
        for line in lines:
            yield line.removesuffix("\r")
    yield rest.removesuffix("\r")


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise SystemFailed(f"expected JSON, got: {one_line(text)}") from None
