"""What a campaign file may say."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    Field,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from recjury.errors import UserError
from recjury.files import YamlFile
from recjury.llm import Model
from recjury.mistakes import first_mistake
from recjury.records import Record
from recjury.simulator import Session

_PRINTABLE = r"^[^\x00-\x1f\x7f-\x9f]*$"
"""Names stand in tables and file names: no line breaks and no control characters."""


def _with_kind(part: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(part.get("kind"), str):
        raise ValueError("`kind` is missing: a name, or `module:name` of your own")
    if not re.match(_PRINTABLE, str(part.get("name", ""))):
        raise ValueError("`name` has a line break or another control character")
    return part


Part = Annotated[dict[str, Any], AfterValidator(_with_kind)]
"""A system, a user or an evaluator: its `kind`, and its settings beside it."""


_DEFAULTS = {"users": ["llm"], "evaluators": ["outcome", "persuasiveness", "core"]}
_WITHOUT_MODEL = {"users": ["demo"], "evaluators": ["outcome", "counted"]}
_OFFLINE = {"users": ["nobody"], "evaluators": ["offline"]}


class Scenarios(Record):
    """The scenarios of a split of one corpus; with `limit`, the first so many, or drawn by `seed`.

    With `catalogue`, its items alone are used: `draw` scenarios are drawn from them by `seed`.
    """

    corpus: str = ""
    split: str = "test"
    catalogue: str = ""
    draw: int | None = Field(default=None, ge=1)
    seed: int | None = None
    limit: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _of_one_kind(self) -> "Scenarios":
        if bool(self.corpus) == bool(self.catalogue):
            raise ValueError("either a `corpus` or a `catalogue` is wanted")
        if bool(self.catalogue) != (self.draw is not None):
            raise ValueError("a `catalogue` has `draw`, how many scenarios are drawn; no other has")
        return self


class Spending(Record):
    """What a campaign may spend over all its runs, in US dollars and in tokens."""

    dollars: float | None = Field(default=None, gt=0)
    tokens: int | None = Field(default=None, gt=0)


class Config(Record):
    """A campaign. Its name is its identity within a store.

    `folder` is where `module:name` is looked for besides the current one: that of the file. Users
    and evaluators that are left out are those of a campaign with a model, or without one. Where
    `recordings` are rated, it has the catalogue of each of their corpora.
    """

    name: str = Field(default="campaign", min_length=1, max_length=200, pattern=_PRINTABLE)
    folder: str = "."
    protocol: Literal["core", "paper"] = "core"
    recordings: dict[str, str] = Field(default_factory=dict)
    scenarios: tuple[Scenarios, ...] = (Scenarios(corpus="sample"),)
    systems: tuple[Part, ...] = Field(default=(), validate_default=True)
    users: tuple[Part, ...] = Field(min_length=1)
    evaluators: tuple[Part, ...] = ()
    models: dict[str, Model] = Field(default_factory=dict)
    session: Session = Session()
    repeats: int = Field(default=1, ge=1, le=1000)
    attempts: int = Field(default=3, ge=1, le=20)
    budget: Spending | None = None
    _file: YamlFile | None = PrivateAttr(default=None)

    @model_validator(mode="before")
    @classmethod
    def _written_out(cls, values: Any) -> Any:
        return _written_out(dict(values)) if isinstance(values, Mapping) else values

    @field_validator("scenarios", "systems")
    @classmethod
    def _unless_recorded(cls, parts: tuple[Any, ...], info: ValidationInfo) -> tuple[Any, ...]:
        """Only a campaign of recordings has none."""
        if not parts and not info.data.get("recordings"):
            raise ValueError(f"`{info.field_name}` is missing: a list of at least one")
        return parts

    @field_validator("session")
    @classmethod
    def _nobody_speaks_offline(cls, session: Session, info: ValidationInfo) -> Session:
        kinds = [part["kind"] for part in info.data.get("users", ())]
        if session.offline and kinds != _OFFLINE["users"]:
            raise ValueError("there is no user in an offline session: leave `users` out")
        return session

    def stored(self) -> dict[str, Any]:
        """The campaign as the store keeps it, and as it can be read from there."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def error(self, keys: Sequence[str | int], message: str) -> UserError:
        """An error at a key, with file and line where the configuration was read from a file."""
        if self._file is not None:
            return _error_in(self._file, keys, message)
        return UserError(f"{'.'.join(map(str, keys))}: {message}")


