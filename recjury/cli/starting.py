"""`recjury init` and `recjury list`."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recjury.cli.app import app
from recjury.cli.options import JsonOption
from recjury.errors import UserError

if TYPE_CHECKING:
    from recjury.records import Record
    from recjury.results import Findings

_SCHEMA = "campaign.schema.json"

_CORPORA = {
    "sample": "films, which ship with recjury",
    "sample-books": "books, which ship with recjury",
    "redial": "films, from the folder in RECJURY_DATA (docs/how-to/data.md)",
    "opendialkg": "films and books, from the folder in RECJURY_DATA",
    "inspired": "films, from the folder in RECJURY_DATA",
}


@app.command()
def init(
    file: Annotated[Path, typer.Argument(help="The file to write.")] = Path("campaign.yaml"),
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    schema: Annotated[
        bool, typer.Option("--schema", help=f"Also write {_SCHEMA}, by which editors help.")
    ] = False,
) -> None:
    """Write a campaign file that runs as it is, with a comment for each setting.

    Examples: recjury init; recjury init mine.yaml --schema.
    """
    template = (Path(__file__).parent / "campaign.yaml").read_text("utf-8")
    try:
        if schema:
            from recjury.campaign.schema import campaign_schema

            text = json.dumps(campaign_schema(), indent=1, ensure_ascii=False)
            (file.parent / _SCHEMA).write_text(f"{text}\n", "utf-8")
            template = f"# yaml-language-server: $schema={_SCHEMA}\n{template}"
        with file.open("w" if force else "x", encoding="utf-8") as opened:
            opened.write(template.replace("FILE", str(file)))
    except FileExistsError:
        raise UserError(f"{file} is there already: name another file, or use --force") from None
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}") from None
    typer.echo(f"{file} is a campaign of two systems over the sample. Next:")
    typer.echo(f"  recjury run {file} --dry-run\n  recjury run {file}\n  recjury doctor {file}")


@app.command("list")
def list_(
    kind: Annotated[
        str, typer.Argument(help="systems, users, evaluators, ...; all if empty.")
    ] = "",
    name: Annotated[str, typer.Argument(help="One of them: its settings.")] = "",
    as_json: JsonOption = False,
) -> None:
    """What there is: systems, users, evaluators, corpora, forms, personas; and their settings.

    Examples: recjury list; recjury list systems; recjury list systems http.
    """
    from recjury.cli.show import show
    from recjury.files import nearest

    if kind and kind not in _KINDS:
        raise UserError(
            f"there are no {kind!r}{nearest(kind, _KINDS)}: there are {', '.join(_KINDS)}"
        )
    found = _settings(kind, name) if name else _all([kind] if kind else _KINDS)
    show(found, as_json=as_json)


def _all(kinds: Iterable[str]) -> "Findings":
    import pandas as pd

    from recjury.results import Findings

    known = {kind: dict(_described(kind)) for kind in kinds}
    tables = {
        kind: pd.DataFrame(entries.items(), columns=["name", "what it is"])
        for kind, entries in known.items()
    }
    hint = "`recjury list KIND NAME` shows the settings of one; `module:name` names your own."
    return Findings(title="list", answer=hint, tables=tables, data=known)


def _described(kind: str) -> Iterator[tuple[str, str]]:
    """The names of a kind, what ships and what is installed, each in a sentence."""
    from importlib.metadata import entry_points

    for name, value in _KINDS[kind]().items():
        yield name, _sentence(value)
    for entry in entry_points(group=f"recjury.{kind}"):
        yield entry.name, f"{entry.value}, installed"


def _sentence(value: object) -> str:
    """A text itself, or the first sentence of a docstring."""
    text = value if isinstance(value, str) else (getattr(value, "__doc__", None) or "")
    return " ".join(text.split("\n\n")[0].split())


def _settings(kind: str, name: str) -> "Findings":
    """The keys of one system, user or evaluator. Raises UserError if it has none."""
    import pandas as pd

    from recjury import plugins
    from recjury.records import Record
    from recjury.results import Findings

    plugins.look_in(".")
    value = plugins.find(kind, name, _KINDS[kind]()).value
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


def _keys(settings: "type[Record]") -> Iterator[dict[str, str]]:
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


def _systems() -> Mapping[str, object]:
    from recjury.agents import SYSTEMS

    return SYSTEMS


def _users() -> Mapping[str, object]:
    from recjury.demo import DEMO_USERS
    from recjury.simulator import USERS

    return {**USERS, **DEMO_USERS}


def _evaluators() -> Mapping[str, object]:
    from recjury.demo import DEMO_EVALUATORS
    from recjury.judges import EVALUATORS

    return {**EVALUATORS, **DEMO_EVALUATORS}


def _corpora() -> Mapping[str, object]:
    from recjury.corpora import CORPORA

    return {name: _CORPORA.get(name, "") for name in CORPORA}


def _forms() -> Mapping[str, object]:
    from recjury.corpora import FORMS

    return {name: form.looks_like for name, form in FORMS.items()}


def _personas() -> Mapping[str, object]:
    from recjury.simulator import personas

    return personas()


_KINDS: Mapping[str, Callable[[], Mapping[str, object]]] = {
    "systems": _systems,
    "users": _users,
    "evaluators": _evaluators,
    "corpora": _corpora,
    "forms": _forms,
    "personas": _personas,
}
"""What can be listed: what ships, by name."""
