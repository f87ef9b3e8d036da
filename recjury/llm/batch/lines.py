"""The lines of a batch's files: requests, and the answers to them."""

import asyncio
import tempfile
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

import orjson

from recjury.input_files import MAX_LINE
from recjury.llm.provider import Retryable
from recjury.llm.transport import HttpResponse


def request_line(identity: str, path: str, body: dict[str, object]) -> bytes:
    """One line of a file of requests. Raises TypeError for text that is not valid Unicode."""
    line = {"custom_id": identity, "method": "POST", "url": f"/v1{path}", "body": body}
    return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)


def identities_in(file: BinaryIO) -> list[str]:
    """The calls whose requests are in a file."""
    file.seek(0)
    return [str(_parsed(raw).get("custom_id")) for raw in _lines(file)]


class AnswerLines:
    """The answers of a batch, on disk; each is taken once.

    If several lines have one `custom_id`, the first counts. Lines that are not JSON, or not of the
    Batch API's form, are skipped.
    """

    def __init__(self) -> None:
        """Begin without any line."""
        self._file: BinaryIO | None = None
        self._places: dict[str, tuple[int, int]] = {}
        self.answered: set[str] = set()
        """The calls whose line is a reply with status 200."""

    @property
    def file(self) -> BinaryIO:
        """The file, which others write to and `index` then reads; made when it is first used."""
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="recjury-replies-")  # noqa: SIM115
        return self._file

    def __contains__(self, identity: object) -> bool:
        """Whether there is a line for the call that was not taken."""
        return identity in self._places

    def __len__(self) -> int:
        """The number of lines that were not taken."""
        return len(self._places)

    async def index(self) -> None:
        """Find the lines in the file; no line is taken meanwhile."""
        await asyncio.to_thread(self._index)

    def take(self, identity: str) -> HttpResponse:
        """The answer to a call.

        Raises KeyError if there is none (any more), and Retryable if the endpoint did not process
        the request.
        """
        start, size = self._places.pop(identity)
        self.answered.discard(identity)
        self.file.seek(start)
        line = _parsed(self.file.read(size))
        status = _status(line)
        if status is None:
            error = line.get("error")
            fields = error if isinstance(error, dict) else {}
            reason = " ".join(str(fields[key]) for key in ("code", "message") if fields.get(key))
            raise Retryable(f"not processed in the batch: {reason[:300] or 'no reason is given'}")
        response = line["response"]
        assert isinstance(response, dict)
        return HttpResponse(status, orjson.dumps(response.get("body")), {})

    def close(self) -> None:
        """Delete the file."""
        self._places.clear()
        if self._file is not None:
            self._file.close()

    def _index(self) -> None:
        start = self.file.seek(0)
        for raw in _lines(self.file):
            line = _parsed(raw)
            identity = line.get("custom_id")
            if isinstance(identity, str) and identity not in self._places:
                self._places[identity] = (start, len(raw))
                if _status(line) == 200:
                    self.answered.add(identity)
            start += len(raw)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file; one that is too long comes in parts, which are not JSON."""
    return iter(partial(file.readline, MAX_LINE), b"")


def _parsed(raw: bytes) -> dict[str, object]:
    try:
        parsed = orjson.loads(raw)
        orjson.dumps(parsed)  # `take` does it: it writes less deep values than it reads
    except (TypeError, ValueError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _status(line: dict[str, object]) -> int | None:
    response = line.get("response")
    status = response.get("status_code") if isinstance(response, dict) else None
    return status if isinstance(status, int) else None
