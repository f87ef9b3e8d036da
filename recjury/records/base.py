"""The base of all records: frozen, strict about fields, with an identity by content."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Annotated

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict
from typing_extensions import TypeAliasType

from recjury.safe_text import without_keys

# A named alias, so that pydantic resolves the recursion wherever it is used.
JSON = TypeAliasType(
    "JSON", "str | int | float | bool | Sequence[JSON] | Mapping[str, JSON] | None"
)

SafeText = Annotated[str, AfterValidator(without_keys)]
"""What a system under test or a file says. It goes into prompts, so it enters without keys."""


class Record(BaseModel):
    """A frozen value that refuses unknown fields; equal when its fields are equal."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def digest(value: object) -> str:
    """The identity of `value`: 32 hex digits of SHA-256 over its canonical JSON.

    Mapping keys are sorted; pydantic models count as their fields, tuples as lists.
    Raises TypeError for values that JSON cannot represent.
    """
    canonical = orjson.dumps(value, default=_plain, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(canonical).hexdigest()[:32]


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no canonical JSON")
