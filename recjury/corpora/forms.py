"""Forms of recordings: how to recognise a row, how to read it, and which rows are one conversation.

What a conversation is read to has the keys of the form `jsonl`, recjury's own.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from recjury.corpora.langfuse import is_trace, sessions
from recjury.corpora.messages import SYSTEMS, is_talk, turns_of
from recjury.corpora.rows import Row, decoded, parts

_CALLS, _RESULTS = frozenset({"function_call", "tool_call"}), frozenset({"observation", "tool"})
"""What ShareGPT calls them."""
_ARENA_ID = re.compile(r"(?P<system>.+_(?P<data>[a-z]+))_[0-9a-f-]{36}")
_NAMES: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "content", "message", "utterance", "body", "msg"),
    "speaker": ("speaker", "role", "sender", "author", "participant", "who", "from"),
    "session": (
        *("session", "session_id", "conversation_id", "conversation", "chat_id", "chat"),
        *("dialogue_id", "dialog_id", "dialogue", "thread_id", "thread", "id"),
    ),
    "system": ("system", "bot", "model"),
    "items": ("items",),
}
"""What columns are usually called, by the key that they are read as."""
_OF_ALL = ("targets", "wishes", "catalogue", "corpus", "user", "repeat")
_LISTS = ("targets", "wishes", "items")


class Form(NamedTuple):
    """A form: what a row looks like, whether a value is such a row, and how it is read.

    `read` raises ValueError for a conversation that is wrong. `group` makes a row for each
    conversation of rows that are parts of one.
    """

    looks_like: str
    knows: Callable[[Any], bool]
    read: Callable[[Any], Mapping[str, Any]]
    group: Callable[[Iterable[Row]], Iterable[Row]] = iter

    @property
    def about(self) -> str:
        """One line for lists."""
        return self.looks_like

    def conversations(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Rows whose values have the keys of `jsonl`, or that have a problem."""
        return map(self._read, self.group(map(self._known, rows)))

    def _known(self, row: Row) -> Row:
        if row.problem or self.knows(row.fields):
            return row
        return row._replace(problem=f"it is not of the form {self.looks_like}")

    def _read(self, row: Row) -> Row:
        if row.problem:
            return row
        try:
            return row._replace(value=self.read(row.fields))
        except ValueError as problem:
            return row._replace(problem=str(problem))


def is_row(value: Any) -> bool:
    """Whether a value is a row of a form."""
    return any(form.knows(value) for form in FORMS.values())


def _has_interaction(value: object) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("interaction"), list | tuple)


def _read_own(value: Any) -> Mapping[str, Any]:
    talks = {key: turns_of(value.get(key) or ()) for key in ("history", "interaction")}
    return {**value, **talks}


def _has_messages(value: object) -> bool:
    if isinstance(value, Mapping):
        return isinstance(value.get("messages"), list)
    return is_talk(value)


def _read_messages(value: Any) -> Mapping[str, Any]:
    row = value if isinstance(value, Mapping) else {"messages": value}
    system = row.get("system") or row.get("model")
    return {**row, "system": system, "history": (), "interaction": turns_of(row["messages"])}


def _is_sharegpt(value: Any) -> bool:
    return _has_list(value, "conversations", "from")


