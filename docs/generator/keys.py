"""Keys of a campaign file, from the settings of all that ships."""

import inspect
import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from docs.generator.writing import NOTE, Row, meaning, sentence, table
from recjury.agents import SYSTEMS, SystemSettings
from recjury.agents.http import HttpRequest, Opening
from recjury.campaign import Config, Scenarios, Spending
from recjury.debate import DebateSettings
from recjury.demo import DEMO_EVALUATORS, DEMO_USERS
from recjury.judges import EVALUATORS, Criterion, Evaluator
from recjury.llm import Model
from recjury.simulator import USERS, Session, SimulatedUser

_NO_KEYS = {"kind", "folder", "recordings"}  # in each heading; set by commands


def campaign() -> Iterator[str]:
    """The parts of the page about a campaign file."""
    yield NOTE.format("[how to write one](../how-to/campaigns.md)")
    yield (
        "A part without settings may be written as its kind alone, a list of one as that one. "
        "`-` is no default: the key may be left out. [Systems and users](systems.md) and "
        "[evaluators](evaluators.md) have their own pages."
    )
    yield _key_table(Config)
    parts: Mapping[str, type[BaseModel]] = {
        "scenarios": Scenarios,
        "budget": Spending,
        "models": Model,
        "session": Session,
    }
    for name, record in parts.items():
        yield f"## {name}"
        yield _key_table(record)


def systems_and_users() -> Iterator[str]:
    """The parts of the page about systems and users."""
    yield NOTE.format("[systems](../how-to/systems.md), [users](../how-to/users.md)")
    yield from _kinds("systems", SYSTEMS, SystemSettings)
    yield from _nested("`start` and `end` of `http`", HttpRequest, Opening)
    yield from _kinds("users", {**USERS, **DEMO_USERS}, SimulatedUser)


def evaluators() -> Iterator[str]:
    """The parts of the page about evaluators."""
    yield NOTE.format("[how to choose](../how-to/evaluators.md), [metrics](metrics.md)")
    yield from _kinds("evaluators", {**EVALUATORS, **DEMO_EVALUATORS}, Evaluator)
    yield from _nested("`debate` of `core`", DebateSettings)
    yield from _nested("`criteria` of `rubric`", Criterion)


def _kinds(
    group: str, kinds: Mapping[str, type[BaseModel]], base: type[BaseModel]
) -> Iterator[str]:
    """A section for what all have, and one for each class; a class may serve several kinds."""
    yield f"## {group}"
    yield _key_table(base)
    for record in dict.fromkeys(kinds.values()):
        yield f"### {', '.join(f'`{kind}`' for kind, each in kinds.items() if each is record)}"
        yield sentence(record)
        if table := _key_table(record, base):
            yield table
        for key, field in record.model_fields.items():
            if inspect.isclass(field.annotation) and issubclass(field.annotation, BaseModel):
                yield f"Keys of its `{key}`:"
                yield _key_table(field.annotation)


def _nested(title: str, *records: type[BaseModel]) -> Iterator[str]:
    yield f"### {title}"
    keys = {key: each for each in records for key in each.model_fields}
    yield table("key|type|default|meaning", (_row(keys[key], key) for key in keys))


def _key_table(record: type[BaseModel], base: type[BaseModel] | None = None) -> str:
    """The keys of a record that `base` lacks or has otherwise; empty if there are none."""
    rows = [
        _row(record, key)
        for key, field in record.model_fields.items()
        if key not in _NO_KEYS and not (base and _is_inherited(base, key, field.default))
    ]
    return table("key|type|default|meaning", rows) if rows else ""


def _is_inherited(base: type[BaseModel], key: str, default: object) -> bool:
    there = base.model_fields.get(key)
    return there is not None and (there.default == default or key == "name")


def _row(record: type[BaseModel], key: str) -> Row:
    schema = record.model_json_schema(by_alias=True)
    field = record.model_fields[key]
    type_ = _type(schema["properties"][field.alias or key], schema.get("$defs", {}))
    is_required = (field.is_required() and key != "users") or key == "systems"
    default = "-" if field.is_required() else _default(field.get_default(call_default_factory=True))
    bases = reversed(record.__mro__)
    owners = [each.__name__ for each in bases if key in getattr(each, "model_fields", ())]
    return (
        f"`{field.alias or key}`",
        type_,
        "required" if is_required else default,
        meaning(key, *owners),
    )


def _default(value: object) -> str:
    if not value and not isinstance(value, bool | int | float):
        return "-"
    if isinstance(value, BaseModel):
        return "as below"
    if isinstance(value, tuple) and isinstance(value[0], BaseModel):
        return "`sample`"
    if isinstance(value, dict):
        return "see there"
    text = value if isinstance(value, str) else json.dumps(value)
    return f"`{text if '://' in text else text.rpartition('/')[2]}`"


def _type(schema: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    """The type in words: `list of text`, `"sse" or "lines"`."""
    if "$ref" in schema:
        return _type(known[schema["$ref"].rpartition("/")[2]], known)
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{each}`" for each in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        return " or ".join(
            dict.fromkeys(
                _type(each, known) for each in schema["anyOf"] if each != {"type": "null"}
            )
        )
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}), known)}"
    if "properties" in schema or schema.get("type") == "object":
        return "mapping"
    words = {"string": "text", "integer": "whole number", "boolean": "true or false"}
    type_ = str(schema.get("type", "any"))
    return words.get(type_, type_) + _bounds(schema)


def _bounds(schema: Mapping[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f", {low:g} to {high:g}"
    if (over := schema.get("exclusiveMinimum")) is not None:
        return f" over {over:g}"
    return f", at least {low:g}" if low is not None else ""
