"""Turns of messages, as OpenAI's form and its relatives write them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from recjury.corpora.catalogue import Catalogue
from recjury.llm.reading import without_thoughts
from recjury.records import ItemRef, Speaker

USERS = frozenset(
    "user human customer seeker client visitor caller buyer shopper guest usr".split()  # noqa: SIM905
)
SYSTEMS = frozenset(
    (  # noqa: SIM905
        "system assistant ai bot chatbot model recommender gpt agent asst chatgpt support advisor "
        "operator seller"
    ).split()
)
_INSTRUCTIONS = frozenset({"system", "developer"})  # as a `role`; a `speaker` is one who speaks
_TOOLS = frozenset({"tool", "function"})
_SESSIONS = frozenset({"session", "session_id", "conversation_id", "chat_id", "dialogue_id"})
_TEXTS = frozenset({"text", "input_text", "output_text"})


def turns_of(messages: Iterable[Any], places: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Turns in the keys of `jsonl`; what one speaker says in a row is one turn.

    A system's thoughts are left out where its text begins with them. A tool's call and its result,
    an image and the like are events of the turn. `places` say where each message stands. Raises
    ValueError.
    """
    numbered = enumerate(messages)
    placed = ((each, places[n] if places else f"message {n + 1}") for n, each in numbered)
    turns = [turn for each, place in placed if (turn := _turn(each, place))]
    return [_joined(list(same)) for _, same in groupby(turns, lambda turn: turn["speaker"])]


def refs(given: Any) -> list[ItemRef]:
    """The items of a list of names, or of objects with `name` and perhaps `id`.

    Raises ValueError.
    """
    if not isinstance(given, list | tuple):
        raise ValueError(f"a list of items is wanted, got {given!r}"[:120])
    return [_ref(each) for each in given]


def _ref(value: Any) -> ItemRef:
    match value:
        case ItemRef():
            return value
        case {"id": str(id_), "name": str(name)}:
            return ItemRef(id=id_, name=name)
        case str(name) | {"name": str(name)} | {"title": str(name)}:
            return Catalogue().resolve(name)
    raise ValueError(f"an item is a name or {{id, name}}, got {value!r}"[:120])


def speaker_of(name: object) -> Speaker | None:
    """Who is meant by a usual name of a speaker; None for another name."""
    key = str(name).strip().lower()
    return "user" if key in USERS else "system" if key in SYSTEMS else None


def is_talk(value: object) -> bool:
    """Whether a value is a list of messages, and no table of the turns of many conversations."""
    first = value[0] if isinstance(value, list) and value else None
    if not isinstance(first, Mapping) or not first.keys().isdisjoint(_SESSIONS):
        return False
    return "role" in first or "speaker" in first


def _joined(turns: list[dict[str, Any]]) -> dict[str, Any]:
    lists = {key: [v for turn in turns for v in turn[key]] for key in ("items", "events")}
    text = "\n".join(filter(None, (turn["text"] for turn in turns)))
    linked = any(turn["linked"] for turn in turns)
    return {"speaker": turns[0]["speaker"], "text": text, "linked": linked, **lists}


def _turn(message: Any, place: str) -> dict[str, Any] | None:
    """The turn of a message, or None for instructions."""
    if not isinstance(message, Mapping):
        raise ValueError(f"{place} is no object with `role` and `content`")
    role = str(message.get("speaker") or message.get("role") or "").strip().lower()
    content = message["text"] if "text" in message else message.get("content")
    if "speaker" not in message and role in _INSTRUCTIONS:
        return None
    if role in _TOOLS:
        events = [_result(message, content)]
        return {"speaker": "system", "text": "", "items": [], "events": events, "linked": False}
    speaker = speaker_of(role)
    if speaker is None:
        raise ValueError(f"{place}: `role` is user or assistant, got {role!r}")
    if not isinstance(message.get("events") or [], list | tuple):
        raise ValueError(f"{place}: `events` is a list, got {message['events']!r}"[:200])
    text, shown = _content(content, place)
    text = text or str(message.get("refusal") or "")
    return {
        "speaker": speaker,
        "text": text if speaker == "user" else without_thoughts(text),
        "items": refs(message.get("items") or []),
        "events": [*(message.get("events") or ()), *_calls(message), *shown],
        "linked": bool(message.get("linked")),
    }


def _content(content: Any, place: str) -> tuple[str, list[dict[str, Any]]]:
    """The text of a message's content, and what else is in it as events."""
    if content is None or isinstance(content, str):
        return content or "", []
    if not isinstance(content, list) or not all(isinstance(part, Mapping) for part in content):
        raise ValueError(f"{place}: `content` is a text or a list of parts")
    texts = [str(part.get("text") or "") for part in content if part.get("type") in _TEXTS]
    others = [part for part in content if part.get("type") not in _TEXTS]
    return "\n".join(texts), [_part(part) for part in others]


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    """An image, a file or a sound: its address, but not what is in it."""
    kind = str(part.get("type") or "part")
    value = part.get(kind)
    address = value.get("url") if isinstance(value, Mapping) else value
    is_address = isinstance(address, str) and not address.startswith("data:")
    return {"kind": kind.removesuffix("_url"), "value": address if is_address else None}


def _calls(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for call in message.get("tool_calls") or ():
        function = call.get("function") or call if isinstance(call, Mapping) else {}
        function = function if isinstance(function, Mapping) else {"name": function}
        value = {key: function.get(key) for key in ("name", "arguments")}
        yield {"kind": "tool call", "value": value}


def _result(message: Mapping[str, Any], content: Any) -> dict[str, Any]:
    return {"kind": "tool result", "value": {"name": message.get("name"), "content": content}}
