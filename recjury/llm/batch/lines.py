"""The files that an endpoint keeps for a batch, read line by line."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from typing import BinaryIO

import orjson

from recjury.llm.provider import Retryable
from recjury.llm.transport import MAX_BYTES, HttpResponse

_AT_ONCE = 500  # lines that are read before other tasks run

Fetch = Callable[[BinaryIO], Awaitable[None]]
"""Writes a file of the endpoint to the end of a local one."""


class ReplyLines:
    """The answers of a batch, on disk; each is taken once.

    If several lines have one `custom_id`, the first counts. A call whose line was
    taken has none any more. Lines that are not JSON, or not of the
    batch API's form, are skipped.
    """

    def __init__(self) -> None:
        """Begin without any line."""
        self._file = tempfile.TemporaryFile(prefix="recjury-replies-")  # noqa: SIM115 (closed by `close`)
        self._places: dict[str, tuple[int, int]] = {}
        self.answered: set[str] = set()
        """The calls whose line is a reply with status 200."""

    def __contains__(self, identity: object) -> bool:
        """Whether there is a line for the call."""
        return identity in self._places

    def __len__(self) -> int:
        """The number of lines that were not taken."""
        return len(self._places)

    async def add(self, fetch: Fetch, least: int) -> None:
        """Add a file of the endpoint; no line is taken meanwhile.

        Raises Retryable if it has fewer than `least` lines; those that it has are added.
        """
        start = self._file.seek(0, 2)
        await fetch(self._file)
        found = 0
        for number, (place, raw) in enumerate(_long_lines(self._file, start), 1):
            line = _parsed(raw)
            identity = line.get("custom_id")
            if isinstance(identity, str):
                found += 1
                if identity not in self._places:
                    self._places[identity] = (place, len(raw))
                    if _status(line) == 200:
                        self.answered.add(identity)
            if number % _AT_ONCE == 0:
                await asyncio.sleep(0)
        if found < least:
            raise Retryable(f"a file of {least:,} answers came with {found:,} lines")

    def take(self, identity: str) -> HttpResponse:
        """The answer to a call.

        Raises KeyError if there is none (any more), and Retryable if the endpoint did not process
        the request.
        """
        place, size = self._places.pop(identity)
        self.answered.discard(identity)
        self._file.seek(place)
        line = _parsed(self._file.read(size))
        status = _status(line)
        if status is None:
            error = line.get("error")
            found = error if isinstance(error, dict) else {}
            said = " ".join(str(found[name]) for name in ("code", "message") if found.get(name))
            raise Retryable(f"not processed in the batch: {said[:300] or 'no reason is given'}")
        response = line["response"]
        assert isinstance(response, dict)
        return HttpResponse(status, orjson.dumps(response.get("body")), {})

    def close(self) -> None:
        """Delete the local file."""
        self._places.clear()
        self._file.close()


async def identities_in(fetch: Fetch) -> set[str]:
    """The calls whose requests are in a file of the endpoint."""
    found: set[str] = set()
    with tempfile.TemporaryFile(prefix="recjury-batch-") as file:
        await fetch(file)
        for number, (_, raw) in enumerate(_long_lines(file, 0), 1):
            identity = _parsed(raw).get("custom_id")
            if isinstance(identity, str):
                found.add(identity)
            if number % _AT_ONCE == 0:
                await asyncio.sleep(0)
    return found


def _long_lines(file: BinaryIO, start: int) -> Iterator[tuple[int, bytes]]:
    """The lines of a file and their places; a line that is too long for memory is skipped."""
    skips = False
    while True:
        file.seek(start)
        raw = file.readline(MAX_BYTES)
        if not raw:
            return
        ends = raw.endswith(b"\n") or len(raw) < MAX_BYTES
        if ends and not skips:
            yield start, raw
        skips = not ends
        start += len(raw)


def _parsed(raw: bytes) -> dict[str, object]:
    try:
        parsed = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _status(line: dict[str, object]) -> int | None:
    response = line.get("response")
    status = response.get("status_code") if isinstance(response, dict) else None
    return status if isinstance(status, int) and not isinstance(status, bool) else None
