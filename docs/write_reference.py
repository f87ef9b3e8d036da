"""Writes docs/reference from the code: `make docs`.

The meanings of keys and metrics stand in meanings.yaml, the queries of the store in queries.sql.
"""

import inspect
import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer
import yaml
from pydantic import BaseModel

import recjury
from recjury.agents import SYSTEMS, SystemSettings
from recjury.agents.http import HttpRequest, Opening
from recjury.agents.neural import NeuralSystem
from recjury.campaign import Config, Scenarios, Spending
from recjury.cli.app import app
from recjury.cli.overview import SECTIONS
from recjury.debate import DebateSettings
from recjury.demo import DEMO_EVALUATORS, DEMO_USERS
from recjury.judges import EVALUATORS, Criterion, Evaluator
from recjury.llm import Answer, Ask, Model, Score, ScriptedModel, TypicalModel
from recjury.records import (
    Conversation,
    ConversationLog,
    Event,
    Evidence,
    ItemRef,
    Metric,
    Rating,
    Scenario,
    SystemReply,
    Turn,
)
from recjury.simulator import USERS, Session, SimulatedUser, Situation
from recjury.store import tables

DOCS = Path(__file__).parent
_MEANINGS: Mapping[str, Mapping[str, str]] = yaml.safe_load(
    (DOCS / "meanings.yaml").read_text("utf-8")
)
_NOTE = "Written from the code by `make docs`; see also {}."
_NO_KEYS = {"kind", "folder", "recordings"}  # in each heading; set by commands

_used: set[tuple[str, str]] = set()

Row = Sequence[str]


def pages() -> dict[str, str]:
    """The generated pages by name. Raises ValueError if a meaning is of nothing."""
    start, more = _commands()
    written = {
        "campaign.md": _page("Keys of a campaign file", _campaign()),
        "systems.md": _page("Keys of systems and users", _systems_and_users()),
        "evaluators.md": _page("Keys of evaluators", _evaluators()),
        "commands.md": _page("Commands", start),
        "more-commands.md": _page("More commands", more),
        "metrics.md": _page("Metrics", _metrics()),
        "python.md": _page(
            "Python", _python(_RECJURY, "[recjury from Python](../how-to/python.md)")
        ),
        "own-parts.md": _page(
            "Python for parts of your own",
            _python(
                _OWN_PARTS,
                "[systems](../how-to/systems.md), [evaluators](../tutorials/own-evaluator.md)",
            ),
        ),
        "store.md": _page("Tables of the store", _store()),
    }
    if unused := {(group, key) for group in _MEANINGS for key in _MEANINGS[group]} - _used:
        raise ValueError(f"meanings of nothing: {sorted(unused)}")
    return {name: f"{text.rstrip()}\n" for name, text in written.items()}


def main() -> None:
    """Write all pages."""
    for name, text in pages().items():
        (DOCS / "reference" / name).write_text(text, "utf-8")


def _page(title: str, parts: Iterable[str]) -> str:
    return "\n\n".join((f"# {title}", *parts))


def _table(head: str, rows: Iterable[Row]) -> str:
    """A table without spaces around its marks, so that its words can be counted."""
    columns = head.split("|")
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"|{'|'.join(_cell(each) for each in line)}|" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _sentence(value: object) -> str:
    """The first paragraph of a docstring."""
    return " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())


def _meaning(group: str, key: str) -> str:
    """What meanings.yaml says. Raises KeyError if it says nothing."""
    _used.add((group, key))
    return _MEANINGS[group][key]


# Keys


def _campaign() -> Iterator[str]:
    yield _NOTE.format("[how to write one](../how-to/campaigns.md)")
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


def _systems_and_users() -> Iterator[str]:
    yield _NOTE.format("[systems](../how-to/systems.md), [users](../how-to/users.md)")
    yield from _kinds("systems", SYSTEMS, SystemSettings)
    yield from _nested("`start` and `end` of `http`", HttpRequest, Opening)
    yield from _kinds("users", {**USERS, **DEMO_USERS}, SimulatedUser)


def _evaluators() -> Iterator[str]:
    yield _NOTE.format("[how to choose](../how-to/evaluators.md), [metrics](metrics.md)")
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
        yield _sentence(record)
        if table := _key_table(record, base):
            yield table
        for key, field in record.model_fields.items():
            if inspect.isclass(field.annotation) and issubclass(field.annotation, BaseModel):
                yield f"Keys of its `{key}`:"
                yield _key_table(field.annotation)


def _nested(title: str, *records: type[BaseModel]) -> Iterator[str]:
    yield f"### {title}"
    keys = {key: each for each in records for key in each.model_fields}
    yield _table("key|type|default|meaning", (_row(keys[key], key) for key in keys))


