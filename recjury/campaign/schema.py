"""The JSON Schema of a campaign file: editors complete keys by it, and mark mistakes."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic.json_schema import models_json_schema

from recjury import plugins
from recjury.campaign.config import Config
from recjury.records import Record

Json = dict[str, Any]

_PARTS = ("systems", "users", "evaluators")
_OWN_KIND = {"type": "string", "pattern": ":", "description": "`module:name` of your own"}
_GRID = {"type": "object", "additionalProperties": {"type": "array", "minItems": 2}}
_NOT_WRITTEN = {"folder", "recordings"}  # set by commands


def campaign_schema() -> Json:
    """The schema (draft 2020-12), with the keys of all that ships.

    What is named by `module:name`, or comes from another package, may have any keys.
    """
    ships: dict[str, Mapping[str, type[Record]]] = {kind: plugins.known(kind) for kind in _PARTS}
    records: list[type[Record]] = [
        Config,
        *dict.fromkeys(each for kinds in ships.values() for each in kinds.values()),
    ]
    references, whole = models_json_schema([(each, "validation") for each in records])
    definitions = whole["$defs"]
    config = definitions.pop(Config.__name__)["properties"]
    keys = {key: value for key, value in config.items() if key not in _NOT_WRITTEN}
    for key, kinds in ships.items():
        settings = {kind: references[record, "validation"] for kind, record in kinds.items()}
        for reference in settings.values():
            record = definitions[reference["$ref"].rpartition("/")[2]]
            record["properties"] |= {"kind": {"type": "string"}}
            if key == "systems":
                _may_vary(record)
        keys[key] = _one_or_many(_part(settings, plugins.entries(key)))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A campaign of recjury",
        "type": "object",
        "properties": keys | _short_forms(keys),
        "additionalProperties": False,
        "$defs": definitions,
    }


def _short_forms(keys: Json) -> Json:
    return {
        "scenarios": _one_or_many({"anyOf": [keys["scenarios"]["items"], {"type": "string"}]}),
        "budget": {"anyOf": [*keys["budget"]["anyOf"], {"type": "number", "exclusiveMinimum": 0}]},
        "session": {"anyOf": [{"$ref": keys["session"]["$ref"]}, {"const": "offline"}]},
        "model": keys["models"]["additionalProperties"],
    }


def _may_vary(record: Json) -> None:
    """Add `vary` to a system's keys: it may give those that are required."""
    record["properties"]["vary"] = _GRID
    if required := record.pop("required", None):
        record["anyOf"] = [{"required": required}, {"required": ["vary"]}]


def _one_or_many(part: Json) -> Json:
    return {"if": {"type": "array"}, "then": {"items": part}, "else": part}


def _part(settings: Mapping[str, Json], others: Iterable[str]) -> Json:
    """A system, a user or an evaluator: its kind alone, or with its settings."""
    kinds = {"anyOf": [{"enum": [*settings, *others]}, _OWN_KIND]}
    by_kind = [
        {"if": {"properties": {"kind": {"const": kind}}}, "then": reference}
        for kind, reference in settings.items()
    ]
    whole = {"type": "object", "properties": {"kind": kinds}, "required": ["kind"]}
    return {"if": {"type": "string"}, "then": kinds, "else": whole | {"allOf": by_kind}}
