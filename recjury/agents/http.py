"""A system behind HTTP, by description: templates for the request, paths for the answer."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field

from recjury.agents.settings import SystemSettings
from recjury.agents.streams import Stream, values_of
from recjury.agents.templates import Body, Path, Template, filled, find
from recjury.corpora import Corpus
from recjury.errors import Stop, SystemFailed
from recjury.keys import key_of, one_line
from recjury.records import Conversation, Event, ItemRef, Record

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

_VARIABLE = re.compile(r"\$\{(\w+)\}")
_CHECK_SECONDS = 10.0


def _address(url: str) -> str:
    if not re.match(r"https?://[^\s/]", url):
        raise ValueError(f"expected an address that begins with http:// or https://, got {url!r}")
    return url


Url = Annotated[Template, AfterValidator(_address)]


class HttpRequest(Record):
    """A request; all texts are templates."""

    url: Url
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    body: Body = None


class Opening(HttpRequest):
    """A request that opens a conversation; `session` is the path to what the server calls it."""

    session: Path = ""


class Http(SystemSettings, HttpRequest):
    """A server that gets one request for each turn.

    `text`, `items`, `error` and each of `events` (a path for a kind of event) are JMESPath
    expressions over the answer, or over each value of a stream: server-sent events (`sse`) or a
    JSON value a line (`lines`). `${NAME}` in a header is the value of a variable. The address in
    `check` must answer before the first conversation.
    """

    kind: Literal["http"] = "http"
    body: Body = Field(
        default={"id": "{{ id }}", "turn": "{{ turn }}", "messages": "{{ messages }}"},
        validate_default=True,
    )
    headers: dict[str, str] = Field(default_factory=dict)
    text: Path = "text"
    items: Path = ""
    events: dict[str, Path] = Field(default_factory=dict)
    error: Path = "error"
    stream: Stream = "no"
    start: Opening | None = None
    end: HttpRequest | None = None
    check: Url | None = None
    concurrency: int | None = Field(default=8, ge=1)

    @property
    def links(self) -> bool:
        """Unless `items` says where lists are, or `link` is set."""
        return not self.items if self.link is None else self.link

    def prepared(self, corpus: Corpus) -> "HttpSystem":  # noqa: ARG002 (all systems get it)
        """The system. Raises UserError if a variable is not set."""
        return HttpSystem(self)


class HttpSystem:
    """Sends what the settings describe. Conversations share nothing, cookies neither."""

    def __init__(self, settings: Http):
        """Raises UserError if a variable in a header is not set."""
        self._settings = settings
        self._headers = {
            name: _VARIABLE.sub(lambda found: key_of(found[1]), value)
            for name, value in settings.headers.items()
        }
        self.hear: Callable[[str, str], None] = lambda *_: None
        """Told what is `sent` and what `came`, as it stood on the wire, for whoever looks on."""
        self._sessions: dict[str, Any] = {}
        self._client: ClientSession | None = None
        self._checking, self._is_checked = asyncio.Lock(), settings.check is None

    async def start(self, conversation: Conversation) -> None:
        """Check the server once, and open a conversation if that takes a request. Raises Stop."""
        async with self._checking:
            if not self._is_checked:
                await self._check(conversation)
        if opening := self._settings.start:
            async for value in self._values(opening, conversation):
                self._raise_error(value)
                session = find(opening.session, value)
                if opening.session and session is None:
                    raise SystemFailed(f"the answer to `start` has nothing at {opening.session}")
                self._sessions[conversation.id] = session

    async def respond(self, conversation: Conversation) -> AsyncIterator[str | Event]:
        """The answer in pieces, as they come."""
        async for value in self._values(self._settings, conversation, self._settings.stream):
            self._raise_error(value)
            for piece in self._pieces(value):
                yield piece

    async def end(self, conversation: Conversation) -> None:
        """Close the conversation if that takes a request."""
        try:
            if self._settings.end:
                async with self._sent(self._settings.end, conversation):
                    pass
        finally:
            self._sessions.pop(conversation.id, None)

    async def aclose(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.close()

    async def _check(self, conversation: Conversation) -> None:
        url = str(self._settings.check)
        request = HttpRequest(url=url, method="GET")
        try:
            async with asyncio.timeout(_CHECK_SECONDS), self._sent(request, conversation):
                self._is_checked = True
        except TimeoutError:
            raise Stop(f"{url} did not answer within {_CHECK_SECONDS:g} s: start it") from None
        except SystemFailed as failure:
            raise Stop(f"{url} is not ready: {failure}") from None

    async def _values(
        self, request: HttpRequest, conversation: Conversation, stream: Stream = "no"
    ) -> AsyncIterator[Any]:
        async with self._sent(request, conversation) as response:
            async for value in values_of(self._chunks(response), stream):
                yield value

    async def _chunks(self, response: "ClientResponse") -> AsyncIterator[bytes]:
        async for chunk in response.content.iter_any():
            self.hear("came", chunk.decode("utf-8", "replace"))
            yield chunk

    @asynccontextmanager
    async def _sent(
        self, request: HttpRequest, conversation: Conversation
    ) -> AsyncIterator["ClientResponse"]:
        """The response, if its status says success. Raises SystemFailed."""
        import aiohttp

        variables = self._variables(conversation)
        url = str(filled(request.url, variables))
        body = None if request.method == "GET" else filled(request.body, variables)
        sent = "" if body is None else f" {json.dumps(body, ensure_ascii=False)}"
        self.hear("sent", f"{request.method} {url}{sent}")
        if self._client is None:
            self._client = aiohttp.ClientSession(
                # A server may close an idle connection at the moment when the next turn is sent.
                connector=aiohttp.TCPConnector(limit=0, force_close=True),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None),
            )
        try:
            async with self._client.request(
                request.method, url, json=body, headers=self._headers, allow_redirects=False
            ) as response:
                await _raise_status(response)
                yield response
        except aiohttp.ClientPayloadError:
            raise SystemFailed("its response broke off") from None
        except aiohttp.ClientConnectionError as error:
            raise SystemFailed(f"no connection to {url}: {error}") from None

    def _variables(self, conversation: Conversation) -> dict[str, Any]:
        turns = conversation.turns
        return {
            "id": conversation.id,
            "turn": sum(turn.speaker == "system" for turn in turns) + 1,
            "message": turns[-1].text if turns else "",
            "messages": conversation.messages,
            "turns": turns,
            "domain": conversation.domain,
            "session": self._sessions.get(conversation.id),
        }

    def _raise_error(self, value: object) -> None:
        if problem := find(self._settings.error, value):
            raise SystemFailed(f"it answered with an error: {one_line(str(problem))}")

    def _pieces(self, value: object) -> Iterator[str | Event]:
        said = find(self._settings.text, value)
        for text in said if isinstance(said, list) else [said]:
            if isinstance(text, str):
                yield text
            elif text not in (None, False):
                raise SystemFailed(f"`text` found {type(text).__name__} in place of a text")
        if items := find(self._settings.items, value):
            yield Event(kind="items", value=[_item(each) for each in _listed(items)])
        for kind, path in self._settings.events.items():
            for each in _listed(find(path, value)):
                yield Event(kind=kind, value=each)


async def _raise_status(response: "ClientResponse") -> None:
    if 300 <= response.status < 400:
        target = response.headers.get("Location", "nowhere")
        raise SystemFailed(f"HTTP {response.status}: it redirects to {target}: set `url` to that")
    if response.status >= 400:
        begin = (await response.content.read(2000)).decode("utf-8", "replace")
        raise SystemFailed(f"HTTP {response.status}: {one_line(begin)}")


def _listed(value: Any) -> list[Any]:
    if value is None or value is False:
        return []
    return value if isinstance(value, list) else [value]


def _item(value: object) -> object:
    """A name or an id as text, or an object with `id` and `name` as an item."""
    if isinstance(value, dict) and value.keys() >= {"id", "name"}:
        return ItemRef(id=str(value["id"]), name=str(value["name"]))
    return str(value) if isinstance(value, int) else value
