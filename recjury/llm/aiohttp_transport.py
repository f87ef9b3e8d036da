"""The lean wire: one pooled aiohttp client for all models that speak plain HTTP."""

import aiohttp
import orjson
from yarl import URL

from recjury.llm.spec import ModelSpec
from recjury.llm.transport import HttpResponse, Retryable

_KEPT_HEADERS = ("retry-after", "retry-after-ms", "location")
_NO_HEADERS: dict[str, str] = {}


class HttpSession:
    """The connections that all plain wires of a gateway share, opened with the first request."""

    def __init__(self) -> None:
        """Nothing is opened yet: a session belongs to the loop that first uses it."""
        self._session: aiohttp.ClientSession | None = None

    def session(self) -> aiohttp.ClientSession:
        """The one session."""
        if self._session is None:
            # The gateway's limits say how many are open at once; cookies would let one call
            # change the next.
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60),
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=("User-Agent", "Accept"),
            )
        return self._session

    async def aclose(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None


class AiohttpTransport:
    """Requests to one model's endpoint over the shared pool."""

    def __init__(self, spec: ModelSpec, key: str | None, pool: HttpSession):
        """`key` goes into the Authorization header and nowhere else."""
        self._pool = pool
        self._base = spec.base_url
        self._urls: dict[str, URL] = {}
        self._timeout = _timeout(spec.timeout)
        self._headers = {"Content-Type": "application/json"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"

    async def send(
        self, path: str, body: dict[str, object] | None, *, seconds: float | None = None
    ) -> HttpResponse:
        """One request; raises Retryable when no whole answer comes back in time."""
        url = self._urls.get(path) or self._urls.setdefault(path, URL(self._base + path))
        limit = self._timeout if seconds is None else _timeout(seconds)
        try:
            response = await self._pool.session().request(
                "GET" if body is None else "POST",
                url,
                data=None if body is None else orjson.dumps(body),
                headers=self._headers,
                timeout=limit,
                allow_redirects=False,
            )
            raw = await response.read()
        except TimeoutError:
            raise Retryable(f"no answer within {limit.total:g} s") from None
        except aiohttp.ClientConnectorError as error:
            raise Retryable(f"cannot connect ({error.strerror or error.os_error})") from None
        except (aiohttp.ClientError, OSError) as error:
            raise Retryable(f"the connection broke ({type(error).__name__})") from None
        if response.status == 200:
            return HttpResponse(200, raw, _NO_HEADERS)
        kept = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
        return HttpResponse(response.status, raw, kept)

    async def aclose(self) -> None:
        """Nothing of its own to release: the pool closes the connections."""


def _timeout(seconds: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=seconds, sock_connect=min(seconds, 15))
