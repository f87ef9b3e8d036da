"""All that the frozen tests know of the inside of recjury. A rebuild may point it elsewhere."""

import asyncio
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, closing
from inspect import isabstract
from pathlib import Path
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel, ValidationError

from recjury.agents import SystemEntry
from recjury.campaign.build import BuiltCampaign, build
from recjury.campaign.config import CampaignConfig
from recjury.campaign.evaluate import ActiveEvaluator
from recjury.campaign.plan import draw_scenarios, plan_campaign
from recjury.errors import UserError
from recjury.judges.registry import EvaluatorEntry
from recjury.judges.rubric.criteria import Criterion
from recjury.llm import Gateway, NullRecorder, call_identity, read_model
from recjury.llm.model_kinds import ModelEntry
from recjury.plugins import Registry
from recjury.records import ChatRequest, Message, Record
from recjury.store import Store
from tests.frozen.played import command

LOG = "0" * 32
"""The identity of the log whose evaluations are planned."""


class Refused(Exception):
    """Settings that recjury refuses."""


class Plan(NamedTuple):
    """Identities: of the campaign, of conversations by system, and by evaluator its version and its
    evaluations of one log."""

    campaign: str
    conversations: dict[str, frozenset[str]]
    versions: dict[str, str]
    evaluations: dict[str, frozenset[str]]


def plan(campaign: Mapping[str, object]) -> Plan:
    """Plan a campaign, given as its file has it, without playing it. Raises Refused."""
    try:
        return asyncio.run(_plan(CampaignConfig.model_validate(dict(campaign))))
    except (UserError, ValidationError) as error:
        raise Refused(str(error)) from error


async def _plan(config: CampaignConfig) -> Plan:
    async with AsyncExitStack() as stack:
        drawn = draw_scenarios(config)
        gateway = Gateway(config.all_models, NullRecorder()) if config.has_models else None
        built = build(config, drawn.corpora, gateway, stack)
        planned = plan_campaign(config, drawn, built.components)
        evaluators = dict(_evaluators(config, built))
    conversations: dict[str, set[str]] = {system.name: set() for system in config.systems}
    for each in planned.conversations:
        conversations[each.conversation.system].add(each.conversation.id)
    return Plan(
        campaign=planned.id,
        conversations={system: frozenset(ids) for system, ids in conversations.items()},
        versions={label: each.version for label, each in evaluators.items()},
        evaluations={
            label: frozenset(evaluation.identity for evaluation in each.evaluations(LOG))
            for label, each in evaluators.items()
        },
    )


def _evaluators(
    config: CampaignConfig, built: BuiltCampaign
) -> Iterator[tuple[str, ActiveEvaluator]]:
    judgings = {entry.label: entry.judgings for entry in config.evaluators}
    for components in built.components.values():
        for label, evaluator in components.evaluators.items():
            yield label, ActiveEvaluator(label, evaluator, judgings[label])


def call(model: Mapping[str, object], request: Mapping[str, Any], unit_sample: int = 0) -> str:
    """The identity of a call: `model` as a campaign file has it, `request` with the fields of a
    `ChatRequest`, its messages as pairs of role and text (or texts, its parts)."""
    messages = tuple(
        Message(role, (text,) if isinstance(text, str) else tuple(text))
        for role, text in request["messages"]
    )
    asked = ChatRequest(**{**request, "messages": messages})
    try:
        return call_identity(asked, read_model(dict(model)), unit_sample)
    except (UserError, ValidationError) as error:
        raise Refused(str(error)) from error


def durable_calls(store: Path) -> int:
    """How many finished calls the file of a store has; 0 if there is no store yet.

    The store may be in use, or may have been left by a process that was killed.
    """
    if not store.exists():
        return 0
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM call").fetchone()[0])
        except sqlite3.OperationalError:  # its tables are not made yet
            return 0


def stored_calls(store: str) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    """The purpose of each stored call, and its messages: role and text."""
    with Store.open(store, create=False) as opened:
        return [
            (call.request.purpose, tuple((each.role, each.text) for each in call.request.messages))
            for call in opened.calls()
        ]


def figures(analysis: str, folder: Path, *arguments: object) -> dict[str, float | None]:
    """The numbers of an analysis, each under the words of its row and its column.

    Rows and columns may be found in another form; the words and the numbers stay.
    """
    words = ("train", "face") if analysis == "face.optimise" else ("analyse", analysis)
    ended = command(folder, *words, *arguments, "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    found = found.get("report", found)
    tables = {name: own for name, own in found.get("tables", found).items() if name not in _TIMES}
    return {"/".join(words): number for words, number in _numbers(tables)}


_TIMES = ("seconds", "settings")  # of the machine and of the run


def _numbers(value: object) -> Iterator[tuple[tuple[str, ...], float | None]]:
    """Each number in JSON, with the keys above it, and of rows the values that are no numbers."""
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        yield (), value
    elif isinstance(value, dict):
        own = [str(value[name]) for name in _ROW if isinstance(value.get(name), str | int)]
        for name, inner in value.items():
            for words, number in _numbers(inner):
                yield (*own, name, *words), number
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            is_row = isinstance(inner, dict) and any(name in inner for name in _ROW)
            for words, number in _numbers(inner):
                yield words if is_row else (str(place), *words), number


_ROW = (
    "set",
    "subset",
    "aspect",
    "group",
    "who",
    "factor",
    "score",
    "first",
    "second",
    "metric",
    "judge",
    "scorer",
    "over",
    "attack",
    "system",
    "evaluator",
    "level",
    "kind",
    "number",
    "position",
    "size",
)


def request_fields() -> set[str]:
    """The fields of a request to a model."""
    return set(ChatRequest._fields)


def criterion_keys() -> set[str]:
    """The keys of a criterion in a rubric's file."""
    return set(_keys(Criterion))


def campaign_keys() -> set[str]:
    """The keys of a campaign file, without those of its models, systems and evaluators."""
    return set(_keys(CampaignConfig))


def kinds(part: str) -> dict[str, set[str]]:
    """The kinds of a campaign file's "systems", "evaluators" or "models", each with its keys."""
    tag = "provider" if part == "models" else "kind"
    entry = {"models": ModelEntry, "systems": SystemEntry, "evaluators": EvaluatorEntry}[part]
    found: dict[str, set[str]] = {}
    for model in _models_in(entry):
        (kind,) = get_args(model.model_fields[tag].annotation)
        found[kind] = set(_keys(model)) - {tag}
    return found


def _keys(model: type[BaseModel]) -> Iterator[str]:
    """The keys that a file may have, with those of mappings inside: "simulator.kind"."""
    for name, field in model.model_fields.items():
        if field.exclude:  # given by Python alone
            continue
        inner = [each for each in _models_in(field.annotation) if issubclass(each, Record)]
        if len(inner) == 1:
            yield from (f"{name}.{key}" for key in _keys(inner[0]))
        else:
            yield name


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, Registry):
        yield from map(annotation.load, annotation.built_in)
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield from () if isabstract(annotation) else (annotation,)
    for inner in get_args(annotation):
        yield from _models_in(inner)
