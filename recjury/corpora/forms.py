"""Forms of recordings: how to recognise a row, how to read it, and which rows are one conversation.

What a conversation is read to has the keys of the form `jsonl`, recjury's own.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from recjury.corpora.langfuse import is_trace, sessions
from recjury.corpora.messages import is_talk, turns_of
from recjury.corpora.rows import Row
from recjury.corpora.turn_tables import conversations, is_turn, read_turns

_CALLS, _RESULTS = frozenset({"function_call", "tool_call"}), frozenset({"observation", "tool"})
"""What ShareGPT calls them."""
_ARENA_ID = re.compile(r"(?P<system>.+_(?P<data>[a-z]+))_[0-9a-f-]{36}")


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
        is_turn,
        read_turns,
        conversations,
    ),
}
"""The forms that recjury knows, by name."""
