"""Read a campaign file; each mistake in it becomes one line that says what to change."""

import difflib
import types
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from recjury.campaign.config import CampaignConfig, EvaluationConfig, EvaluatorsOnly
from recjury.errors import ConfigError
from recjury.judges import EVALUATORS, EvaluatorEntry, read_entry
from recjury.plugins import Registry

C = TypeVar("C", bound=CampaignConfig)

_FOR_EVALUATORS = "`model` and `evaluators`"
_MODELS = {"model": 1, "models": 2}
"""The keys of models, and where the model's provider stands in pydantic's place of a mistake."""
_LARGEST = 2**63 - 1  # what SQLite and canonical JSON can hold


class _StrictLoader(yaml.SafeLoader):
    """YAML's safe loader, which also refuses a key that is written twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise _at(key, f"key {key.value!r} is written twice")
            seen.add(str(key.value))
        return super().construct_mapping(node, deep=deep)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Return the value of a node; an error names the line of a value that cannot be read."""
        try:
            value: object = super().construct_object(node, deep=deep)
            if isinstance(value, str):  # as in JSON, two escapes may form one character
                return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeDecodeError as error:
            surrogate = hex(int.from_bytes(error.object[error.start :][:2], "little"))
            raise _at(node, f"invalid Unicode: lone surrogate {surrogate}") from None
        except (ValueError, OverflowError):  # a day that does not exist, or too many digits
            tag = node.tag.rpartition(":")[2]
            raise _at(node, f"{str(node.value)[:40]!r} cannot be read as {tag}") from None
        if isinstance(value, int) and not -_LARGEST <= value <= _LARGEST:
            raise _at(node, f"{str(node.value)[:40]} is too large a number")
        return value


def _at(node: yaml.Node, problem: str) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


class _ModelsOnly(EvaluatorsOnly):
    """Without evaluators in the file there are none, so that no model need be called main."""

    evaluators: tuple[EvaluatorEntry, ...] = ()


def read_config(path: Path) -> CampaignConfig:
    """Read the campaign file at `path`. Raises ConfigError for any mistake in it."""
    return _read(path, CampaignConfig, "`scenarios` and `systems`")


def read_evaluators(path: Path | None, names: Sequence[str] = ()) -> EvaluationConfig:
    """Read the evaluators' configuration from a file that may have no scenarios and systems.

    With `names`, only those evaluators are returned: those of the file, or built-in ones. Raises
    ConfigError for any mistake in the file and for an unknown name.
    """
    given = EvaluatorsOnly() if path is None else _read(path, EvaluatorsOnly, _FOR_EVALUATORS)
    own = {entry.label: entry for entry in given.evaluators}
    _refuse_unknown(names, tuple(dict.fromkeys((*own, *EVALUATORS.names))))
    try:
        if names:
            chosen = [own.get(each) or read_entry(each) for each in names]
            ready = tuple(each.with_models(given.has_models) for each in chosen)
            given = given.model_copy(update={"evaluators": ready})
        return given.for_evaluators
    except ValidationError as error:
        raise ConfigError(explain(error)) from error


def read_models(path: Path) -> EvaluationConfig:
    """Return all models of a file, used or not, and the evaluators that it names.

    Raises ConfigError for any mistake in it.
    """
    return _read(path, _ModelsOnly, _FOR_EVALUATORS)


