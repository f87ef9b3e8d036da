"""The identity of a record: its fields, with what a name stands for in place of the name."""

from collections.abc import Callable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from recjury.records.base import Record


class RefersTo(NamedTuple):
    """Marks a field that holds a name; `kind` says what is named ("model", "pack", "file")."""

    kind: str


ModelName = Annotated[str, RefersTo("model")]
PackName = Annotated[str, RefersTo("pack")]
FILE = RefersTo("file")
FileName = Annotated[str, FILE]
"""A file or a folder, or a word that stands for what ships."""


def shipped_in(room: str, *packs: str) -> Callable[[str], str]:
    """A function that writes the names of packs that ship in full: "judges/core" for "core"."""
    return lambda name: f"{room}/{name}" if name in packs else name


LookUp = Callable[[str, str], object]
"""What a name stands for: `look_up("model", "main")` returns plain data, and
`look_up("models", "")` all models by alias."""

_NOT_IDENTITY = frozenset({"name", "judgings"})


def identity(record: Record, look_up: LookUp) -> Mapping[str, object]:
    """The fields that can change a result, as plain data.

    `name` and `judgings` are left out, and each field that refers to a model or a pack has what
    `look_up` returns for it.
    """
    fields = type(record).model_fields.keys() - _NOT_IDENTITY
    return _fields(record, sorted(fields), look_up)


def references(record: Record, kind: str) -> set[str]:
    """All names of a kind ("model", "pack") that a record uses."""
    found: set[str] = set()

    def note(each: str, name: str) -> None:
        if each == kind:
            found.add(name)

    identity(record, note)
    return found


def _fields(record: Record, names: Sequence[str], look_up: LookUp) -> dict[str, object]:
    hints = get_type_hints(type(record), include_extras=True)
    return {name: _resolved(getattr(record, name), hints[name], look_up) for name in names}


def _resolved(value: Any, hint: Any, look_up: LookUp) -> Any:
    if value is None:
        return None
    if get_origin(hint) is Annotated:
        mark = next((m for m in hint.__metadata__ if isinstance(m, RefersTo)), None)
        if mark is None:
            return _resolved(value, get_args(hint)[0], look_up)
        return look_up(mark.kind, value)
    if get_origin(hint) in (Union, UnionType):
        return _resolved(
            value, next(each for each in get_args(hint) if each is not NoneType), look_up
        )
    if isinstance(value, Record):
        return _fields(value, sorted(type(value).model_fields), look_up)
    inner = get_args(hint)
    if isinstance(value, dict):
        return {
            k: _resolved(v, inner[1] if len(inner) > 1 else Any, look_up) for k, v in value.items()
        }
    if isinstance(value, tuple | list):
        return [_resolved(each, inner[0] if inner else Any, look_up) for each in value]
    return value
