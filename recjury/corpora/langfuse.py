"""Exports of Langfuse: traces and observations, as API, blob storage and tables write them.

A session is a conversation, in the order of time; a trace without a session is one, too. A trace's
`input` has the user's turn and its `output` the system's. Where only observations are there, the
outermost one of a trace speaks for it, or else its last generation.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from recjury.corpora.messages import USERS
from recjury.corpora.rows import Row, decoded

_TIMES = ("timestamp", "startTime", "start_time")
_SESSIONS = ("session", "sessionId", "session_id")
_TRACES = ("traceId", "trace_id")
_PARENTS = ("parentObservationId", "parent_observation_id")
_TEXTS = (
    *("query", "question", "input", "prompt", "message", "text", "content"),
    *("answer", "response", "output", "reply", "completion"),
)


def is_trace(value: Any) -> bool:
    """Whether it is a trace or an observation with input and output."""
    return (
        isinstance(value, Mapping)
        and "input" in value
        and "output" in value
        and not value.keys().isdisjoint(_TIMES)
    )


def sessions(rows: Iterable[Row]) -> Iterator[Row]:
    """A row of messages for each session; a trace without a user's turn is a problem."""
    traces: dict[str, list[Row]] = {}
    for row in rows:
        if row.problem:
            yield row
        else:
            id_ = _first(row.fields, _TRACES) or row.fields.get("id") or row.where
            traces.setdefault(str(id_), []).append(row)
    talks: dict[str, list[Row]] = {}
    for id_, same in traces.items():
        row = _speaking(same)
        if any(map(_is_user, _asked(row))):
            talks.setdefault(str(_first(row.fields, _SESSIONS) or id_), []).append(row)
        else:
            yield row._replace(problem=f"trace {id_} has no user's turn in its input")
    for id_, same in talks.items():
        same.sort(key=_time)
        said: list[Any] = []
        for row in same:
            said += _said(row, said)
        yield same[0]._replace(value={"id": id_, "messages": said})


def _speaking(same: list[Row]) -> Row:
    """The row that speaks for a trace: itself, its outermost observation, or its last model."""
    traces = [row for row in same if not _first(row.fields, _TRACES)]
    roots = [row for row in same if not _first(row.fields, _PARENTS)]
    whole = [row for row in (*traces, *roots) if _asked(row) and row.fields["output"]]
    return whole[0] if whole else max(same, key=lambda row: (_is_model(row), _time(row)))


def _said(row: Row, before: Sequence[Any]) -> Iterator[Any]:
    """What a trace adds to its session: of a whole history in its input, only the end is new."""
    asked, answered = _asked(row), _messages(row.fields["output"], "assistant")
    yield from _new(asked, before)
    places = [n for n, message in enumerate(answered) if _is_user(message)]
    yield from answered[places[-1] + 1 if places else 0 :]


def _new(asked: list[Any], before: Sequence[Any]) -> list[Any]:
    """What follows the user's words that were said before; without these, the last turn."""
    places = [n for n, message in enumerate(asked) if _is_user(message)]
    words = [asked[n].get("content") for n in places]
    known = [message.get("content") for message in before if _is_user(message)]
    if not before or (words[: len(known)] == known and len(words) > len(known)):
        return asked[places[len(known)] if known else 0 :]
    return asked[_last_turn(asked) :]


def _last_turn(messages: list[Any]) -> int:
    """Where the last messages of a user in a row begin."""
    place = max(n for n, message in enumerate(messages) if _is_user(message))
    while place and _is_user(messages[place - 1]):
        place -= 1
    return place


def _asked(row: Row) -> list[Any]:
    return _messages(row.fields["input"], "user")


def _messages(value: Any, role: str) -> list[Any]:
    """The messages in an input or an output; a text is one message of a role."""
    match decoded(value):
        case str(text):
            return [{"role": role, "content": text}] if text.strip() else []
        case list(values):
            return [message for each in values for message in _messages(each, role)]
        case {"messages": list(values)}:
            return _messages(values, role)
        case {"choices": [{"message": message}, *_]}:
            return _messages(message, role)
        case {"role": str()} as message:
            return [message]
        case {"type": str(speaker), "content": content}:
            return [{"role": speaker, "content": content}]
        case Mapping() as values:
            found = next((values[key] for key in _TEXTS if values.get(key)), None)
            return _messages(found, role)
    return []


def _is_user(message: Mapping[str, Any]) -> bool:
    return str(message.get("role")).lower() in USERS


def _is_model(row: Row) -> bool:
    return str(row.fields.get("type")).upper() == "GENERATION"


def _time(row: Row) -> str:
    return str(_first(row.fields, _TIMES))


def _first(values: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((values[name] for name in names if values.get(name)), None)
