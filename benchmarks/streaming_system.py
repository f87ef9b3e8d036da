"""A stateful system that streams: what it says depends on what it was asked in its session."""

import asyncio
import contextlib
import hashlib
import json
import threading
from types import TracebackType
from typing import Self

from aiohttp import web

from recjury.corpora import open_corpus

FILMS = [item.ref.name for item in open_corpus("sample").catalogue]


class StreamingSystem:
    """A server with a thread of its own. `opened` has the messages of each session."""

    def __init__(self) -> None:
        self.opened: dict[str, list[str]] = {}
        self._begun_at: dict[str, int] = {}
        self.url = ""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _start(self) -> None:
        app = web.Application()
        app.router.add_post("/chat/{id}", self._chat)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        session = self.opened.setdefault(request.match_info["id"], [])
        begun_at = self._begun_at.setdefault(request.match_info["id"], asked["turn"])
        if asked["turn"] != begun_at + len(session):
            return web.json_response({"error": "a turn is missing, or was sent twice"}, status=409)
        session.append(asked["message"])
        number = int(hashlib.sha256("".join(session).encode()).hexdigest()[:8], 16)
        film = FILMS[number % len(FILMS)]
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        with contextlib.suppress(ConnectionResetError):  # who asked was killed
            for piece in ({"delta": "You may like "}, {"delta": f"{film}."}, {"cards": [film]}):
                await response.write(f"data: {json.dumps(piece)}\n\n".encode())
                await asyncio.sleep(0.002)
        return response