def read_config(path: Path, given: Mapping[str, Any] | None = None) -> Config:
    """The campaign of a file, named after the file unless it has a `name`. Raises UserError.

    The values that are `given` stand in place of those of the file.
    """
    file = YamlFile(path)
    if not isinstance(file.values, dict):
        raise file.error((), "a mapping with `systems` is wanted")
    values = {"name": path.stem, "folder": str(path.resolve().parent)} | file.values
    values |= given or {}
    try:
        config = Config.model_validate(values)
    except ValidationError as error:
        raise _error_in(file, *first_mistake(error, Config)) from None
    config._file = file
    return config


def _error_in(file: YamlFile, keys: Sequence[str | int], message: str) -> UserError:
    """An error at a key, as it stands in the file."""
    if tuple(keys[:2]) == ("models", "main") and "model" in file.values:
        keys = ("model", *keys[2:])
    return file.error(keys, message)


def _written_out(values: dict[str, Any]) -> dict[str, Any]:
    """The values without short forms: each of them stands for what most campaigns want."""
    if "model" in values and isinstance(values.get("models") or {}, Mapping):
        others = values.get("models") or {}
        if "main" in others:
            raise ValueError("`model` is the model `main`: leave one of them out")
        values["models"] = {"main": values.pop("model")} | others
    if isinstance(budget := values.get("budget"), int | float):
        values["budget"] = {"dollars": budget}
    if "scenarios" in values:
        values["scenarios"] = _listed(values["scenarios"], "corpus")
    values = _defaults(values) | values
    for key in ("systems", "users", "evaluators"):
        if key in values:
            values[key] = _listed(values[key], "kind")
    return _as_in_the_paper(values) if values.get("protocol") == "paper" else values


def _defaults(values: Mapping[str, Any]) -> dict[str, list[str]]:
    session = values.get("session")
    given = session if isinstance(session, Mapping) else {"offline": session == "offline"}
    if given.get("offline") or getattr(session, "offline", False):
        return _OFFLINE
    return _DEFAULTS if values.get("models") else _WITHOUT_MODEL


def _listed(values: Any, key: str) -> Any:
    """A list of mappings, each of which has `key`; a text alone is the value of that key."""
    listed = values if isinstance(values, list | tuple) else [values]
    return [{key: each} if isinstance(each, str) else each for each in listed]


_PAPER = {
    "users": {"llm": {"prompts": "core-paper"}},
    "evaluators": {"core": {"prompts": "core-paper", "lists": "all"}},
}
_PAPER_SESSION = {"ends_on": "list", "block_values": False}


def _as_in_the_paper(values: dict[str, Any]) -> dict[str, Any]:
    """The values with CoRE's settings (6.4, 6.5). Raises ValueError if one is set otherwise."""
    if _defaults(values) is _OFFLINE:
        raise ValueError("`protocol: paper` is for conversations, and an offline session has none")
    session = values.get("session") or {}
    if isinstance(session, Record):
        session = session.model_dump(exclude_unset=True)
    values["session"] = _with(_PAPER_SESSION, session)
    for key, of_kind in _PAPER.items():
        values[key] = [_with(_of(part, of_kind), part) for part in values[key]]
    return values


def _of(part: Any, of_kind: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    return of_kind.get(part.get("kind", ""), {}) if isinstance(part, Mapping) else {}


def _with(paper: dict[str, Any], settings: Any) -> Any:
    """The settings with those of the paper; what are no settings is refused later."""
    if not isinstance(settings, Mapping):
        return settings
    within = settings.get("debate")
    for each in (settings, within if isinstance(within, dict) else {}):
        for key, value in paper.items():
            if each.get(key, value) != value:
                raise ValueError(f"`protocol: paper` sets `{key}`: leave it out")
    return dict(settings) | paper
