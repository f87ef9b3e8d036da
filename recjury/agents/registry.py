"""Every system that a campaign file can name, and how Python makes one by its kind."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator, SerializeAsAny, ValidationError

from recjury.agents.python_system import OWN_SYSTEMS, PythonSystem, given_system
from recjury.agents.system import System, SystemContext
from recjury.errors import ConfigError
from recjury.mistakes import first_mistake
from recjury.plugins import Registry, validate_as

SYSTEMS: Registry[type[System]] = Registry(
    OWN_SYSTEMS.kind,
    OWN_SYSTEMS.group,
    {
        "retrieval": "recjury.agents.retrieval.recommender:Retrieval",
        "kbrd": "recjury.agents.neural.systems:KBRD",
        "barcor": "recjury.agents.neural.systems:BARCOR",
        "unicrs": "recjury.agents.neural.systems:UniCRS",
        "chatcrs": "recjury.agents.chatcrs:ChatCRS",
        "openai_crs": "recjury.agents.endpoint_crs:EndpointCRS",
        "http": "recjury.agents.http_system:HttpSystem",
        "python": "recjury.agents.python_system:PythonSystem",
    },
    example="recjury.demo.popular:Popular",
)
"""The systems by kind."""


def read_entry(raw: object) -> System:
    """The system of an entry of `systems`.

    A text is a kind; a mapping has the kind and its keys; anything else is a system object. The
    kind of an own system is "module:Class" or what an installed package offers. Raises ValueError
    for an unknown kind, and ValidationError for wrong keys.
    """
    if isinstance(raw, System):
        return raw
    if isinstance(raw, str):
        raw = {"kind": raw}
    if raw is None or isinstance(raw, int | float | list):
        raise ValueError(f"expected a kind of system, or a mapping with its keys, got {raw!r}")
    if not isinstance(raw, Mapping):
        return given_system(raw)
    kind = SYSTEMS.chosen(raw)
    keys = {key: value for key, value in raw.items() if key != "kind"}
    if kind in SYSTEMS.built_in:
        return validate_as(SYSTEMS.load(kind), kind, keys)
    return validate_as(PythonSystem, "python", {"path": kind, "name": kind.split(":")[-1], **keys})


SystemEntry = Annotated[SerializeAsAny[System], BeforeValidator(read_entry), SYSTEMS]
"""An entry of `systems` in a campaign file."""


def load_recommender(
    kind: str, name: str, options: Mapping[str, object], context: SystemContext
) -> System:
    """Prepare the system of that kind; `options` are the keys of its entry in a campaign file.

    Raises ConfigError for an unknown kind or option, and what the system itself raises.
    """
    try:
        return read_entry({**options, "kind": kind, "name": name}).prepared(context)
    except ValidationError as error:
        raise ConfigError(f"system {name}: {first_mistake(error)}") from error
    except ValueError as error:
        raise ConfigError(f"system {name}: {error}") from error
