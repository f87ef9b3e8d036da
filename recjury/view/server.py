"""The pages over HTTP: nothing but reading, on this machine unless a token is asked for."""

import asyncio
import contextlib
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

from aiohttp import web

from recjury.errors import UserError
from recjury.store import Store
from recjury.view.campaign import campaign_page
from recjury.view.campaigns import campaigns_page
from recjury.view.compare import compare_page
from recjury.view.conversation import calls_page, conversation_page
from recjury.view.progress import live
from recjury.view.rendering import STATIC, Page, encoded, render
from recjury.view.trials import trials_page

ROUTES: Mapping[str, Callable[..., Page]] = {
    "/": campaigns_page,
    "/c/{id}": campaign_page,
    "/c/{id}/trials": trials_page,
    "/c/{id}/compare": compare_page,
    "/t/{id}": conversation_page,
    "/t/{id}/calls": calls_page,
}
"""What makes the page at each address."""

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
_COOKIE = "recjury_token"
_EVERY = 2.0  # seconds between two looks at a running campaign
_PORTS = 100  # ports that are tried, from the wanted one on
_STORE = web.AppKey("store", str)


class Server:
    """Serves the pages of a store; each request reads what is there then."""

    def __init__(self, store: str, *, host: str = "127.0.0.1", port: int = 8000, token: str = ""):
        """`token` is asked for, once in the address and then as a cookie, where `host` is open."""
        self._host, self._wanted, self._token = host, port, token
        self._app = web.Application(middlewares=[self._checked])
        self._app[_STORE] = store
        for address, page in ROUTES.items():
            self._app.router.add_get(address, _handler(page))
        self._app.router.add_get("/c/{id}/events", _events)
        self._app.router.add_static("/static", STATIC)
        self.port = 0

    @property
    def address(self) -> str:
        """What a browser opens."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.port}/" + (f"?token={self._token}" if self._token else "")

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Serve on the first free port from the wanted one on. Raises UserError if none is."""
        runner = web.AppRunner(self._app, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await self._bind(runner)
            yield
        finally:
            await runner.cleanup()

    async def _bind(self, runner: web.AppRunner) -> None:
        problem: Exception | None = None
        for port in range(self._wanted, self._wanted + _PORTS) if self._wanted else [0]:
            try:
                await web.TCPSite(runner, self._host, port).start()
            except (OSError, OverflowError) as error:
                problem = error
            else:
                self.port = runner.addresses[0][1]
                return
        raise UserError(f"no port of {self._host} from {self._wanted} on is free: {problem}")

    @web.middleware
    async def _checked(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Whether the request is for this server and by whom it is for; errors are pages."""
        if refused := self._refusal(request):
            return _page(Page("error.j2", {"title": "Not for you", "text": refused}), 403)
        try:
            answer = await handler(request)
        except web.HTTPException as error:
            text = f"There is no page at {request.path}." if error.status == 404 else error.reason
            return _page(Page("error.j2", {"title": "Not found", "text": text}), error.status)
        except UserError as error:
            return _page(Page("error.j2", {"title": "Not found", "text": str(error)}), 404)
        if not answer.prepared:
            answer.headers.update(_HEADERS)
            if self._token and request.query.get("token") == self._token:
                answer.set_cookie(_COOKIE, self._token, httponly=True, samesite="Strict")
        return answer

    def _refusal(self, request: web.Request) -> str:
        """Why a request is refused: a page of another site would name another host."""
        name = request.host.rpartition(":")[0] or request.host
        is_here = self._host in ("127.0.0.1", "localhost", "::1")
        if is_here and name.strip("[]") not in ("127.0.0.1", "localhost", "::1"):
            return f"The pages are at {self.address}, not at {request.host}."
        given = request.query.get("token") or request.cookies.get(_COOKIE, "")
        if self._token and not secrets.compare_digest(given.encode(), self._token.encode()):
            return "Open the address that `recjury view` printed: it has the token."
        return ""


def _handler(page: Callable[..., Page]) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def handle(request: web.Request) -> web.Response:
        def read() -> Page:
            with Store(request.app[_STORE], readonly=True) as store:
                return page(store, dict(request.query), **request.match_info)

        return _page(await asyncio.to_thread(read))

    return handle


def _page(page: Page, status: int = 200) -> web.Response:
    body = encoded(render(page))
    return web.Response(
        body=body, status=status, content_type="text/html", charset="utf-8", headers=_HEADERS
    )


async def _events(request: web.Request) -> web.StreamResponse:
    """Figures of a running campaign as server-sent events, and `done` when it has ended."""
    answer = web.StreamResponse(headers={**_HEADERS, "Content-Type": "text/event-stream"})
    await answer.prepare(request)

    def look() -> Mapping[str, str] | None:
        with Store(request.app[_STORE], readonly=True) as store:
            found = live(store, request.match_info["id"])
            return found.figures if found else None

    # A reader goes away, or the store does: nobody is left to be told.
    with contextlib.suppress(ConnectionResetError, UserError):
        while (found := await asyncio.to_thread(look)) is not None:
            await answer.write(f"event: figures\ndata: {json.dumps(found)}\n\n".encode())
            await asyncio.sleep(_EVERY)
        await answer.write(b"event: done\ndata: {}\n\n")
    return answer
