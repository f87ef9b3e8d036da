"""Every system that a campaign file can name, and how Python builds one by its kind."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, get_args

from pydantic import Field, ValidationError

from recjury.agents.http_config import HttpSystemConfig
from recjury.agents.llm_config import ChatCrsConfig, OpenAiCrsConfig
from recjury.agents.neural.config import BarcorConfig, KbrdConfig, UnicrsConfig
from recjury.agents.python_system import ENTRY_POINTS
from recjury.agents.system_config import (
    PythonSystemConfig,
    RetrievalConfig,
    SystemConfig,
    SystemContext,
)
from recjury.errors import ConfigError
from recjury.plugins import Registry
from recjury.records import Recommender

SystemEntry = Annotated[
    RetrievalConfig
    | KbrdConfig
    | BarcorConfig
    | UnicrsConfig
    | ChatCrsConfig
    | OpenAiCrsConfig
    | PythonSystemConfig
    | HttpSystemConfig,
    Field(discriminator="kind"),
]
"""An entry of `systems` in a campaign file."""

_CONFIGS: dict[str, type[SystemConfig]] = {
    get_args(each.model_fields["kind"].annotation)[0]: each
    for each in get_args(get_args(SystemEntry)[0])
}


SYSTEMS: Registry[type[SystemConfig]] = Registry(
    "system",
    ENTRY_POINTS,
    {kind: f"{each.__module__}:{each.__qualname__}" for kind, each in _CONFIGS.items()},
)
"""The systems by kind; those of installed packages are named by `path` of the kind python."""


def known_kinds() -> tuple[str, ...]:
    """The kinds of systems, sorted."""
    return tuple(sorted(_CONFIGS))


def load_recommender(
    kind: str, name: str, options: Mapping[str, object], context: SystemContext
) -> Recommender:
    """Build the system of that kind; `options` are the keys of its entry in a campaign file.

    Raises ConfigError for an unknown kind or option, and what the system itself raises.
    """
    config = _CONFIGS.get(kind)
    if config is None:
        near = get_close_matches(kind, _CONFIGS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"expected {', '.join(known_kinds())}"
        raise ConfigError(f"system {name}: unknown kind {kind!r}, {hint}")
    try:
        entry = config.model_validate({**options, "kind": kind, "name": name})
    except ValidationError as error:
        raise ConfigError(f"system {name}: {_wrong_option(error)}") from error
    return entry.for_corpus(context.corpus.name).build(context)


def _wrong_option(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    match first["type"]:
        case "extra_forbidden":
            return f"unknown option {place!r}"
        case "missing":
            return f"{place} is missing"
        case "value_error":
            return f"{place} {first['ctx']['error']}"
    return f"{place}: {first['msg'][0].lower()}{first['msg'][1:]}, got {first['input']!r}"
