"""The HTTP side of the scripted endpoint: what it answers, what it counts, what goes wrong."""

import asyncio
import contextlib
import copy
import hashlib
import inspect
import json
import os
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from aiohttp import web

from recjury.llm.endpoint_check import CHECK_PROMPT
from tests.answers import in_form

Body = dict[str, object]


@dataclass(frozen=True)
class Fault:
    """What goes wrong instead of an answer.

    "status" answers with `status` and `text` (and `retry_after` as the header): as the message of
    an error, or as the whole body if `as_it_is`; "raw" answers
    200 with `text` as the whole body; "cut" promises a longer body than it sends, then closes;
    "drop" closes without a word; "hang" never answers.
    """

    kind: Literal["status", "raw", "cut", "drop", "hang"]
    status: int = 500
    text: str = ""
    retry_after: str | None = None
    as_it_is: bool = False


Write = Callable[[asyncio.StreamWriter], Awaitable[None]]
"""Writes whatever bytes to the connection, which is closed afterwards."""

Answer = str | Body | Fault | Write
Script = Callable[[Body], Answer | Awaitable[Answer]]


def completion(
    text: str | None,
    *,
    finish_reason: str = "stop",
    prompt_tokens: int = 10,
    completion_tokens: int = 5,
    cached_tokens: int = 0,
    model: str = "scripted",
) -> Body:
    """The response body of a chat completion."""
    message = {"role": "assistant", "content": text}
    usage = {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
        "prompt_tokens_details": {"cached_tokens": cached_tokens},
    }
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "usage": usage,
        "choices": [choice],
    }


def hashed_embedding(text: str, size: int = 8) -> list[float]:
    """A vector that depends on the text alone."""
    return [byte / 255 for byte in hashlib.sha256(text.encode()).digest()[:size]]


def fingerprint(body: Body) -> str:
    """Equal for equal request bodies."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:16]


def prompt(body: Body) -> str:
    """All message texts of a chat request, one after the other."""
    messages = body.get("messages")
    assert isinstance(messages, list)
    return "\n".join(str(message["content"]) for message in messages)


@dataclass
class _Kill:
    pid: int
    at: int
    containing: str
    when: Literal["before", "after"]
    seen: int = 0


@dataclass
class _Seen:
    bodies: list[Body] = field(default_factory=list)
    checks: list[Body] = field(default_factory=list)
    embedded: list[Body] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0


class Server:
    """The HTTP side: routes, counting, faults. Runs in whatever loop starts it."""

    def __init__(
        self,
        script: Script,
        *,
        key: str | None,
        models: tuple[str, ...],
        latency: float,
        listed: tuple[str, ...] | None = None,
        scripted_checks: bool = False,
        in_form: bool = True,
    ):
        """`latency` in seconds is added to every chat answer.

        The small requests by which a model is checked are answered here and counted apart, but
        with `scripted_checks` they are calls like all others.
        `in_form` adds the code that a prompt asks for to what the script answers.
        """
        self._scripted_checks = scripted_checks
        self._in_form = in_form
        self._script = script
        self._key = key
        self._models = models
        self._listed = models if listed is None else listed
        self._latency = latency
        self._runner: web.AppRunner | None = None
        self._kills: list[_Kill] = []
        self.seen = _Seen()

    async def start(self, port: int = 0) -> int:
        """Listen on 127.0.0.1; returns the port."""
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/embeddings", self._embeddings)
        app.router.add_get("/v1/models", self._list_models)
        app.router.add_get("/_calls", self._calls)
        app.router.add_post("/_kill", self._plan_kill)
        self._runner = web.AppRunner(
            app, access_log=None, shutdown_timeout=0.01, handler_cancellation=True
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        return int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Close at once, whatever still hangs."""
        if self._runner is not None:
            await self._runner.cleanup()

    def _turned_away(self, request: web.Request, model: object = None) -> web.Response | None:
        if self._key and request.headers.get("Authorization") != f"Bearer {self._key}":
            given = request.headers.get("Authorization", "no key")
            return _error(401, f"Incorrect API key provided: {given}", "invalid_api_key")
        if model is not None and model not in self._models:
            return _error(404, f"The model {model!r} does not exist", "model_not_found")
        return None

    async def _list_models(self, request: web.Request) -> web.Response:
        listed = [{"id": name, "object": "model"} for name in self._listed]
        return self._turned_away(request) or web.json_response({"object": "list", "data": listed})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body: Body = await request.json()
        if refusal := self._turned_away(request, body["model"]):
            return refusal
        if not self._scripted_checks and CHECK_PROMPT in prompt(body):
            self.seen.checks.append(body)
            return web.json_response(completion("ok"))
        self.seen.bodies.append(body)
        self.seen.in_flight += 1
        self.seen.most_in_flight = max(self.seen.most_in_flight, self.seen.in_flight)
        try:
            due = self._due(body)
            _kill_all(due, "before")
            said = self._script(body)
            answer: Answer = await said if inspect.isawaitable(said) else said
            if self._in_form:
                answer = _in_form(answer, prompt(body))
            if self._latency:
                await asyncio.sleep(self._latency)
            response = await _answer(request, answer)
            if due:
                await response.prepare(request)
                await response.write_eof()
                _kill_all(due, "after")
            return response
        finally:
            self.seen.in_flight -= 1

    def _due(self, body: Body) -> list[_Kill]:
        due = []
        for kill in self._kills:
            if kill.containing in prompt(body):
                kill.seen += 1
                if kill.seen == kill.at:
                    due.append(kill)
        return due

    async def _embeddings(self, request: web.Request) -> web.Response:
        body: Body = await request.json()
        if refusal := self._turned_away(request, body["model"]):
            return refusal
        texts = body["input"]
        assert isinstance(texts, list)
        seen = self.seen.checks if texts == [CHECK_PROMPT] else self.seen.embedded
        seen.append(body)
        rows = [{"index": n, "embedding": hashed_embedding(text)} for n, text in enumerate(texts)]
        usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
        # Out of order, as the interface allows.
        return web.json_response({"data": rows[::-1], "model": body["model"], "usage": usage})

    async def _calls(self, _: web.Request) -> web.Response:
        return web.json_response(self.seen.bodies)

    async def _plan_kill(self, request: web.Request) -> web.Response:
        self._kills.append(_Kill(**await request.json()))
        return web.json_response({})


