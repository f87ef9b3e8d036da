"""The JSON Schema of a campaign file: editors complete keys by it, and mark mistakes."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic.json_schema import models_json_schema

from recjury import plugins
from recjury.campaign.config import Config
from recjury.records import Record

Json = dict[str, Any]

_KINDS: Mapping[str, Mapping[str, type[Record]]] = {
    kind: plugins.known(kind) for kind in ("systems", "users", "evaluators")
}
_OWN_KIND = {"type": "string", "pattern": ":", "description": "`module:name` of your own"}
_NOT_WRITTEN = {"folder", "recordings"}  # set by commands


def campaign_schema() -> Json:
    """The schema (draft 2020-12), with the keys of all that ships.

    What is named by `module:name` may have any keys.
    """
    records: list[type[Record]] = [
        Config,
        *dict.fromkeys(each for kinds in _KINDS.values() for each in kinds.values()),
    ]
    references, whole = models_json_schema([(each, "validation") for each in records])
    definitions = whole["$defs"]
    config = definitions.pop(Config.__name__)["properties"]
    keys = {key: value for key, value in config.items() if key not in _NOT_WRITTEN}
    for key, kinds in _KINDS.items():
        settings = {kind: references[record, "validation"] for kind, record in kinds.items()}
        keys[key] = _one_or_many(_part(settings, definitions))
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


def _one_or_many(part: Json) -> Json:
    return {"anyOf": [part, {"type": "array", "items": part}]}


def _part(settings: Mapping[str, Json], definitions: Json) -> Json:
    """A system, a user or an evaluator: its kind alone, or with its settings."""
    kinds = {"anyOf": [{"enum": list(settings)}, _OWN_KIND]}
    return {
        "anyOf": [
            kinds,
            {
                "type": "object",
                "properties": {"kind": kinds},
                "required": ["kind"],
                "allOf": list(_settings_by_kind(settings, definitions)),
            },
        ]
    }


def _settings_by_kind(settings: Mapping[str, Json], definitions: Json) -> Iterator[Json]:
    """For each kind, the keys that it has beside `kind`. With `vary`, none of them is required."""
    for kind, reference in settings.items():
        record = definitions[reference["$ref"].rpartition("/")[2]]
        record["properties"] |= {"kind": {"type": "string"}}
        is_kind = {"properties": {"kind": {"const": kind}}, "not": {"required": ["vary"]}}
        yield {"if": is_kind, "then": reference}
