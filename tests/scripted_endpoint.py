"""An OpenAI-compatible server on 127.0.0.1 that answers as a function says."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, NamedTuple, Self

from aiohttp import web

Body = dict[str, Any]
"""The JSON of a request."""


@dataclass(frozen=True)
class Reply:
    """What the server does: `body` is text, or becomes JSON.

    `drop` closes the connection instead, and `delay` is how long the answer takes, in seconds.
    """

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drop: bool = False


class Asked(NamedTuple):
    """A request: its path with the query, its headers, and its JSON."""

    path: str
    headers: Mapping[str, str]
    body: Body


def completion(
    text: str | None, *, finish: str = "stop", tokens: tuple[int, int] = (10, 5), **message: object
) -> Body:
    """A reply as OpenAI writes it; `message` has further fields of the message."""
    said = {"role": "assistant", "content": text, **message}
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    choice = {"index": 0, "message": said, "finish_reason": finish}
    return {"object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}


def error(status: int, message: str, headers: Mapping[str, str] = {}, **fields: object) -> Reply:
    """An error as OpenAI writes it."""
    return Reply({"error": {"message": message, **fields}}, status, headers)


def prompt_of(body: Body) -> str:
    """All that the model reads."""
    return "\n".join(message["content"] for message in body["messages"])


Answer = Callable[[Body], Reply]


class ScriptedEndpoint:
    """A server with a thread of its own, for `with` and `async with`. It keeps what was asked."""

    def __init__(self, answer: Answer):
        """`answer` is called in the server's thread."""
        self._answer = answer
        self.asked: list[Asked] = []
        self.open = self.most_open = 0
        """Requests that are being answered, now and at most at once."""
        self.url = ""
        """The address up to `/v1`."""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.__exit__, kind, problem, trace)

    async def _start(self) -> None:
        app = web.Application(client_max_size=2**26)
        app.router.add_route("*", "/{path:.*}", self._respond)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{port}/v1"

    async def _stop(self) -> None:
        await self._runner.cleanup()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.asked.append(Asked(request.path_qs, dict(request.headers), body))
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            reply = self._answer(body)
            await asyncio.sleep(reply.delay)
        finally:
            self.open -= 1
        if reply.drop:
            assert request.transport is not None
            request.transport.close()
        if isinstance(reply.body, str):
            return web.Response(text=reply.body, status=reply.status, headers=reply.headers)
        return web.json_response(reply.body, status=reply.status, headers=reply.headers)
