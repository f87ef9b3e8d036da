"""The objects of JSON files, as models of their lines: types are never converted."""

from pydantic import BaseModel, ConfigDict


class JsonRow(BaseModel):
    """An object; keys that it does not name are ignored."""

    model_config = ConfigDict(strict=True)


class ClosedRow(JsonRow):
    """An object that has no other keys."""

    model_config = ConfigDict(extra="forbid")
