"""A scripted Batch API on 127.0.0.1: files, batches and their faults, over real HTTP in a thread.

    with BatchEndpoint(lambda body: "<rating>3</rating>") as endpoint:
        spec = BatchModelSpec(base_url=endpoint.url, name="scripted", wait=0.05, poll=0.05)

It counts how often each request was processed (`processed`) and read (`read`). What goes wrong is
set in `faults`. While `held` is not set, batches do not end. /v1/chat/completions answers single
requests (`plain`) and checks, and counts them apart.
"""

import asyncio
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

from recjury.llm.endpoint_check import CHECK_PROMPT
from tests.answers import in_form
from tests.scripted_server import Body, completion, prompt

Line = dict[str, Any]
Answer = Callable[[Body], str]


@dataclass
class Faults:
    """What goes wrong. Numbers are used up: 2 for the next two requests."""

    uploads_refused: int = 0  # 429
    uploads_unanswered: int = 0  # the file is kept, the answer is lost
    creations_unanswered: int = 0
    creations_hanging: int = 0  # nothing is created, and nothing is answered
    downloads_cut: int = 0
    polls_failing: int = 0  # 503
    outputs_unnamed: int = 0  # looks at a batch that is over, before its files are named
    pages_for_files: int = 0  # a proxy's page with status 200
    largest_file: int = 1 << 40
    shuffled: bool = False
    doubled: bool = False
    missing: int = 0  # lines of the next batch that come back nowhere
    expired: int = 0  # lines of the next batch that expire
    unreadable: int = 0  # lines of the next output that are not JSON
    refused_batches: list[list[Line]] = field(default_factory=list)  # errors of the next batches
    line: Callable[[Line], Line | None] = lambda _: None  # another answer to a request
    inputs_hidden: bool = False  # files of requests cannot be downloaded
    shown: Callable[[Body], object] = lambda state: state  # a batch, as it is described
    output: Callable[[bytes], bytes] = lambda content: content  # a file of answers, as it is kept
    listed: Callable[[Body], object] = lambda page: page  # a page of a list
    instead: Callable[[web.Request], web.Response | None] = lambda _: None  # of any answer
    cancels: bool = False  # batches can be cancelled, and then end from now on
    drips: bool = False  # a byte of a file in each tenth of a second
    hangs: str = ""  # requests with this method and path are never answered


@dataclass
class Batch:
    """A batch and its files."""

    id: str
    input: str
    metadata: dict[str, str]
    created: float
    seconds: float
    requests: list[Line]
    output: str | None = None
    errors: str | None = None
    status: str = ""
    refusals: list[Line] = field(default_factory=list)
    created_at: int = field(default_factory=lambda: int(time.time()))


