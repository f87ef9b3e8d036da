"""The Batch API over HTTP: files and batches, and what its errors are about."""

from collections.abc import AsyncIterator, Mapping
from typing import BinaryIO, NamedTuple, cast

import aiohttp
import orjson
from yarl import URL

from recjury.errors import ProviderError
from recjury.llm.batch.request_file import RequestFile, is_file_name
from recjury.llm.batch.spec import BatchModelSpec
from recjury.llm.endpoint_errors import error_of, provider_error
from recjury.llm.error_answer import read_error
from recjury.llm.policy import Kind
from recjury.llm.provider import Retryable
from recjury.llm.transport import (
    HttpResponse,
    HttpSession,
    TransportError,
    read_at_most,
    transport_error,
)

_ABSENT = frozenset({404, 405, 501})
_GONE = frozenset({404, 410})
_PAGE = 100
_MOST_PAGES = 1000
_CHUNK = 1 << 18
_TOO_LARGE = ("too large", "too big", "file size", "maximum size", "larger than")

_WITH_REPLIES = frozenset({"completed", "expired", "cancelled"})
_ACCEPTED = _WITH_REPLIES | {"in_progress", "finalizing"}
_ENDED = _WITH_REPLIES | {"failed"}


class GoneError(Exception):
    """The endpoint does not have this file or batch any more."""


class FileTooLargeError(Exception):
    """The endpoint refuses a file for its size."""


class LineError(NamedTuple):
    """Why a batch was refused as a whole; `line` is the number of the line at fault, from 1."""

    code: str
    message: str
    line: int | None


class BatchState(NamedTuple):
    """A batch at the endpoint, with the numbers of its requests."""

    id: str
    status: str
    input_file: str
    output_file: str | None
    error_file: str | None
    metadata: Mapping[str, str]
    created_at: float
    total: int
    completed: int
    failed: int
    errors: tuple[LineError, ...]

    @property
    def is_active(self) -> bool:
        """Whether it is under way."""
        return self.status not in _ENDED

    @property
    def is_accepted(self) -> bool:
        """Whether its requests are being answered, so it is not refused as a whole any more."""
        return self.status in _ACCEPTED

    @property
    def lacks_output(self) -> bool:
        """Whether it has replies, but no file of them."""
        return self.status in _WITH_REPLIES and self.completed > 0 and self.output_file is None


