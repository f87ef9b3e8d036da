"""Tables with a row for each turn, as spreadsheets and databases write them: the form `csv`."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recjury.corpora.messages import SYSTEMS, turns_of
from recjury.corpora.rows import Row, decoded, parts

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


def is_turn(value: Any) -> bool:
    """Whether a row has a text and somebody who says it."""
    return isinstance(value, Mapping) and bool(_column(value, "text") and _column(value, "speaker"))


def conversations(rows: Iterable[Row]) -> Iterator[Row]:
    """A row for each system and session, with all of its turns in the order of the file.

    Without a column for the session, all is one conversation. One that was pasted twice has a
    problem.
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
        if again := _pasted_again(same):
            yield again._replace(
                problem=f"the rows of {session!r} are there twice, also from {said[0].where}: "
                "leave out one copy, or give it another session"
            )
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


def read_turns(talk: Mapping[str, Any]) -> Mapping[str, Any]:
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
