"""A user's own system behind HTTP: it receives the conversation as JSON, and sends text and items.

The request is `{"conversation": [{"speaker", "text", "items"}, ...], "list_length", "catalogue",
"options"}`. The response is `{"text": "...", "items": [...]}`; an item is a name, a number (an id
of the catalogue), or `{"id", "name"}` with one of them or both. Further keys are ignored.
"""

from collections.abc import Mapping
from typing import Literal

import orjson
from pydantic import Field, JsonValue, PrivateAttr

from recjury.agents.http_client import HttpClient, HttpSettings
from recjury.agents.reply_validation import validate_reply
from recjury.agents.system import System
from recjury.errors import ProviderError, SystemFailed
from recjury.llm.transport import excerpt
from recjury.records import JSON, Conversation, ItemRef, Speaker, SystemReply, Turn

_HELLO = Conversation(turns=(Turn(speaker=Speaker.USER, text="Hello"),))


class HttpSystem(HttpSettings, System):
    """A user's own system in another process, in any language. It keeps no state between turns.

    `version` distinguishes versions at the same address; `options` are sent with each request.
    """

    kind: Literal["http"] = "http"
    version: str = ""
    options: dict[str, JsonValue] = Field(default_factory=dict)

    _client: HttpClient = PrivateAttr()

    def _prepare(self) -> None:
        self._client = HttpClient(self)

    @property
    def settings(self) -> Mapping[str, JSON]:
        """What identifies it: recjury cannot see what runs behind the address."""
        return {
            **self._common_settings,
            "url": self.url,
            "version": self.version,
            "options": self.options,
        }

    async def respond(self, conversation: Conversation) -> SystemReply:
        """Return the system's answer. Raises SystemFailed for a failed request or an invalid
        answer."""
        try:
            raw = await self._client.post(self._request(conversation))
            text, items = _answer(raw)
            self._refuse_bare_ids(items)
            reply = validate_reply(SystemReply(text=text, items=items), self._catalogue)
        except SystemFailed as failure:
            raise SystemFailed(f"{self.name}: {failure}") from None
        return reply.model_copy(update={"items": reply.items[: self._context.list_length]})

    async def check(self) -> None:
        """Ask `health` for status 200; without it, request an answer to "Hello".

        Raises ProviderError.
        """
        try:
            if self.health is None:
                await self.respond(_HELLO)
            else:
                await self._client.get(self.health)
        except SystemFailed as failure:
            reason = str(failure).removeprefix(f"{self.name}: ")
            address = self.health or self.url
            raise ProviderError(f"system {self.name} at {address}: {reason}") from None

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    def _request(self, conversation: Conversation) -> bytes:
        return orjson.dumps(
            {
                "conversation": [_turn(turn) for turn in conversation.turns],
                "list_length": self._context.list_length,
                "catalogue": self._catalogue.name,
                "options": self.options,
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


def _answer(raw: bytes) -> tuple[str, tuple[ItemRef, ...]]:
    """Text and items of a response body. Raises SystemFailed with what was expected."""
    try:
        answer: object = orjson.loads(raw)
        _json(answer)  # writes less deep values than it reads
    except (TypeError, ValueError):
        said = excerpt(raw.decode("utf-8", "replace")) or "nothing"
        raise SystemFailed(f"expected JSON, got {said}") from None
    if not isinstance(answer, dict):
        raise SystemFailed(f"expected a JSON object, got {excerpt(_json(answer))}")
    text, items = answer.get("text"), answer.get("items", [])
    if not isinstance(text, str):
        raise SystemFailed(f"`text` must be a string, got {excerpt(_json(text))}")
    if not isinstance(items, list):
        raise SystemFailed(f"`items` must be a list, got {excerpt(_json(items))}")
    return text.strip(), tuple(_item(item, place) for place, item in enumerate(items))


def _item(item: object, place: int) -> ItemRef:
    """An item as it was sent: a number or `id` is an id, everything else is a name."""
    fields = item if isinstance(item, dict) else {"id" if isinstance(item, int) else "name": item}
    number, name = fields.get("id"), fields.get("name")
    if (number is None or _is_id(number)) and (name is None or isinstance(name, str)):
        label = (name or "").strip() or ("" if number is None else f"item {number}")
        if label:
            return ItemRef(id=None if number is None else str(number), name=label)
    raise SystemFailed(
        f'`items[{place}]` must be a name, a number or {{"id", "name"}}, got {excerpt(_json(item))}'
    )


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
