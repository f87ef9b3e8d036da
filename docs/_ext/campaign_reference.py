"""The directive `campaign-keys`: tables of a campaign file's keys, from the models that read it.

    ```{campaign-keys} evaluators.core.judges
    ```

The argument is a place of the file: keys and, in lists, the `kind` of the entry, joined by dots;
`campaign` is the file itself. Types, bounds and defaults come from the code. What each key means
comes from `campaign_keys.yaml` beside this file; the build fails if the two differ in their keys.
"""

import types
from collections.abc import Iterator
from inspect import isabstract
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import yaml
from annotated_types import Ge, Gt, Le, Lt, MinLen
from docutils import nodes
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from recjury.campaign import CampaignConfig
from recjury.plugins import Registry

MEANINGS = Path(__file__).with_name("campaign_keys.yaml")
_BOUNDS = {Ge: "≥", Gt: ">", Le: "≤", Lt: "<"}
_PLAIN = {str: "text", int: "whole number", float: "number", bool: "true or false"}


class CampaignKeys(SphinxDirective):
    """One model's keys as a table: key, type, default, meaning."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The table; raises ValueError where a key has no meaning, or a meaning no key."""
        self.env.note_dependency(str(MEANINGS))
        place = self.arguments[0]
        meanings = _meanings(place)
        fields = dict(_shown(_model(place)))
        differing = fields.keys() ^ meanings.keys()
        if differing:
            raise ValueError(f"{MEANINGS.name}: {place}: keys differ: {sorted(differing)}")
        lines = ["| key | type | default | meaning |", "|---|---|---|---|"]
        lines += [
            f"| `{key}` | {_kind(field.annotation)}{_bounds(field)} | {_default(field)} "
            f"| {' '.join(meanings[key].split())} |"
            for key, field in fields.items()
        ]
        return self.parse_text_to_nodes("\n".join(lines) + "\n")


def _model(place: str) -> type[BaseModel]:
    """The model that reads this place of a campaign file."""
    model: type[BaseModel] = CampaignConfig
    for step in () if place == "campaign" else place.split("."):
        if step in model.model_fields:
            found = [*_models(model.model_fields[step].annotation)]
        else:
            tag = "provider" if place.startswith("model.") else "kind"
            found = [
                each for each in found if get_args(each.model_fields[tag].annotation)[0] == step
            ]
        model = found[0]
    return model


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that an annotation is made of."""
    if isinstance(annotation, Registry):
        yield from map(annotation.load, annotation.built_in)
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield from () if isabstract(annotation) else (annotation,)
    for argument in get_args(annotation):
        yield from _models(argument)


def _meanings(place: str) -> dict[str, str]:
    """What the keys of this place mean; `like` names places whose keys are the same."""
    everything = yaml.safe_load(MEANINGS.read_text("utf-8"))
    meanings = dict(everything[place])
    for other in meanings.pop("like", ()):
        meanings = _meanings(other) | meanings
    return meanings


def _shown(model: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
    """The fields that a file may set."""
    return ((key, field) for key, field in model.model_fields.items() if not field.exclude)


def _kind(annotation: Any) -> str:
    """A type as a reader of YAML would name it."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kind(arguments[0])
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin in (Union, types.UnionType):
        return " or ".join(
            dict.fromkeys(_kind(each) for each in arguments if each is not types.NoneType)
        )
    if origin is tuple:
        return f"list of {_kind(arguments[0])}"
    if origin is not None and issubclass(origin, dict):
        return "mapping"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "mapping"
    return _PLAIN.get(annotation, "any")


def _bounds(field: FieldInfo) -> str:
    """The limits of a number or a list, as ", ≥ 1"."""
    found = [
        f"{sign} {getattr(bound, kind.__name__.lower()):g}"
        for bound in field.metadata
        for kind, sign in _BOUNDS.items()
        if isinstance(bound, kind)
    ]
    found += [
        f"at least {bound.min_length}" for bound in field.metadata if isinstance(bound, MinLen)
    ]
    return f", {', '.join(found)}" if found else ""


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None or value == "" or value == {} or value == () or isinstance(value, BaseModel):
        return ""
    if isinstance(value, tuple):
        return f"`[{', '.join(map(str, value))}]`"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value}`"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("campaign-keys", CampaignKeys)
    return {"parallel_read_safe": True}
