"""From the settings in a campaign file to a loaded system."""

import inspect
from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict

from recjury import plugins
from recjury.agents.chat import ChatCRS, OpenAIEndpoint
from recjury.agents.http import Http
from recjury.agents.neural import NeuralSystem
from recjury.agents.neural.settings import Neural
from recjury.agents.popular import Popular, Random
from recjury.agents.retrieval import Retrieval
from recjury.agents.settings import SystemSettings
from recjury.agents.system import LoadedSystem, parameters
from recjury.agents.typical import TypicalSystem
from recjury.corpora import Corpus
from recjury.errors import UserError
from recjury.files import nearest
from recjury.keys import one_line
from recjury.mistakes import made
from recjury.records import LookUp, digest

SYSTEMS: Mapping[str, type[SystemSettings]] = {
    "retrieval": Retrieval,
    "popular": Popular,
    "random": Random,
    "chatcrs": ChatCRS,
    "openai": OpenAIEndpoint,
    "http": Http,
    "kbrd": Neural,
    "barcor": Neural,
    "unicrs": Neural,
}
"""The systems that ship, by kind."""

Elsewhere = Mapping[tuple[str, str], Any]
"""Systems in other processes, by name and corpus. Each has the `version` of what answers there."""


class OwnSettings(SystemSettings):
    """The settings of an own system; keys that recjury does not know are arguments of its class."""

    model_config = ConfigDict(extra="allow")


OUTSIDE = (OwnSettings, Http, Neural)
"""The settings of systems that run outside of recjury, or that have weights."""

WITH_WEIGHTS = (Neural,)
"""The settings of systems that ship without being loaded in an instant."""


def is_neural(system: LoadedSystem) -> bool:
    """Whether a system has weights, or stands for one that has."""
    return isinstance(system.settings, Neural) or isinstance(system.system, NeuralSystem)


def load_system(
    settings: Mapping[str, Any],
    corpus: Corpus,
    look_up: LookUp,
    *,
    stand_ins: tuple[type[SystemSettings], ...] = (),
    elsewhere: Elsewhere | None = None,
) -> LoadedSystem:
    """The system that the settings name, over a corpus.

    A typical system answers in place of one whose settings are of `stand_ins`. Raises UserError,
    and Mistake for a wrong key or value.
    """
    found = plugins.find("systems", str(settings["kind"]))
    is_built_in = settings["kind"] in SYSTEMS
    values = made(found.value if is_built_in else OwnSettings, settings).over(corpus)
    if (remote := (elsewhere or {}).get((values.title, corpus.name))) is not None:
        return LoadedSystem(remote, corpus.catalogue, values, remote.version)
    if isinstance(values, stand_ins):
        system: object = TypicalSystem(corpus.catalogue, values.title)
    elif is_built_in:
        system = values.prepared(corpus)
    else:
        system = _own(values, found.value, corpus)
    models = look_up("models", "") if not is_built_in and _asks(found.value) else {}
    weights = [system.digest] if isinstance(system, NeuralSystem) and not is_built_in else []
    version = digest(values.identity(look_up), found.source, models, *weights)
    return LoadedSystem(system, corpus.catalogue, values, version)


def _own(settings: SystemSettings, value: Any, corpus: Corpus) -> object:
    """The function or object itself, or the object made of a class. Raises UserError."""
    kind, given = settings.kind, settings.model_extra or {}
    known = parameters(value) if inspect.isclass(value) else {}
    takes_any = any(each.kind is each.VAR_KEYWORD for each in known.values())
    if not takes_any and (unknown := [name for name in given if name not in known]):
        near = nearest(unknown[0], [*known, *SystemSettings.model_fields])
        raise UserError(f"{kind} has no setting {unknown[0]!r}{near}")
    if inspect.isclass(value):
        offered = {"corpus": corpus, "catalogue": corpus.catalogue, "domain": corpus.domain}
        value = _made(kind, value, {k: offered[k] for k in offered.keys() & known.keys()} | given)
    if not callable(getattr(value, "respond", value)):
        raise UserError(
            f"{kind}: expected a function or something with `respond(conversation)`, "
            f"got {type(value).__name__}"
        )
    return value


def _made(kind: str, class_: type, arguments: Mapping[str, Any]) -> object:
    try:
        return class_(**arguments)
    except (Exception, SystemExit) as error:
        raise UserError(f"{kind} could not be made: {one_line(error)}") from error


def _asks(value: Any) -> bool:
    """Whether an own system may ask any of the campaign's models."""
    called = value.__call__ if inspect.isclass(value) else value
    return "ask" in parameters(getattr(value, "respond", called))
