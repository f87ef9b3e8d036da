"""`recjury list`: what there is, and the settings of each."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

import pandas as pd
import typer

from recjury import plugins
from recjury.cli.options import JsonOutput
from recjury.errors import UserError
from recjury.files import nearest
from recjury.records import Record
from recjury.results import Findings


def list_(
    *,
    kind: Annotated[str, typer.Argument(help="One of what there is; all if empty.")] = "",
    name: Annotated[str, typer.Argument(help="One of them: its settings.")] = "",
    output: JsonOutput,
) -> None:
    """What there is: systems, users, evaluators, corpora, forms, and more; and their settings.

    Examples: recjury list; recjury list systems; recjury list systems http.
    """
    kinds = plugins.KINDS
    if kind and kind not in kinds:
        raise UserError(
            f"there are no {kind!r}{nearest(kind, kinds)}: there are {', '.join(kinds)}"
        )
    found = _settings(kind, name) if name else listed([kind] if kind else kinds)
    output.show(found)


def listed(kinds: Iterable[str]) -> Findings:
    """What ships of some kinds, and what is installed, each in a sentence."""
    known = {kind: dict(_described(kind)) for kind in kinds}
    tables = {
        kind: pd.DataFrame(entries.items(), columns=["name", "what it is"])
        for kind, entries in known.items()
    }
    hint = "`recjury list KIND NAME` shows the settings of one; `module:name` names your own."
    return Findings(title="list", answer=hint, tables=tables, data=known)


def _described(kind: str) -> Iterator[tuple[str, str]]:
    for name, value in plugins.known(kind).items():
        yield name, _sentence(value)
    for name, target in plugins.entries(kind).items():
        yield name, f"{target}, installed"


def _sentence(value: object) -> str:
    """A text itself, what a value says about itself, or the first sentence of its docstring."""
    text = value if isinstance(value, str) else getattr(value, "about", None) or value.__doc__ or ""
    return " ".join(text.split("\n\n")[0].split())


def _settings(kind: str, name: str) -> Findings:
    """The keys of one system, user or evaluator. Raises UserError if it has none."""
    plugins.look_in(".")
    value = plugins.find(kind, name).value
    if not (isinstance(value, type) and issubclass(value, Record)):
        text = _sentence(value) or "It has no settings."
        return Findings(title=name, answer=text, data={"name": name, "settings": []})
    rows = [*_keys(value)]
    return Findings(
        title=name,
        answer=" ".join((value.__doc__ or "").split()),
        tables={f"Keys of {name}": pd.DataFrame(rows)},
        data={"name": name, "settings": rows},
    )


def _keys(settings: type[Record]) -> Iterator[dict[str, str]]:
    """The keys beside `kind`, as the JSON Schema of the settings has them."""
    schema = settings.model_json_schema()
    required = schema.get("required", ())
    for key, value in schema["properties"].items():
        if key != "kind":
            default = "required" if key in required else _short(json.dumps(value.get("default")))
            yield {"key": key, "type": _type(value), "default": default}


def _type(schema: Mapping[str, Any]) -> str:
    """The type in words: `list of string`, `retrieval or popular`."""
    if "enum" in schema:
        return " or ".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(_type, schema["anyOf"])))
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if schema.get("type") == "array" and "items" in schema:
        return f"list of {_type(schema['items'])}"
    return str(schema.get("const") or schema.get("type") or "any")


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."