def _read_sharegpt(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Its `system` is a prompt, and no name."""
    said = list(map(_message, value["conversations"]))
    return {**value, "system": value.get("model"), "interaction": turns_of(said)}


def _message(said: Any) -> Any:
    if not isinstance(said, Mapping):
        return said
    role, text = str(said.get("from")).lower(), said.get("value")
    if role in _CALLS:
        call = {"name": "", "arguments": text}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"role": "tool" if role in _RESULTS else role, "content": text}


def _is_dialoguekit(value: Any) -> bool:
    return _has_list(value, "conversation", "participant")


def _read_dialoguekit(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The agent's id is the system's name."""
    agent = value.get("agent")
    system = agent.get("id") if isinstance(agent, Mapping) else agent
    id_ = value.get("conversation ID") or value.get("conversation_id")
    said = list(_utterances(value["conversation"], "participant"))
    return {"id": id_, "system": system, "interaction": turns_of(said)}


def _is_crsarena(value: Any) -> bool:
    return _has_list(value, "dialogue", "utterance")


def _read_crsarena(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Its system and its data set stand in its id."""
    id_ = str(value.get("conv_id") or "")
    named = _ARENA_ID.fullmatch(id_)
    about = {"system": named["system"], "corpus": f"crsarena-{named['data']}"} if named else {}
    return {"id": id_, **about, "interaction": turns_of(_utterances(value["dialogue"], "role"))}


def _utterances(turns: list[Any], speaker: str) -> Iterator[Any]:
    for turn in turns:
        is_object = isinstance(turn, Mapping)
        yield {"speaker": turn.get(speaker), "text": turn.get("utterance")} if is_object else turn


def _has_list(value: Any, key: str, mark: str) -> bool:
    """Whether an object has a list of objects with a key, or an empty list."""
    listed = value.get(key) if isinstance(value, Mapping) else None
    if not isinstance(listed, list):
        return False
    return not listed or (isinstance(listed[0], Mapping) and mark in listed[0])


def _is_turn(value: Any) -> bool:
    """Whether a row has a text and somebody who says it."""
    return isinstance(value, Mapping) and bool(_column(value, "text") and _column(value, "speaker"))


def _of_sessions(rows: Iterable[Row]) -> Iterator[Row]:
    """A row for each system and session, with all of its turns in the order of the file.

    One that was pasted twice has a problem, and so have rows without a session: nothing tells
    where one conversation ends and the next begins.
    """
    talks: dict[tuple[str, str], dict[int, Row]] = {}
    for place, row in enumerate(rows):
        if row.problem:
            yield row
        else:
            key = (_cell(row.fields, "system"), _cell(row.fields, "session"))
            talks.setdefault(key, {})[place] = row
    every = [row for same in talks.values() for row in same.values()]
    spoken = {_cell(row.fields, "speaker").lower() for row in every}
    speaks = "role" if spoken & (SYSTEMS - {"system"}) else "speaker"
    for (system, session), same in talks.items():
        said = list(same.values())
        if not session:
            problem = "it has no session: --map session=COLUMN names what tells conversations apart"
            yield said[0]._replace(problem=problem)
            continue
        if again := _pasted_again(same):
            problem = "its rows are there twice: leave out one copy, or give it another session"
            yield again._replace(problem=problem)
            continue
        first = said[0]
        known = {key: _listed(key, first.fields[key]) for key in _OF_ALL if first.fields.get(key)}
        about = {"id": session, "system": system, **known, "speaks": speaks, "rows": said}
        yield Row(first.where, about, {**first.given, **known})


def _pasted_again(rows: Mapping[int, Row]) -> Row | None:
    """The first row of a copy of all rows before it, which other rows part from these."""
    places, values = list(rows), [row.value for row in rows.values()]
    length = len(values) // values.count(values[0])
    is_copied = 1 < length < len(values) and values == values[:length] * (len(values) // length)
    if is_copied and places[length] > places[length - 1] + 1:
        return rows[places[length]]
    return None


def _read_turns(talk: Mapping[str, Any]) -> Mapping[str, Any]:
    """The conversation in the keys of `jsonl`. Raises ValueError with the line of a bad turn."""
    rows: list[Row] = talk["rows"]
    said = [
        {
            talk["speaks"]: _cell(row.fields, "speaker"),
            "text": _cell(row.fields, "text"),
            "items": _listed("items", row.fields.get(_column(row.fields, "items"), ())),
        }
        for row in rows
    ]
    return {**talk, "interaction": turns_of(said, [row.where for row in rows])}


def _column(value: Mapping[str, Any], key: str) -> str:
    """The column that is read as a key, or nothing."""
    by_name = {str(name).strip().lower(): name for name in value}
    return next((by_name[name] for name in _NAMES[key] if name in by_name), "")


def _cell(value: Mapping[str, Any], key: str) -> str:
    found = value.get(_column(value, key))
    return "" if found is None else str(found)


def _listed(key: str, value: Any) -> Any:
    """The list in a cell: "Heat|Thief", or JSON."""
    found = decoded(value) if key in _LISTS else value
    if key not in _LISTS or not isinstance(found, str):
        return found
    several = parts(found)
    return several if isinstance(several, list) else list(filter(None, [several]))


FORMS: Mapping[str, Form] = {
    "jsonl": Form(
        '{"id": "1", "system": "mine", "interaction": [{"speaker": "user", "text": "Hi"}, ...]}',
        _has_interaction,
        _read_own,
    ),
    "messages": Form(
        '{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", ...}]}',
        _has_messages,
        _read_messages,
    ),
    "sharegpt": Form(
        '{"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", ...}]}',
        _is_sharegpt,
        _read_sharegpt,
    ),
    "dialoguekit": Form(
        '{"agent": {"id": "mine"}, "conversation": [{"participant": "USER", "utterance": ...}]}',
        _is_dialoguekit,
        _read_dialoguekit,
    ),
    "crsarena": Form(
        '{"conv_id": "1", "dialogue": [{"role": "USER", "utterance": "Hi"}, ...]}',
        _is_crsarena,
        _read_crsarena,
    ),
    "langfuse": Form(
        '{"id": "1", "sessionId": "2", "timestamp": "...", "input": "Hi", "output": "Hello"}',
        is_trace,
        _read_messages,
        sessions,
    ),
    "csv": Form(
        "a row for each turn with the columns session, speaker and text",
        _is_turn,
        _read_turns,
        _of_sessions,
    ),
}
"""The forms that recjury knows, by name."""
