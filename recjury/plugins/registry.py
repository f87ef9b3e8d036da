"""One way to plug in anything that has a name: built in, or offered by an installed package."""

import importlib
import importlib.metadata
from collections.abc import Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import InitErrorDetails

from recjury.errors import ConfigError, UserError
from recjury.mistakes import did_you_mean
from recjury.plugins.loading import import_factory, load_entry_point

T = TypeVar("T")
ModelT = TypeVar("ModelT", bound=BaseModel)


class Listed(NamedTuple):
    """What a registry has under a name; `problem` says why it cannot be loaded, else it is empty.

    `summary` is the first line of its docstring. `package` offers it; it is empty for what is built
    in.
    """

    name: str
    summary: str
    package: str = ""
    problem: str = ""


class Registry(Generic[T]):
    """What has a name of one kind: classes or functions, imported when they are needed."""

    def __init__(
        self,
        kind: str,
        group: str,
        built_in: Mapping[str, str],
        *,
        plural: str = "",
        example: str = "",
    ):
        """`kind` is the word for one of them ("evaluator"), `group` that of their entry points.

        `built_in` has "module:attribute" by name, in the order in which they are listed. `plural`
        is the word for several, by default `kind` with an s; `example` is the path of a user's.
        """
        self._example = example
        self.kind, self.group, self.plural = kind, group, plural or f"{kind}s"
        self._built_in = dict(built_in)

    @property
    def built_in(self) -> tuple[str, ...]:
        """The names of what is in the package."""
        return tuple(self._built_in)

    @property
    def names(self) -> tuple[str, ...]:
        """All names; those of installed packages come last."""
        offered = {entry.name for entry in importlib.metadata.entry_points(group=self.group)}
        return (*self._built_in, *sorted(offered - self._built_in.keys()))

    def load(self, name: str) -> T:
        """What has this name, or stands at the path "module:attribute".

        Raises ConfigError, with the most similar name, if there is none, and if it cannot be
        imported.
        """
        if path := self._built_in.get(name):
            module, _, attribute = path.partition(":")
            return cast("T", getattr(importlib.import_module(module), attribute))
        if ":" in name:
            return cast("T", import_factory(name))
        if name not in self.names:
            raise ConfigError(self.unknown(name))
        return cast("T", load_entry_point(name, self.group, self.kind))

    def module(self, name: str) -> str:
        """The module of what has this name or path, without importing it; empty for none."""
        entries = importlib.metadata.entry_points(group=self.group, name=name)
        path = self._built_in.get(name) or next((each.value for each in entries), name)
        return path.partition(":")[0]

    def chosen(
        self, entry: Mapping[str, object], *, key: str = "kind", default: str | None = None
    ) -> str:
        """The name, or the path "module:attribute", that `entry` has under `key`.

        Raises ValueError, with what is known, for a missing or unknown name.
        """
        name = entry.get(key, default)
        if name is None:
            raise ValueError(f"has no `{key}` {self._known}")
        if not isinstance(name, str) or (":" not in name and name not in self.names):
            raise ValueError(self.unknown(name))
        return name

    def unknown(self, name: object) -> str:
        """That nothing has this name, with the most similar one and all that are known."""
        if not self.names:
            return f"unknown {self.kind} {name!r}: expected module:Class"
        hint = did_you_mean(name, self.names)
        return f"unknown {self.kind} {name!r}{hint} {self._known}"

    @property
    def _known(self) -> str:
        own = f"; or a class, such as {self._example}" if self._example else ""
        return f"(known: {', '.join(self.names)}{own})"

    def listed(self) -> tuple[Listed, ...]:
        """All that has a name; what cannot be loaded has its problem."""
        packages = {
            entry.name: "" if entry.dist is None else entry.dist.name
            for entry in importlib.metadata.entry_points(group=self.group)
        }
        return tuple(self._listed(name, packages.get(name, "")) for name in self.names)

    def _listed(self, name: str, package: str) -> Listed:
        package = "" if name in self._built_in else package
        try:
            summary = _first_line(self.load(name))
        except UserError as problem:
            return Listed(name, "", package, str(problem))
        return Listed(name, summary, package)


def validate_as(model: type[ModelT], name: str, raw: Mapping[str, object]) -> ModelT:
    """`raw` as a `model` that was chosen by its `name`, which the places of mistakes begin with.

    Raises ValidationError.
    """
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        details = [_placed(name, detail) for detail in error.errors(include_url=False)]
        raise ValidationError.from_exception_data(error.title, details) from None


def _placed(name: str, detail: Mapping[str, Any]) -> InitErrorDetails:
    return InitErrorDetails(
        type=detail["type"],
        loc=(name, *cast("Iterable[int | str]", detail["loc"])),
        input=detail["input"],
        ctx=detail.get("ctx", {}),
    )


def _first_line(thing: object) -> str:
    return (getattr(thing, "__doc__", None) or "").strip().partition("\n")[0]