def _kill_all(kills: list[_Kill], when: str) -> None:
    for kill in kills:
        if kill.when == when:
            os.kill(kill.pid, signal.SIGKILL)


def _in_form(answer: Answer, asked: str) -> Answer:
    if isinstance(answer, str):
        return in_form(answer, asked)
    if not isinstance(answer, dict) or not isinstance(answer.get("choices"), list):
        return answer
    body = copy.deepcopy(answer)
    choices = body["choices"]
    assert isinstance(choices, list)
    for choice in choices:
        message = choice.get("message") or {}
        if isinstance(message.get("content"), str):
            message["content"] = in_form(message["content"], asked)
    return body


def _error(status: int, message: str, code: str = "") -> web.Response:
    return web.json_response({"error": {"message": message, "code": code}}, status=status)


async def _answer(request: web.Request, answer: Answer) -> web.StreamResponse:
    if isinstance(answer, str):
        return web.json_response(completion(answer))
    if isinstance(answer, dict):
        return web.json_response(answer)
    if not isinstance(answer, Fault):
        return await _written(request, answer)
    if answer.kind == "raw":
        return web.Response(text=answer.text, content_type="application/json")
    if answer.kind == "status":
        response = _error(answer.status, answer.text)
        if answer.as_it_is:
            response = web.Response(text=answer.text, status=answer.status)
        if answer.retry_after is not None:
            response.headers["Retry-After"] = answer.retry_after
        return response
    if answer.kind == "hang":
        await asyncio.Event().wait()
    return await _broken(request, answer)


async def _broken(request: web.Request, fault: Fault) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    if fault.kind == "cut":
        await response.prepare(request)
        await response.write(b'{"choices": [{"message": {"con')
    if request.transport is not None:
        request.transport.abort() if fault.kind == "drop" else request.transport.close()
    return response


async def _written(request: web.Request, write: Write) -> web.StreamResponse:
    connection = request.transport
    if connection is None:  # the client has gone
        return web.StreamResponse()
    loop = asyncio.get_running_loop()
    writer = asyncio.StreamWriter(connection, request.protocol, None, loop)
    try:
        with contextlib.suppress(ConnectionError):
            await write(writer)
    finally:
        connection.close()
    return web.StreamResponse()
