"""The Batch API over HTTP: its files and batches. Requests are repeated until they are answered."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, BinaryIO, cast

import aiohttp
import orjson
from pydantic import ValidationError
from yarl import URL

from recjury.errors import CallFailed, ProviderError
from recjury.llm.batch.lines import identities_in
from recjury.llm.batch.persistence import insist
from recjury.llm.batch.spec import BatchModelSpec
from recjury.llm.batch.state import EXPIRY_SECONDS, BatchState
from recjury.llm.endpoint_errors import error_of, provider_error
from recjury.llm.error_answer import read_error
from recjury.llm.event_loop import Clock
from recjury.llm.policy import Kind
from recjury.llm.provider import Retryable
from recjury.llm.transport import (
    HttpSession,
    TransportError,
    proxy_of,
    read_at_most,
    transport_error,
)

_ABSENT = frozenset({404, 405, 501})
_GONE = frozenset({404, 410})
_PAGE = 100
_MOST_PAGES = 1000
_CHUNK = 1 << 18
_PREFIX = "recjury-"
_ID, _MODEL, _REQUESTS = "recjury_batch", "recjury_model", "recjury_requests"
_LONGEST = 512  # characters of a value of the metadata
_EXCHANGE_SECONDS = 3600.0  # for one file, however slowly it comes or is taken

_LONGEST_LINE = 2**20  # bytes of a request or an answer, on average over a file
_LEAST_FILE = 2**28  # bytes that a file may have in any case


class GoneError(Exception):
    """The endpoint does not have this file or batch any more."""


class BatchApi:
    """The files and batches of one model's endpoint.

    Methods raise ProviderError for a refused key or an endpoint without batches, and CallFailed
    if the endpoint does not answer within the patience of the model's settings.
    """

    def __init__(self, spec: BatchModelSpec, key: str | None, session: HttpSession, clock: Clock):
        """`session` is shared, and closed by its owner."""
        self._spec, self._session, self._clock = spec, session, clock
        self._insist = partial(insist, spec, clock)
        self._headers = {} if key is None else {"Authorization": f"Bearer {key}"}

    async def check(self) -> None:
        """Send one request. Raises Retryable, too, because it is not repeated."""
        await self._ask("GET", "/batches?limit=1")

    async def send(self, file: BinaryIO, path: str, *, batch: str, requests: int) -> BatchState:
        """Upload a file of so many requests to the endpoint's `path`, and begin its batch.

        `batch` is an id of our own, by which the batch is found if the answer is lost. It is in
        the batch's metadata and in the name of the file.
        """

        async def upload() -> str:
            form = aiohttp.FormData({"purpose": "batch"})
            file.seek(0)
            copy = os.fdopen(os.dup(file.fileno()), "rb")  # aiohttp closes what it has sent
            form.add_field("file", copy, filename=f"{_PREFIX}{batch}.jsonl")
            return str((await self._ask("POST", "/files", data=form)).get("id"))

        body = {
            "input_file_id": await self._insist("upload a batch", upload),
            "endpoint": f"/v1{path}",
            "completion_window": self._spec.window,
            "metadata": {
                _ID: batch,
                _MODEL: self._spec.name[:_LONGEST],
                _REQUESTS: str(requests),
            },
        }
        is_sent = False

        async def create() -> BatchState:
            nonlocal is_sent
            if is_sent:  # an answer was lost, and perhaps only the answer
                async for state in self.batches():
                    if state.metadata and state.metadata[_ID] == batch:
                        return state
            is_sent = True
            return _state(await self._ask("POST", "/batches", json=body))

        return await self._insist("send a batch", create)

    async def state(self, batch: str) -> BatchState:
        """The batch as it is now. Raises GoneError."""

        async def look() -> BatchState:
            state = _state(await self._ask("GET", f"/batches/{batch}", gone=_GONE))
            if state.lacks_output:
                raise Retryable("the file of its replies is not named yet")
            return state

        return await self._insist(f"ask for batch {batch}", look)

    async def cancel(self, batch: str) -> None:
        """Ask the endpoint to end a batch. It may refuse, or not answer."""
        with suppress(GoneError, Retryable, ProviderError, CallFailed):
            await self._ask("POST", f"/batches/{batch}/cancel", gone=_GONE)

    async def batches(self) -> AsyncIterator[BatchState]:
        """The batches that recjury sent for this model in the last month, the newest first."""
        oldest = self._clock.wall() - EXPIRY_SECONDS
        async for row in self._pages("/batches", ""):
            state = _state(row)
            if state.created_at and state.created_at < oldest:
                return
            metadata = state.metadata or {}
            if _ID in metadata and metadata.get(_MODEL) == self._spec.name[:_LONGEST]:
                yield state

    async def request_files(self) -> set[str]:
        """The ids of the files of requests that recjury uploaded."""
        rows = [row async for row in self._pages("/files", "&purpose=batch")]
        return {str(row.get("id")) for row in rows if str(row.get("filename")).startswith(_PREFIX)}

    async def calls(self, state: BatchState) -> list[str]:
        """The identities of the calls of a batch, from its file of requests.

        Raises ProviderError if the endpoint does not give that file.
        """
        with tempfile.TemporaryFile(prefix="recjury-batch-") as file:
            try:
                await self.download(state.input_file_id, file, state.counts.total)
            except (GoneError, ProviderError):
                came = f"the requests of batch {state.id}, which is under way, cannot be read"
                advice = "run again when it has ended, so that nothing is sent twice"
                raise provider_error(self._spec, came, advice) from None
            return identities_in(file)

    async def download(self, file: str, into: BinaryIO, lines: int) -> None:
        """Write a file of about so many JSON lines at the end of `into`. Raises GoneError.

        A file that is far too large, or would fill the disk, is given up with CallFailed.
        """
        start = into.seek(0, 2)
        free = shutil.disk_usage(tempfile.gettempdir()).free
        most = min(_LEAST_FILE + lines * _LONGEST_LINE, free // 2)

        async def fetch() -> None:
            into.seek(start)
            into.truncate()  # a part of it, if this is not the first time
            async with self._exchange("GET", f"/files/{file}/content") as response:
                if response.status != 200:
                    await self._read(response, gone=_GONE)
                async for part in response.content.iter_chunked(_CHUNK):
                    into.write(part)
                    if into.tell() - start > most:
                        response.close()
                        into.truncate(start)
                        raise CallFailed(
                            f"{self._spec.address}: the file {file} of a batch has more than "
                            f"{most // 2**20} MB, too much for {lines} requests: delete it there"
                        )
            into.seek(start)
            if into.read(1) not in {b"{", b""}:
                # As if empty, its requests would be sent, and paid for, a second time.
                raise Retryable("no JSON lines: if that stays so, delete it there")

        await self._insist(f"read the file {file} of a batch", fetch)

    async def delete(self, *files: str | None) -> None:
        """Delete files that are still there. Raises Retryable."""
        for file in filter(None, files):
            async with self._exchange("DELETE", f"/files/{file}"):
                pass

    async def _pages(self, path: str, query: str) -> AsyncIterator[dict[str, object]]:
        address = f"{path}?limit={_PAGE}{query}"
        after = ""
        for _ in range(_MOST_PAGES):
            action = partial(self._ask, "GET", address + after)
            page = await self._insist(f"list {path}", action)
            rows = cast("list[dict[str, object]]", page.get("data") or [])
            for row in rows:
                yield row
            last = f"&after={rows[-1].get('id')}" if rows else after
            if not page.get("has_more") or last == after:  # or it knows no pages
                return
            after = last
        came, advice = f"{path} has no end", "delete what is old there"
        raise provider_error(self._spec, came, advice)

    async def _ask(
        self, method: str, path: str, *, gone: frozenset[int] = frozenset(), **content: Any
    ) -> dict[str, object]:
        async with (
            self._exchange(method, path, **content) as response,
            asyncio.timeout(self._spec.timeout),
        ):
            return await self._read(response, gone=gone)

    @asynccontextmanager
    async def _exchange(
        self, method: str, path: str, **content: Any
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """One request. `timeout` limits each pause, because files are large."""
        seconds = self._spec.timeout
        limit = aiohttp.ClientTimeout(total=None, sock_connect=seconds, sock_read=seconds)
        url = URL(self._spec.base_url + path)
        try:
            async with (
                asyncio.timeout(_EXCHANGE_SECONDS),
                self._session.opened().request(
                    method,
                    url,
                    headers=self._headers,
                    timeout=limit,
                    allow_redirects=False,
                    proxy=proxy_of(url),
                    **content,
                ) as response,
            ):
                yield response
        except (aiohttp.ClientError, OSError) as error:
            raise _unreachable(transport_error(error, seconds)) from None
        except TransportError as error:
            raise _unreachable(error) from None

    async def _read(
        self, response: aiohttp.ClientResponse, *, gone: frozenset[int]
    ) -> dict[str, object]:
        """The JSON object in an answer; raises what an error answer is about."""
        body = await read_at_most(response, self._session.max_bytes)
        path = response.url.path
        if 200 <= response.status < 300:
            try:
                return cast("dict[str, object]", _object(body))
            except orjson.JSONDecodeError:
                raise Retryable(f"the answer of {path} is not JSON ({len(body)} bytes)") from None
        if response.status in gone:
            raise GoneError
        if response.status in _ABSENT:
            advice = "it may have no batches: use provider openai"
            raise provider_error(self._spec, f"HTTP {response.status} for {path}", advice)
        headers = {name.lower(): text for name, text in response.headers.items()}
        answer = read_error(response.status, body)
        error = error_of(answer, headers, self._spec)
        if isinstance(error, Retryable | ProviderError):
            raise error
        advice = "check that it takes batches, and such large ones (batch_size, batch_mb)"
        raise provider_error(self._spec, f"{path}: {error}", advice)


def _object(body: bytes) -> object:
    parsed: object = orjson.loads(body)
    if not isinstance(parsed, dict):
        raise orjson.JSONDecodeError("no object", "", 0)
    return parsed


def _unreachable(error: TransportError) -> Retryable:
    return Retryable(str(error), Kind.LOST if error.connected else Kind.NO_CONNECTION)


def _state(row: Mapping[str, object]) -> BatchState:
    try:
        return BatchState.model_validate(row)
    except ValidationError:
        raise Retryable("the answer of /batches is not a batch") from None
