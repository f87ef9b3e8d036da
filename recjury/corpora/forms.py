"""Forms of recordings: how to recognise a row, how to read it, and which rows are one conversation.

What a conversation is read to has the keys of the form `jsonl`, recjury's own.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from recjury.corpora.langfuse import is_trace, sessions
from recjury.corpora.messages import is_talk, turns_of
from recjury.corpora.rows import Row
from recjury.corpora.toolkits import (
    is_crsarena,
    is_dialoguekit,
    is_sharegpt,
    read_crsarena,
    read_dialoguekit,
    read_sharegpt,
)
from recjury.corpora.turn_tables import conversations, is_turn, read_turns


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
        is_sharegpt,
        read_sharegpt,
    ),
    "dialoguekit": Form(
        '{"agent": {"id": "mine"}, "conversation": [{"participant": "USER", "utterance": ...}]}',
        is_dialoguekit,
        read_dialoguekit,
    ),
    "crsarena": Form(
        '{"conv_id": "1", "dialogue": [{"role": "USER", "utterance": "Hi"}, ...]}',
        is_crsarena,
        read_crsarena,
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
