"""A user's own system behind HTTP: it receives the conversation as JSON, and sends text and items.

The request is `{"conversation": [{"speaker", "text", "items"}, ...], "list_length", "catalogue",
"options"}`. The response is `{"text": "...", "items": [...]}`; an item is a name, a number (an id
of the catalogue), or `{"id", "name"}` with one of them or both. Further keys are ignored.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import orjson

from recjury.agents.http_client import HttpClient
from recjury.agents.http_settings import HttpSettings
from recjury.agents.reply_validation import validate_reply
from recjury.errors import ProviderError, SystemFailed
from recjury.records import (
    JSON,
    LIST_LENGTH,
    Conversation,
    ItemRef,
    Speaker,
    SystemReply,
    Turn,
)

if TYPE_CHECKING:
    from recjury.knowledge import Catalogue
    from recjury.llm import Clock

_Shown: TypeAlias = Callable[[str], str]
_HELLO = Conversation(turns=(Turn(speaker=Speaker.USER, text="Hello"),))


class HttpRecommender:
    """A `Recommender` in another process, in any language. It keeps no state between turns."""

    def __init__(
        self,
        settings: HttpSettings,
        catalogue: "Catalogue",
        *,
        name: str,
        version: str = "",
        options: Mapping[str, JSON] | None = None,
        list_length: int = LIST_LENGTH,
        clock: "Clock | None" = None,
    ):
        """`version` distinguishes versions at the same address; `options` are sent with each
        request.

        Raises ConfigError if an environment variable is not set.
        """
        self.name = name
        self._address, self._catalogue, self._length = settings, catalogue, list_length
        self._options = dict(options or {})
        self._client = HttpClient(settings) if clock is None else HttpClient(settings, clock)
        self.settings: Mapping[str, JSON] = {
            "kind": "http",
            "url": settings.url,
            "version": version,
            "options": self._options,
            "catalogue": catalogue.digest,
            "list_length": list_length,
        }

    async def respond(self, conversation: Conversation) -> SystemReply:
        """Return the system's answer. Raises SystemFailed for a failed request or an invalid
        answer."""
        try:
            raw = await self._client.post(self._request(conversation))
            text, items = _answer(raw, self._client.shown)
            self._refuse_bare_ids(items)
            reply = validate_reply(SystemReply(text=text, items=items), self._catalogue)
        except SystemFailed as failure:
            raise SystemFailed(f"{self.name}: {failure}") from None
        return reply.model_copy(update={"items": reply.items[: self._length]})

    async def check(self) -> None:
        """Ask `health` for status 200; without it, request an answer to "Hello".

        Raises ProviderError.
        """
        try:
            if self._address.health is None:
                await self.respond(_HELLO)
            else:
                await self._client.get(self._address.health)
        except SystemFailed as failure:
            said = str(failure).removeprefix(f"{self.name}: ")
            address = self._address.health or self._address.url
            raise ProviderError(f"system {self.name} at {address}: {said}") from None

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    def _request(self, conversation: Conversation) -> bytes:
        return orjson.dumps(
            {
                "conversation": [_turn(turn) for turn in conversation.turns],
                "list_length": self._length,
                "catalogue": self._catalogue.name,
                "options": self._options,
            }
        )

    def _refuse_bare_ids(self, items: tuple[ItemRef, ...]) -> None:
        """Raise SystemFailed if all names look like ids: each would count as a miss."""
        names = [item.name for item in items if item.id is None]
        known = self._catalogue
        if names and all(name in known and known.named(name) is None for name in names):
            raise SystemFailed(f'the items look like ids: send them as {{"id": "{names[0]}"}}')


def _turn(turn: Turn) -> dict[str, object]:
    said: dict[str, object] = {"speaker": turn.speaker.value, "text": turn.text}
    if turn.speaker is Speaker.SYSTEM:
        said["items"] = [{"id": item.id, "name": item.name} for item in turn.items]
    return said


def _answer(raw: bytes, shown: _Shown) -> tuple[str, tuple[ItemRef, ...]]:
    """Text and items of a response body. Raises SystemFailed with what was expected."""
    try:
        answer: object = orjson.loads(raw)
    except orjson.JSONDecodeError:
        said = shown(raw.decode("utf-8", "replace")) or "nothing"
        raise SystemFailed(f"expected JSON, got {said}") from None
    if not isinstance(answer, dict):
        raise SystemFailed(f"expected a JSON object, got {shown(_json(answer))}")
    text, items = answer.get("text"), answer.get("items", [])
    if not isinstance(text, str):
        raise SystemFailed(f"`text` must be a string, got {shown(_json(text))}")
    if not isinstance(items, list):
        raise SystemFailed(f"`items` must be a list, got {shown(_json(items))}")
    return text.strip(), tuple(_item(item, place, shown) for place, item in enumerate(items))


def _item(item: object, place: int, shown: _Shown) -> ItemRef:
    """An item as it was sent: a number or `id` is an id, everything else is a name."""
    fields = item if isinstance(item, dict) else {"id" if isinstance(item, int) else "name": item}
    number, name = fields.get("id"), fields.get("name")
    if (number is None or _is_id(number)) and (name is None or isinstance(name, str)):
        label = (name or "").strip() or ("" if number is None else f"item {number}")
        if label:
            return ItemRef(id=None if number is None else str(number), name=label)
    raise SystemFailed(
        f'`items[{place}]` must be a name, a number or {{"id", "name"}}, got {shown(_json(item))}'
    )


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