def _key_table(record: type[BaseModel], base: type[BaseModel] | None = None) -> str:
    """The keys of a record that `base` lacks or has otherwise; empty if there are none."""
    rows = [
        _row(record, key)
        for key, field in record.model_fields.items()
        if key not in _NO_KEYS and not (base and _is_inherited(base, key, field.default))
    ]
    return _table("key|type|default|meaning", rows) if rows else ""


def _is_inherited(base: type[BaseModel], key: str, default: object) -> bool:
    there = base.model_fields.get(key)
    return there is not None and (there.default == default or key == "name")


def _row(record: type[BaseModel], key: str) -> Row:
    schema = record.model_json_schema(by_alias=True)
    field = record.model_fields[key]
    type_ = _type(schema["properties"][field.alias or key], schema.get("$defs", {}))
    is_required = (field.is_required() and key != "users") or key == "systems"
    default = "-" if field.is_required() else _default(field.get_default(call_default_factory=True))
    above = reversed(record.__mro__)
    owner = next(each for each in above if key in getattr(each, "__annotations__", ()))
    return (
        f"`{field.alias or key}`",
        type_,
        "required" if is_required else default,
        _meaning(owner.__name__, key),
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


# Commands

_FIRST = ("Start here", "Results")


def _commands() -> tuple[list[str], list[str]]:
    """The parts of two pages: what one begins with, and the rest."""
    commands = dict(_leaves(typer.main.get_command(app)))
    uses = Counter(row for command in commands.values() for row in _options(command))
    shared = [row for row, number in uses.items() if number > 2]
    start = [
        _NOTE.format("[running campaigns](../how-to/running.md)"),
        "Each option has a variable, which `--help` names: `RECJURY_RUN_STORE` is `--store` of "
        "`run`. There are [exit codes](../how-to/running.md#exit-codes) and "
        "[more commands](more-commands.md).",
        "## Options of several commands",
        _table("option|default|meaning", shared),
    ]
    more = [_NOTE.format("[the first commands](commands.md), which has the shared options")]
    for section, names in SECTIONS.items():
        page = start if section in _FIRST else more
        page.append(f"## {section}")
        for path in (path for name in names for path in commands if path.split()[0] == name):
            page.extend(_command(path, commands[path], shared))
    return start, more


def _leaves(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, late in group.commands.items():
        command = getattr(late, "command", late)  # modules of commands are imported late
        if hasattr(command, "commands"):
            yield from _leaves(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def _command(path: str, command: Any, shared: Container[Row]) -> Iterator[str]:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    usage = " ".join([f"recjury {path}", *map(_usage, arguments)])
    yield f"### {path}"
    yield f"`{usage}`: {_sentence(command.callback)}"
    rows = [row for row in _options(command) if row not in shared]
    if rows:
        yield _table("option|default|meaning", rows)
    if also := ", ".join(row[0] for row in _options(command) if row in shared):
        yield f"Also {also}."


def _usage(argument: Any) -> str:
    name = _named(argument) + "..." * (argument.nargs == -1)
    return name if argument.required else f"[{name}]"


def _named(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _options(command: Any) -> Iterator[tuple[str, str, str]]:
    """A row for each option but `--help`."""
    typed = inspect.signature(command.callback).parameters
    for option in command.params:
        if option.param_type_name == "option" and option.name != "help":
            names = " / ".join(f"`{each}`" for each in (*option.opts, *option.secondary_opts))
            choices = _choices(typed[option.name].annotation)
            among = f" One of {', '.join(f'`{each}`' for each in choices)}." if choices else ""
            yield names, _shown(option.default), f"{option.help or ''}{among}".strip()


def _choices(annotation: Any) -> tuple[str, ...]:
    """The values of an `Annotated[Literal[...], ...]`."""
    type_ = get_args(annotation)[:1] or (annotation,)
    return get_args(type_[0]) if get_origin(type_[0]) is Literal else ()


def _shown(default: object) -> str:
    if default in ("", None) or callable(default) or default is False:
        return "-"
    return "yes" if default is True else f"`{default}`"


# Metrics


def _metrics() -> Iterator[str]:
    yield _NOTE.format("[what the scores mean](../explanation/scores.md)")
    yield (
        "A metric's id is `NAME.METRIC`: the evaluator's `name`, by default its kind. `rubric` has "
        "a metric for each criterion, with its scale. `core.mean` and `counted.mean` are computed "
        "from the factors when tables are made."
    )
    found: dict[tuple[str, ...], list[str]] = {}
    for kind, evaluator in {**EVALUATORS, **DEMO_EVALUATORS}.items():
        settings = {"text": ["bleu", "rouge_l", "distinct"]} if kind == "offline" else {}
        metrics = (
            () if kind == "rubric" else evaluator.model_validate({"kind": kind} | settings).metrics
        )
        for metric in metrics:
            row = _metric(kind, metric)
            found.setdefault(row, []).append(kind)
    for row in [*found]:
        found[row] = [*dict.fromkeys(found[row])]
    for kinds in dict.fromkeys(map(tuple, found.values())):
        yield f"## {', '.join(f'`{kind}`' for kind in kinds)}"
        rows = [row for row, of in found.items() if tuple(of) == kinds]
        yield _table("metric|level|scale|better|meaning", rows)


def _metric(kind: str, metric: Metric) -> tuple[str, ...]:
    name = re.sub(r"(?<=[@_])\d+$", "N", metric.name)
    high = "" if metric.high is None else f" to {metric.high:g}"
    scale = f"{metric.low:g}{high or ' or more'}"
    group = next(
        group for group in (kind, "aspects", "factors") if name in _MEANINGS.get(group, ())
    )
    better = "lower" if metric.lower_is_better else "higher"
    return f"`{name}`", str(metric.level), scale, better, _meaning(group, name)


# Python

_RECJURY: Mapping[str, Sequence[Any]] = {
    "import recjury": [
        *(recjury.evaluate, recjury.judge, recjury.open, recjury.compare),
        *(recjury.ratings, recjury.means, recjury.turns, recjury.statements, recjury.calls),
        *(recjury.Run, recjury.Mean, recjury.Stored),
    ],
}
_OWN_PARTS: Mapping[str, Sequence[Any]] = {
    "recjury.records": [
        *(Conversation, Turn, ItemRef, SystemReply, Event),
        *(Scenario, ConversationLog, Metric, Rating, Evidence),
    ],
    "recjury.llm": [Ask, Answer, Score, ScriptedModel, TypicalModel],
    "recjury.judges": [Evaluator, Criterion],
    "recjury.simulator": [SimulatedUser, Situation],
    "recjury.agents.neural": [NeuralSystem],
}


_WITHOUT_MEMBERS = {NeuralSystem, ScriptedModel, TypicalModel}


def _python(names: Mapping[str, Sequence[Any]], see: str) -> Iterator[str]:
    yield _NOTE.format(see)
    for module, values in names.items():
        yield f"## {module}"
        rows = (row for value in values for row in _described(value))
        yield _table("name|is", rows)


def _described(value: Any) -> Iterator[Row]:
    """A row for a function or a class, and for each public member of a class."""
    yield f"`{value.__name__}{_signature(value)}`", inspect.getdoc(value) or ""
    for name, member in (
        vars(value).items() if inspect.isclass(value) and value not in _WITHOUT_MEMBERS else ()
    ):
        if _is_public(value, name, member):
            yield f"`.{name}{_signature(member)}`", _sentence(member)


def _is_public(owner: Any, name: str, value: object) -> bool:
    fields: Any = getattr(owner, "model_fields", {}) or getattr(owner, "_fields", ())
    described = isinstance(value, property) or inspect.isfunction(value)
    return described and not name.startswith(("_", "model_")) and name not in fields


def _signature(value: Any) -> str:
    """The parameters and their defaults; their types are in the source."""
    if isinstance(value, property):
        return ""
    parameters = [
        each for each in inspect.signature(value).parameters.values() if each.name != "self"
    ]
    return f"({', '.join(map(_parameter, parameters))})"


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(parameter.kind.name, "")
    name, default = f"{stars}{parameter.name}", parameter.default
    if default is parameter.empty:
        return name
    if isinstance(default, Path | StrEnum):
        default = str(default)
    plain = default is None or type(default) in (str, int, float, bool, tuple)
    return f"{name}={default!r}" if plain else f"{name}=..."


# The store


def _store() -> Iterator[str]:
    yield _NOTE.format("[how to work with a store](../how-to/stores.md)")
    yield (
        "Times are ISO 8601 in UTC with their offset; costs are US dollars. Keys are in bold. "
        "Columns that name a text hold its hash in `text`. `call.prompt` is JSON, "
        "`[role, hash, ...]` for each message."
    )
    yield "## Tables"
    rows = []
    for mapper in tables.Row.__subclasses__():
        table: Any = mapper.__table__
        columns = ", ".join(_column(each) for each in table.columns)
        rows.append((f"`{table.name}`", columns, " ".join((mapper.__doc__ or "").split())))
    yield _table("table|columns|a row is", rows)
    yield "## Queries"
    yield "For `sqlite3 -readonly films.db`, Datasette or pandas."
    for title, query in queries().items():
        yield f"### {title}"
        yield f"```sql\n{query}\n```"


def _column(column: Any) -> str:
    return f"**{column.name}**" if column.primary_key else str(column.name)


def queries() -> dict[str, str]:
    """The queries of queries.sql by title."""
    parts = re.split(r"^-- (.*)\n", (DOCS / "queries.sql").read_text("utf-8"), flags=re.MULTILINE)
    return {title: query.strip() for title, query in zip(parts[1::2], parts[2::2], strict=True)}


if __name__ == "__main__":
    main()
