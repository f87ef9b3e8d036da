"""Public names of Python, with their signatures and docstrings."""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import recjury
from docs.generator.writing import NOTE, sentence, whole
from recjury.agents.neural import NeuralSystem
from recjury.campaign import Progress
from recjury.corpora import Part
from recjury.judges import Criterion, Evaluator, rating_of
from recjury.llm import Answer, Ask, Score, ScriptedModel
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
from recjury.results import Findings, Resampling, Selection
from recjury.simulator import SimulatedUser, Situation

_RECJURY: Mapping[str, Sequence[Any]] = {
    "import recjury": [
        *(recjury.evaluate, recjury.judge, recjury.open),
        *(recjury.Run, recjury.Stored, recjury.UserError, recjury.Stop),
    ],
    "recjury.results": [Findings, Selection, Resampling],
    "recjury.campaign": [Progress],
}
_OWN_PARTS: Mapping[str, Sequence[Any]] = {
    "recjury.records": [
        *(Conversation, Turn, ItemRef, SystemReply, Event),
        *(Scenario, ConversationLog, Metric, Rating, Evidence),
    ],
    "recjury.llm": [Ask, Answer, Score, ScriptedModel],
    "recjury.corpora": [Part],
    "recjury.judges": [Evaluator, Criterion, rating_of],
    "recjury.simulator": [SimulatedUser, Situation],
    "recjury.agents.neural": [NeuralSystem],
}
_WITHOUT_MEMBERS = {NeuralSystem, ScriptedModel, Resampling, Selection}
_IN_SHORT = {Selection}  # what its conditions are stands in docs/how-to/running.md


def of_recjury() -> Iterator[str]:
    """The parts of the page about `import recjury`."""
    return _python(_RECJURY, "[recjury from Python](../how-to/python.md)")


def of_own_parts() -> Iterator[str]:
    """The parts of the page about what own systems, users and evaluators need."""
    see = "[systems](../how-to/systems.md), [evaluators](../tutorials/own-evaluator.md)"
    return _python(_OWN_PARTS, see)


def _python(names: Mapping[str, Sequence[Any]], see: str) -> Iterator[str]:
    yield NOTE.format(see)
    for module, values in names.items():
        yield f"## {module}"
        yield "\n".join(line for value in values for line in _described(value))


def _described(value: Any) -> Iterator[str]:
    """An entry for a function or a class, and below it one for each public member of a class."""
    name = value.__name__
    also = f" Awaited: `{name}_async`." if hasattr(recjury, f"{name}_async") else ""
    text = sentence(value) if value in _IN_SHORT else whole(value)
    yield f"- `{name}{_signature(value)}`: {text}{also}"
    for name, member in _members(value).items():
        if _is_public(value, name, member):
            yield f"    - `.{name}{_signature(member)}`: {sentence(member)}"


def _members(value: Any) -> Mapping[str, Any]:
    return vars(value) if inspect.isclass(value) and value not in _WITHOUT_MEMBERS else {}


def _is_public(owner: Any, name: str, value: object) -> bool:
    fields: Any = getattr(owner, "model_fields", {}) or getattr(owner, "_fields", ())
    described = isinstance(value, property) or inspect.isfunction(value)
    return described and not name.startswith(("_", "model_")) and name not in fields


def _signature(value: Any) -> str:
    """The parameters and their defaults; their types are in the source."""
    if isinstance(value, property) or (inspect.isclass(value) and issubclass(value, Exception)):
        return ""
    parameters = [
        each for each in inspect.signature(value).parameters.values() if each.name != "self"
    ]
    shown, kinds = [*map(_parameter, parameters)], [each.kind.name for each in parameters]
    if "KEYWORD_ONLY" in kinds and "VAR_POSITIONAL" not in kinds:
        shown.insert(kinds.index("KEYWORD_ONLY"), "*")
    return f"({', '.join(shown)})"


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(parameter.kind.name, "")
    name, default = f"{stars}{parameter.name}", parameter.default
    if default is parameter.empty:
        return name
    if isinstance(default, Path | StrEnum):
        default = str(default)
    plain = default is None or type(default) in (str, int, float, bool, tuple)
    return f"{name}={default!r}" if plain else f"{name}=..."
