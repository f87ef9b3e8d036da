"""The requests of one batch as a file, kept on disk until it is sent."""

import hashlib
import tempfile
import uuid
from collections.abc import AsyncIterator

import orjson

_CHUNK = 1 << 18
_PREFIX = "recjury-"


class RequestFile:
    """The lines of one batch, each with the identity of its call."""

    def __init__(self) -> None:
        """Begin an empty file, which has no name in the file system."""
        self._file = tempfile.TemporaryFile(prefix="recjury-batch-")  # noqa: SIM115 (closed by `close`)
        self.identities: dict[str, None] = {}
        self.size = 0

    def __len__(self) -> int:
        """The number of requests."""
        return len(self.identities)

    def add(self, identity: str, line: bytes) -> None:
        """Add the line of one call."""
        self._file.write(line)
        self.identities[identity] = None
        self.size += len(line)

    @property
    def digest(self) -> str:
        """32 hex digits that identify the set of calls, in whatever order."""
        every = "\n".join(sorted(self.identities))
        return hashlib.sha256(every.encode()).hexdigest()[:32]

    def close(self) -> None:
        """Delete the file."""
        self._file.close()

    def form(self, name: str) -> "UploadForm":
        """The body of an upload under this file name."""
        return UploadForm(self, name)

    async def chunks(self) -> AsyncIterator[bytes]:
        """The lines, in parts."""
        place = 0
        while True:
            self._file.seek(place)
            part = self._file.read(_CHUNK)
            if not part:
                break
            place += len(part)
            yield part
        self._file.seek(0, 2)


class FileLimits:
    """The most that a file may have; smaller if the endpoint refuses larger ones."""

    def __init__(self, requests: int, size: int):
        """The limits at first, which are never exceeded; `size` is in bytes."""
        self.requests, self.bytes = requests, size
        self.grown = 0
        """How often they became larger."""
        self._most_requests, self._most_bytes = requests, size

    def is_full(self, file: RequestFile, more: int = 0) -> bool:
        """Whether a line of `more` bytes does not fit; with 0, whether no line does."""
        if not len(file):
            return False
        return len(file) >= self.requests or file.size + more > self.bytes

    def are_exceeded(self, file: RequestFile) -> bool:
        """Whether the file is larger than one may be now."""
        return len(file) > 1 and (len(file) > self.requests or file.size > self.bytes)

    def halve(self, file: RequestFile, *, for_good: bool = False) -> None:
        """Make files at most half as large as this one; `for_good`: they never grow again."""
        requests, size = max(1, len(file) // 2), file.size // 2 + 1
        self.requests, self.bytes = min(self.requests, requests), min(self.bytes, size)
        if for_good:
            self._most_requests = min(self._most_requests, requests)
            self._most_bytes = min(self._most_bytes, size)

    def grow(self, file: RequestFile) -> None:
        """Allow twice as much as this file has, which was accepted."""
        requests = max(self.requests, min(self._most_requests, 2 * len(file)))
        size = max(self.bytes, min(self._most_bytes, 2 * file.size))
        if (requests, size) != (self.requests, self.bytes):
            self.requests, self.bytes, self.grown = requests, size, self.grown + 1


class UploadForm:
    """A multipart form with the purpose and the file; its length is known before it is sent."""

    def __init__(self, file: RequestFile, name: str):
        """`name` is the file's name at the endpoint."""
        boundary = uuid.uuid4().hex
        self._file = file
        self._before = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
            "Content-Type: application/jsonl\r\n\r\n"
        ).encode()
        self._after = f"\r\n--{boundary}--\r\n".encode()
        self.headers = {
            "Content-Type": f"multipart/form-data; boundary={boundary}",
            "Content-Length": str(len(self._before) + file.size + len(self._after)),
        }

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body."""
        yield self._before
        async for part in self._file.chunks():
            yield part
        yield self._after


def request_line(identity: str, path: str, body: dict[str, object]) -> bytes:
    """One line of a file. Raises TypeError for text that is not valid Unicode."""
    line = {"custom_id": identity, "method": "POST", "url": f"/v1{path}", "body": body}
    return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)


def file_name(digest: str, attempt: int) -> str:
    """The name of a batch's file at the endpoint."""
    return f"{_PREFIX}{digest}-{attempt}.jsonl"


def is_file_name(name: str) -> bool:
    """Whether a file at the endpoint was written here."""
    return name.startswith(_PREFIX)
