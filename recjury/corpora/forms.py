"""The file formats of recorded conversations, and their detection."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import orjson

from recjury.errors import DataError
from recjury.input_files import read_lines, read_start

Form: TypeAlias = Literal["concept", "crsarena", "recjury", "jsonl", "messages"]
FORMS: tuple[Form, ...] = get_args(Form)

EXPORTED = "recjury-conversation"
"""The value of `form` in each line of recjury's own export."""

# The field that identifies the form of a line of JSON.
_FIELDS: Mapping[Form, str] = {
    "concept": "simulator_dialog",
    "jsonl": "interaction",
    "messages": "messages",
}
_ARRAY_FIELD = "conv_id"


def form_of(path: Path) -> Form:
    """The form of a file, detected from its beginning.

    Raises DataError if the file is empty or its form is unknown. The message says for each form
    why it does not fit.
    """
    start = read_start(path)
    if not start:
        raise DataError("is empty", path=path)
    if start.startswith(b"["):
        return _form_of_array(start, path)
    first = next(read_lines(path))
    try:
        row = orjson.loads(first.content)
    except orjson.JSONDecodeError as error:
        missed = dict.fromkeys(FORMS, f"line {first.number} is not JSON: {error.msg}")
        raise _unknown({**missed, "crsarena": "not a JSON array"}, path) from None
    if not isinstance(row, dict):
        raise _unknown(dict.fromkeys(FORMS, "neither objects nor an array"), path)
    return _form_of_row(row, path)


def _form_of_array(start: bytes, path: Path) -> Form:
    if f'"{_ARRAY_FIELD}"'.encode() in start or start[1:].strip() == b"]":
        return "crsarena"
    missed = dict.fromkeys(FORMS, "an array, not an object a line")
    raise _unknown({**missed, "crsarena": f"no `{_ARRAY_FIELD}` at its beginning"}, path)


def _form_of_row(row: Mapping[str, object], path: Path) -> Form:
    if row.get("form") == EXPORTED:
        return "recjury"
    for form, field in _FIELDS.items():
        if field in row:
            return form
    missed = {form: f"no `{field}`" for form, field in _FIELDS.items()}
    missed |= {"crsarena": "not a JSON array", "recjury": f"no `form` that is {EXPORTED}"}
    raise _unknown({form: missed[form] for form in FORMS}, path)


def _unknown(missed: Mapping[Form, str], path: Path) -> DataError:
    forms: dict[str, list[str]] = {}
    for form, why in missed.items():
        forms.setdefault(why, []).append(form)
    tried = "; ".join(f"{', '.join(some)} ({why})" for why, some in forms.items())
    return DataError(f"has an unknown format: {tried}", path=path)
