"""`Record`, and the digest that identities are made of."""

import hashlib
import json

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen value that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def digest(*values: object) -> str:
    """32 hex digits of SHA-256 over the canonical JSON of `values`.

    Records are written without the fields that have their default, so that a new field with a
    default changes no digest. Raises TypeError for values that have no JSON.
    """
    text = json.dumps(values, sort_keys=True, default=_plain, ensure_ascii=False)
    return text_hash(text)


def text_hash(text: str) -> str:
    """32 hex digits of SHA-256 over a text; lone surrogates are allowed."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_defaults=True)
    if isinstance(value, frozenset | set):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no canonical JSON")