def _refuse_unknown(names: Iterable[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f", did you mean {near[0]}?" if near else ""
            raise ConfigError(f"no evaluator is called {name!r}{hint} (known: {', '.join(known)})")


def _read(path: Path, kind: type[C], keys: str) -> C:
    try:
        content = yaml.load(path.read_text("utf-8"), _StrictLoader)  # noqa: S506 (a SafeLoader)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 text (byte {error.start})") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"{path}: is not YAML: {_first_line(error)}") from error
    if not isinstance(content, dict):
        found = "an empty file" if content is None else f"a {type(content).__name__}"
        raise ConfigError(f"{path}: expected keys such as {keys}, got {found}")
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        raise ConfigError(f"{path}: {explain(error)}") from error


def explain(error: ValidationError) -> str:
    """One line about the first mistake, with the number of further mistakes."""
    details = _distinct(error.errors(include_url=False))
    unknown = [detail for detail in details if detail["type"] == "extra_forbidden"]
    first = (unknown or details)[0]
    line = _unknown_key(first) if unknown else _wrong_value(first)
    return line if len(details) == 1 else f"{line} (and {len(details) - 1} more)"


def _distinct(details: list[ErrorDetails]) -> list[ErrorDetails]:
    """One error for each place.

    If a part of a list or mapping has an error, the list or mapping itself gets none.
    """
    places = {detail["loc"]: detail for detail in reversed(details)}
    inner = {place[:length] for place in places for length in range(len(place))}
    return [each for each in details if each is places[each["loc"]] and each["loc"] not in inner]


def _unknown_key(detail: ErrorDetails) -> str:
    *place, key = detail["loc"]
    known = sorted(_keys_at(place))
    near = difflib.get_close_matches(str(key), known, n=1, cutoff=0.0)
    where = f" under `{_dotted(place)}`" if place else ""
    hint = f"; did you mean `{near[0]}`?" if near else ""
    if len(place) == 3 and place[0] == "systems" and place[2] == "python":
        hint += "; options of your class go under `options:`"
    return f"unknown key `{key}`{where}{hint} (known: {', '.join(known)})"


def _wrong_value(detail: ErrorDetails) -> str:
    place = _dotted(detail["loc"])
    if detail["type"] == "value_error":
        message = str(detail["ctx"]["error"])
        return f"`{place}`: {message}" if place else message
    if detail["type"] == "missing":
        return f"`{place}` is missing"
    shown = repr(detail["input"])
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return f"`{place}`: {_expected(detail)}, got {shown}{_as_list(place, detail)}"


def _as_list(place: str, detail: ErrorDetails) -> str:
    if place == "scenarios" and detail["type"] in ("tuple_type", "list_type"):
        return "; write a list: `- {corpus: sample}`"
    return ""


def _expected(detail: ErrorDetails) -> str:
    """What was expected, in a user's words instead of pydantic's."""
    match detail["type"]:
        case "model_type" | "model_attributes_type" | "dict_type":
            keys = ", ".join(sorted(_keys_at(list(detail["loc"]))))
            named = detail["type"] != "dict_type" and keys
            return f"expected a mapping with keys such as {keys}" if named else "expected a mapping"
        case "tuple_type" | "list_type":
            return "expected a list"
    return f"{detail['msg'][0].lower()}{detail['msg'][1:]}"


def _dotted(place: object) -> str:
    """The keys of a place as in the file, without the provider that pydantic adds to a model."""
    assert isinstance(place, list | tuple)
    steps = [str(step) for step in place]
    provider = _MODELS.get(steps[0]) if steps else None
    if provider is not None:
        del steps[provider : provider + 1]
    return ".".join(steps)


def _keys_at(place: list[int | str]) -> set[str]:
    """The keys that are known at `place`, counted from the root of the file."""
    models: list[type[BaseModel]] = [CampaignConfig]
    if place[:1] == ["models"]:
        place = [place[0], *place[2:]]  # without the alias, which anyone may choose
    for step in place:
        models = [found for model in models for found in _step(model, step)]
    return {
        name
        for model in models
        for name, field in model.model_fields.items()
        if not field.exclude  # only from Python
    }


def _step(model: type[BaseModel], step: int | str) -> list[type[BaseModel]]:
    if isinstance(step, str) and step in model.model_fields:
        return list(_models_in(model.model_fields[step].annotation))
    # The step into a union names the chosen member's tag.
    tag = model.model_fields.get("kind") or model.model_fields.get("provider")
    if isinstance(step, str) and tag is not None and step not in get_args(tag.annotation):
        return []
    return [model]


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif isinstance(annotation, Registry):
        yield from (annotation.load(name) for name in annotation.built_in)
    elif get_origin(annotation) in (Union, types.UnionType, Annotated, tuple, list, dict, Mapping):
        for inner in get_args(annotation):
            yield from _models_in(inner)


def _first_line(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    line = f" (line {mark.line + 1})" if mark is not None else ""
    problem = getattr(error, "problem", None) or str(error).partition("\n")[0] or "too deep"
    return f"{problem}{line}"