class BatchApi:
    """The files and batches of one endpoint.

    All methods raise Retryable for a fault that may pass, and ProviderError for a refused key or
    an endpoint without batches.
    """

    def __init__(self, spec: BatchModelSpec, key: str | None, session: HttpSession):
        """`session` is shared, and closed by its owner."""
        self._spec, self._key, self._session = spec, key, session
        self._headers = {"Accept-Encoding": "identity"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"

    async def upload(self, file: RequestFile, name: str) -> str:
        """Send a file; return its id. Raises FileTooLargeError."""
        form = file.form(name)
        headers = {**self._headers, **form.headers}
        response = await self._stream("POST", "/files", headers, body=form.chunks())
        said = response.body.decode("utf-8", "replace").lower()
        if response.status == 413 or (
            response.status == 400 and any(each in said for each in _TOO_LARGE)
        ):
            raise FileTooLargeError
        return str(self._read(response, "/files").get("id"))

    async def create(self, file: str, path: str, metadata: Mapping[str, str]) -> BatchState:
        """Begin a batch of the requests in `file` to the endpoint's `path`."""
        body = {
            "input_file_id": file,
            "endpoint": f"/v1{path}",
            "completion_window": self._spec.window,
            "metadata": metadata,
        }
        return _state(self._read(await self._send("POST", "/batches", body), "/batches"))

    async def state(self, batch: str) -> BatchState:
        """The batch as it is now. Raises GoneError."""
        response = await self._send("GET", f"/batches/{batch}")
        if response.status in _GONE:
            raise GoneError
        return _state(self._read(response, "/batches"))

    async def batches(self) -> AsyncIterator[BatchState]:
        """All batches of the account, the newest first."""
        async for each in self._pages("/batches", f"limit={_PAGE}"):
            yield _state(each)

    async def files(self) -> dict[str, str]:
        """The ids of the files that were written here, by name; the newest has a name."""
        found: dict[str, str] = {}
        async for each in self._pages("/files", f"purpose=batch&limit={_PAGE}"):
            name = str(each.get("filename"))
            if is_file_name(name):
                found.setdefault(name, str(each.get("id")))
        return found

    async def download(self, file: str, into: BinaryIO) -> None:
        """Write a file's content at the end of `into`. Raises GoneError."""
        path, start = f"/files/{file}/content", into.seek(0, 2)
        try:
            response = await self._stream("GET", path, self._headers, into=into)
        except Retryable:
            into.seek(start)
            into.truncate()  # a part of it
            raise
        if response.status in _GONE:
            raise GoneError
        if response.status != 200:
            self._read(response, path)

    async def delete(self, file: str) -> None:
        """Delete a file, if it is still there."""
        await self._send("DELETE", f"/files/{file}")

    async def check(self) -> None:
        """Raise ProviderError if the endpoint has no batches, or refuses the key for them."""
        self._read(await self._send("GET", "/batches?limit=1"), "/batches")

    async def _pages(self, path: str, query: str) -> AsyncIterator[dict[str, object]]:
        after = ""
        for _ in range(_MOST_PAGES):
            page = self._read(await self._send("GET", f"{path}?{query}{after}"), path)
            rows = list(cast("list[object]", page.get("data") or []))
            for row in rows:
                if isinstance(row, dict):
                    yield row
            last = rows[-1] if rows else None
            if not page.get("has_more") or not isinstance(last, dict):
                return
            after = f"&after={last.get('id')}"

    async def _send(
        self, method: str, path: str, body: Mapping[str, object] | None = None
    ) -> HttpResponse:
        headers = self._headers | ({"Content-Type": "application/json"} if body else {})
        raw = None if body is None else orjson.dumps(body)
        url = URL(self._spec.base_url + path)
        try:
            return await self._session.request(method, url, raw, headers, self._spec.timeout)
        except TransportError as error:
            raise _unreachable(error) from None

    async def _stream(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        *,
        body: AsyncIterator[bytes] | None = None,
        into: BinaryIO | None = None,
    ) -> HttpResponse:
        """One request whose body, or whose answer (written to `into`), is too large for memory.

        The time limit is one for each pause, not for the whole.
        """
        seconds = self._spec.timeout
        limit = aiohttp.ClientTimeout(total=None, sock_connect=seconds, sock_read=seconds)
        url = URL(self._spec.base_url + path)
        try:
            async with self._session.opened().request(
                method, url, data=body, headers=headers, timeout=limit, allow_redirects=False
            ) as response:
                encoding = response.headers.get("Content-Encoding", "identity").lower()
                if into is not None and encoding not in {"", "identity"}:
                    # Its lines could not be read, and their requests would be sent again.
                    raise TransportError(f"the file is compressed ({encoding[:40]})")
                if into is None or response.status != 200:
                    raw = await read_at_most(response, self._session.max_bytes)
                    kept = {name.lower(): text for name, text in response.headers.items()}
                    return HttpResponse(response.status, raw, kept)
                async for part in response.content.iter_chunked(_CHUNK):
                    into.write(part)
                return HttpResponse(200, b"", {})
        except (aiohttp.ClientError, OSError) as error:
            raise _unreachable(transport_error(error, seconds)) from None
        except TransportError as error:
            raise _unreachable(error) from None

    def _read(self, response: HttpResponse, path: str) -> dict[str, object]:
        """The object in an answer; raises what an error answer is about."""
        if 200 <= response.status < 300:
            try:
                parsed = orjson.loads(response.body)
            except orjson.JSONDecodeError:
                parsed = None
            if not isinstance(parsed, dict):
                raise Retryable(f"the answer of {path} is not JSON ({len(response.body)} bytes)")
            return parsed
        answer = read_error(response.status, response.body)
        if response.status in _ABSENT:
            advice = "it may have no batches: use provider openai"
            raise provider_error(self._spec, f"HTTP {response.status} for {path}", advice)
        error = error_of(answer, response.headers, self._spec, self._key)
        if isinstance(error, Retryable | ProviderError):
            raise error
        raise provider_error(self._spec, f"{path}: {error}", "check that it takes batches")


def _unreachable(error: TransportError) -> Retryable:
    return Retryable(str(error), Kind.LOST if error.connected else Kind.NO_CONNECTION)


def _state(row: Mapping[str, object]) -> BatchState:
    """Raises Retryable for an object that is no batch."""
    if not isinstance(row.get("id"), str) or not isinstance(row.get("status"), str):
        raise Retryable("the answer of /batches is not a batch")
    counts, metadata = _mapping(row.get("request_counts")), _mapping(row.get("metadata"))
    errors = _mapping(row.get("errors")).get("data")
    return BatchState(
        id=str(row["id"]),
        status=str(row["status"]).lower(),
        input_file=str(row.get("input_file_id") or ""),
        output_file=_name(row.get("output_file_id")),
        error_file=_name(row.get("error_file_id")),
        metadata={name: str(value) for name, value in metadata.items()},
        created_at=_number(row.get("created_at")),
        total=int(_number(counts.get("total"))),
        completed=int(_number(counts.get("completed"))),
        failed=int(_number(counts.get("failed"))),
        errors=tuple(_errors(errors)) if isinstance(errors, list) else (),
    )


def _errors(rows: list[object]) -> list[LineError]:
    found = (_mapping(row) for row in rows)
    return [
        LineError(
            str(each.get("code") or ""),
            str(each.get("message") or ""),
            int(_number(each.get("line"))) or None,
        )
        for each in found
    ]


def _mapping(found: object) -> Mapping[str, object]:
    return found if isinstance(found, dict) else {}


def _name(found: object) -> str | None:
    return found if isinstance(found, str) and found else None


def _number(found: object) -> float:
    return found if isinstance(found, int | float) and not isinstance(found, bool) else 0.0
