"""Forms of recordings: how to recognise a file, how to split it into rows, how to read a row.

What a row is read to has the keys of the form `jsonl`, recjury's own.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from recjury.llm.reading import spoken

_USER = frozenset({"user", "human", "customer", "seeker", "client"})
_SYSTEM = frozenset({"system", "assistant", "ai", "bot", "chatbot", "model", "recommender", "gpt"})
_INSTRUCTIONS = frozenset({"system", "developer"})  # as a `role`; a `speaker` is one who speaks
_TOOLS = frozenset({"tool", "function"})
_TEXTS = frozenset({"text", "input_text", "output_text"})


class Row(NamedTuple):
    """One conversation of a file: where it stands, and its value, or why it cannot be read."""

    where: str
    value: Any = None
    problem: str = ""


class Form(NamedTuple):
    """A form: what a row looks like, whether a value is such a row, and how both are read.

    `split` raises ValueError for a text of another kind, and `read` for a row that is wrong.
    """

    looks_like: str
    knows: Callable[[Any], bool]
    read: Callable[[Any], Mapping[str, Any]]
    split: Callable[[str], Iterable[Row]]


def json_rows(text: str) -> Iterator[Row]:
    """The rows of JSON lines, of an array, or of an object; a bad line is a row with a problem.

    A list of messages is one row, and so is an object with messages; of another object, the list
    that it has. Raises ValueError for what is no JSON.
    """
    try:
        values = _listed(json.loads(text, strict=False))
    except (ValueError, RecursionError):
        return _lines(text)
    return (Row(f"entry {number}", value) for number, value in enumerate(values, 1))


def _lines(text: str) -> Iterator[Row]:
    if text.lstrip()[:1] not in ("{", "["):
        raise ValueError("it is no JSON")
    lines = ((n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip())
    return (_line(number, line) for number, line in lines)


def _line(number: int, line: str) -> Row:
    try:
        return Row(f"line {number}", json.loads(line, strict=False))
    except (ValueError, RecursionError) as error:
        return Row(f"line {number}", problem=f"it is no JSON: {error}")


def _listed(value: Any) -> list[Any]:
    """The conversations in a JSON value."""
    if isinstance(value, list):
        return [value] if _is_talk(value) else value
    if isinstance(value, Mapping) and not any(form.knows(value) for form in FORMS.values()):
        lists = [each for each in value.values() if isinstance(each, list)]
        return lists[0] if len(lists) == 1 else [value]
    return [value]


def _is_talk(value: object) -> bool:
    """Whether a value is a list of messages."""
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, Mapping) and ("role" in first or "speaker" in first)


def _has_messages(value: object) -> bool:
    if isinstance(value, Mapping):
        return isinstance(value.get("messages"), list)
    return _is_talk(value)


def _has_interaction(value: object) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("interaction"), list | tuple)


def _read_messages(value: Any) -> Mapping[str, Any]:
    row = value if isinstance(value, Mapping) else {"messages": value}
    system = row.get("system") or row.get("model")
    return {**row, "system": system, "history": (), "interaction": turns_of(row["messages"])}


def _read_own(value: Any) -> Mapping[str, Any]:
    talks = {key: turns_of(value.get(key) or ()) for key in ("history", "interaction")}
    return {**value, **talks}


def turns_of(messages: Iterable[Any]) -> list[dict[str, Any]]:
    """Turns in the keys of `jsonl`, without thoughts; what one speaker says in a row is one turn.

    A tool's call and its result, an image and the like are events of the turn. Raises ValueError.
    """
    turns = [turn for n, each in enumerate(messages, 1) if (turn := _turn(each, n))]
    return [_joined(list(same)) for _, same in groupby(turns, lambda turn: turn["speaker"])]


def _joined(turns: list[dict[str, Any]]) -> dict[str, Any]:
    lists = {key: [v for turn in turns for v in turn[key]] for key in ("items", "events")}
    text = "\n".join(filter(None, (turn["text"] for turn in turns)))
    return {"speaker": turns[0]["speaker"], "text": text, **lists}


def _turn(message: Any, number: int) -> dict[str, Any] | None:
    """The turn of a message, or None for instructions."""
    if not isinstance(message, Mapping):
        raise ValueError(f"message {number} is no object with `role` and `content`")
    role = str(message.get("speaker") or message.get("role") or "").lower()
    content = message["text"] if "text" in message else message.get("content")
    if "speaker" not in message and role in _INSTRUCTIONS:
        return None
    if role in _TOOLS:
        return {"speaker": "system", "text": "", "items": [], "events": [_result(message, content)]}
    if role not in _USER | _SYSTEM:
        raise ValueError(f"message {number}: `role` is user or assistant, got {role!r}")
    text, shown = _content(content, number)
    text = text or str(message.get("refusal") or "")
    is_user = role in _USER
    return {
        "speaker": "user" if is_user else "system",
        "text": text if is_user else spoken(text)[0],
        "items": message.get("items") or [],
        "events": [*(message.get("events") or ()), *_calls(message), *shown],
    }


def _content(content: Any, number: int) -> tuple[str, list[dict[str, Any]]]:
    """The text of a message's content, and what else is in it as events."""
    if content is None or isinstance(content, str):
        return content or "", []
    if not isinstance(content, list) or not all(isinstance(part, Mapping) for part in content):
        raise ValueError(f"message {number}: `content` is a text or a list of parts")
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
        value = {key: function.get(key) for key in ("name", "arguments")}
        yield {"kind": "tool call", "value": value}


def _result(message: Mapping[str, Any], content: Any) -> dict[str, Any]:
    return {"kind": "tool result", "value": {"name": message.get("name"), "content": content}}


FORMS: Mapping[str, Form] = {
    "jsonl": Form(
        '{"id": "1", "system": "mine", "interaction": [{"speaker": "user", "text": "Hi"}, ...]}',
        _has_interaction,
        _read_own,
        json_rows,
    ),
    "messages": Form(
        '{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", ...}]}',
        _has_messages,
        _read_messages,
        json_rows,
    ),
}
"""The forms that recjury knows, by name."""