class BatchEndpoint:
    """The server, and what it has seen."""

    def __init__(self, answer: Answer, *, key: str | None = None, seconds: float = 0.1):
        """A batch takes `seconds` from its creation; `key` is demanded if given."""
        self.answer, self.key, self.seconds = answer, key, seconds
        self.faults = Faults()
        self.files: dict[str, tuple[str, bytes]] = {}
        self.batches: dict[str, Batch] = {}
        self.processed: Counter[str] = Counter()
        self.read: Counter[str] = Counter()
        self.uploads = self.checks = self.plain = self.polls = 0
        self.deleted: list[str] = []
        self.held = threading.Event()
        self.held.set()
        self.hanging = threading.Event()
        self._ids = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.url = ""

    def __enter__(self) -> Self:
        """Start listening."""
        self._thread.start()
        port = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        self.url = f"http://127.0.0.1:{port}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self.held.set()
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    @property
    def sizes(self) -> list[int]:
        """The number of requests of each batch, in order."""
        return [len(each.requests) for each in self.batches.values()]

    async def _listen(self) -> int:
        app = web.Application(client_max_size=1 << 30, middlewares=[self._key_needed, self._fault])
        app.router.add_post("/v1/files", self._upload)
        app.router.add_get("/v1/files", self._list_files)
        app.router.add_get("/v1/files/{id}/content", self._content)
        app.router.add_delete("/v1/files/{id}", self._delete)
        app.router.add_post("/v1/batches", self._create)
        app.router.add_get("/v1/batches", self._list_batches)
        app.router.add_get("/v1/batches/{id}", self._batch)
        app.router.add_post("/v1/batches/{id}/cancel", self._cancel)
        app.router.add_post("/v1/chat/completions", self._chat)
        self._runner = web.AppRunner(
            app, access_log=None, shutdown_timeout=0.01, handler_cancellation=True
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return int(self._runner.addresses[0][1])

    @web.middleware
    async def _key_needed(self, request: web.Request, handler: Any) -> web.StreamResponse:
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            return _error(401, "Incorrect API key provided", "invalid_api_key")
        response: web.StreamResponse = await handler(request)
        return response

    @web.middleware
    async def _fault(self, request: web.Request, handler: Any) -> web.StreamResponse:
        if f"{request.method} {request.path}" == self.faults.hangs:
            await asyncio.Event().wait()
        instead = self.faults.instead(request)
        response: web.StreamResponse = await handler(request) if instead is None else instead
        return response

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        file = form["file"]
        assert form["purpose"] == "batch"
        assert isinstance(file, web.FileField)
        content = file.file.read()
        if self._use("uploads_refused"):
            response = _error(429, "Rate limit reached")
            response.headers["Retry-After"] = "0"
            return response
        if len(content) > self.faults.largest_file:
            return _error(413, "File is too large")
        self.uploads += 1
        found = self._keep(file.filename, content)
        if self._use("uploads_unanswered"):
            return _lost(request)
        return web.json_response(self._file(found))

    async def _list_files(self, request: web.Request) -> web.StreamResponse:
        assert request.query["purpose"] == "batch"
        return web.json_response(
            _page(request, [self._file(name) for name in reversed(self.files)])
        )

    async def _content(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["id"]
        if name not in self.files:
            return _error(404, "No such File object")
        filename, content = self.files[name]
        if self._use("pages_for_files"):
            return web.Response(text="<html>Sign in</html>", content_type="text/html")
        if filename.startswith("recjury-") and self.faults.inputs_hidden:
            return _error(403, "Not allowed to download files of purpose: batch")
        if self._use("downloads_cut"):
            response = web.StreamResponse(headers={"Content-Length": str(len(content))})
            await response.prepare(request)
            await response.write(content[: len(content) // 2])
            return _lost(request)
        if not filename.startswith("recjury-"):
            self.read.update(_parsed(raw).get("custom_id", "") for raw in content.splitlines())
        if self.faults.drips:
            drip = web.StreamResponse()
            await drip.prepare(request)
            for byte in content:
                await drip.write(bytes([byte]))
                await asyncio.sleep(0.1)
            return drip
        return web.Response(body=content)

    async def _delete(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["id"]
        if self.files.pop(name, None) is None:
            return _error(404, "No such File object")
        self.deleted.append(name)
        return web.json_response({"id": name, "deleted": True})

    async def _create(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if self._use("creations_hanging"):
            self.hanging.set()
            await asyncio.Event().wait()
        assert body["completion_window"] == "24h"
        assert body["endpoint"] == "/v1/chat/completions"
        _, content = self.files[body["input_file_id"]]
        requests = [json.loads(raw) for raw in content.splitlines()]
        assert len({line["custom_id"] for line in requests}) == len(requests)
        name, refusals = self._id("batch"), self.faults.refused_batches
        batch = Batch(
            name, body["input_file_id"], body["metadata"], time.monotonic(), self.seconds, requests
        )
        self.batches[name] = batch
        if refusals:
            batch.status, batch.refusals = "failed", refusals.pop(0)
        else:
            self.processed.update(line["custom_id"] for line in requests)
        if self._use("creations_unanswered"):
            return _lost(request)
        return web.json_response(self.faults.shown(self._shown(batch)))

    async def _list_batches(self, request: web.Request) -> web.StreamResponse:
        shown = [self.faults.shown(self._shown(each)) for each in reversed(self.batches.values())]
        return web.json_response(self.faults.listed(_page(request, shown)))

    async def _batch(self, request: web.Request) -> web.StreamResponse:
        self.polls += 1
        if self._use("polls_failing"):
            return _error(503, "Overloaded")
        found = self.batches.get(request.match_info["id"])
        if found is None:
            return _error(404, "No such batch")
        return web.json_response(self.faults.shown(self._shown(found)))

    async def _cancel(self, request: web.Request) -> web.StreamResponse:
        batch = self.batches[request.match_info["id"]]
        if not self.faults.cancels:
            return _error(400, "Cannot cancel a batch with this status")
        self._end(batch)
        batch.status = "cancelled"
        self.held.set()
        return web.json_response(self._shown(batch))

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if CHECK_PROMPT in prompt(body):
            self.checks += 1
            return web.json_response(completion("ok"))
        self.plain += 1
        return web.json_response(self._completion(body))

    def _shown(self, batch: Batch) -> Body:
        share = min(1.0, (time.monotonic() - batch.created) / max(batch.seconds, 1e-9))
        if not batch.status and share >= 1 and self.held.is_set():
            self._end(batch)
        total = len(batch.requests)
        named = not (batch.status and self._use("outputs_unnamed"))
        answered = self._lines(batch.output) if batch.status else int(min(share, 0.99) * total)
        return {
            "id": batch.id,
            "object": "batch",
            "status": batch.status or "in_progress",
            "input_file_id": batch.input,
            "output_file_id": batch.output if named else None,
            "error_file_id": batch.errors,
            "endpoint": "/v1/chat/completions",
            "metadata": batch.metadata,
            "created_at": batch.created_at,
            "request_counts": {
                "total": total,
                "completed": answered,
                "failed": self._lines(batch.errors),
            },
            "errors": {"object": "list", "data": batch.refusals} if batch.refusals else None,
        }

    def _end(self, batch: Batch) -> None:
        """Answer all requests of a batch, as far as nothing goes wrong."""
        faults, output, errors = self.faults, list[bytes](), list[bytes]()
        left = list(batch.requests)
        missing, faults.missing = faults.missing, 0
        expired, faults.expired = faults.expired, 0
        unreadable, faults.unreadable = faults.unreadable, 0
        del left[:missing]
        for line in left[:expired]:
            error = {"code": "batch_expired", "message": "This request could not be executed"}
            errors.append(_line(line, None, error))
        for line in left[expired:]:
            other = faults.line(line)
            if other is None:
                reply = {"status_code": 200, "body": self._completion(line["body"])}
                output.append(_line(line, reply, None))
            elif "status_code" in other:
                errors.append(_line(line, other, None))
            else:
                errors.append(_line(line, None, other))
        output[:unreadable] = [raw[: len(raw) // 2] for raw in output[:unreadable]]
        if faults.doubled:
            output *= 2
        if faults.shuffled:
            random.Random(7).shuffle(output)
        if output:
            content = faults.output(b"\n".join(output) + b"\n")
            batch.output = self._keep(f"{batch.id}_output.jsonl", content)
        if errors:
            batch.errors = self._keep(f"{batch.id}_error.jsonl", b"\n".join(errors) + b"\n")
        batch.status = "expired" if expired else "completed"

    def _lines(self, name: str | None) -> int:
        return 0 if name is None else len(self.files.get(name, ("", b""))[1].splitlines())

    def _completion(self, body: Body) -> Body:
        return completion(in_form(self.answer(body), prompt(body)))

    def _keep(self, filename: str, content: bytes) -> str:
        name = self._id("file")
        self.files[name] = filename, content
        return name

    def _file(self, name: str) -> Body:
        filename, content = self.files[name]
        return {
            "id": name,
            "object": "file",
            "bytes": len(content),
            "filename": filename,
            "purpose": "batch",
        }

    def _id(self, kind: str) -> str:
        self._ids += 1
        return f"{kind}-{self._ids}"

    def _use(self, fault: str) -> bool:
        count: int = getattr(self.faults, fault)
        setattr(self.faults, fault, max(0, count - 1))
        return count > 0


def _line(line: Line, response: Line | None, error: Line | None) -> bytes:
    said = {"id": "r", "custom_id": line["custom_id"], "response": response, "error": error}
    return json.dumps(said).encode()


def _parsed(raw: bytes) -> Line:
    try:
        found = json.loads(raw)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _page(request: web.Request, rows: list[Any]) -> Body:
    after, limit = request.query.get("after"), int(request.query.get("limit", 20))
    start = 1 + [row["id"] for row in rows].index(after) if after else 0
    page = rows[start : start + limit]
    more = start + limit < len(rows)
    return {"object": "list", "data": page, "has_more": more}


def _error(status: int, message: str, code: str = "") -> web.Response:
    return web.json_response({"error": {"message": message, "code": code}}, status=status)


def _lost(request: web.Request) -> web.StreamResponse:
    """The connection breaks before, or while, the answer is sent."""
    if request.transport is not None:
        request.transport.abort()
    return web.StreamResponse()
