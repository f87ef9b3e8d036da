"""Small campaigns over the sample, with a script in place of a model."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recjury.campaign import Config, Finished, run
from recjury.llm import Model, Provider, ScriptedModel
from recjury.records import Request
from recjury.store import Store
from tests.replies import reply_to

Script = Callable[[Request, str], str]


def config(**changes: Any) -> Config:
    """Two scenarios, two systems, twelve factors, a debate of two rounds."""
    values: dict[str, Any] = {
        "name": "small",
        "scenarios": [{"corpus": "sample", "limit": 2}],
        "systems": ["popular", {"kind": "chatcrs", "list_source": "from_text"}],
        "evaluators": ["outcome", {"kind": "core", "debate": {"max_rounds": 2}}],
        "model": {"name": "scripted", "price_in": 1.0, "price_out": 1.0},
    }
    return Config.model_validate(values | changes)


def said(request: Request) -> str:
    """The prompt of a request as the model reads it."""
    return "".join(message.text for message in request.messages)


def honest(request: Request, code: str) -> str:
    return reply_to(said(request))


class Counting:
    """Opens scripted models, and keeps what they were asked."""

    def __init__(self, script: Script = honest):
        self._script, self.models = script, list[ScriptedModel]()

    def __call__(self, model: Model) -> Provider:
        self.models.append(ScriptedModel(self._script))
        return self.models[-1]

    @property
    def requests(self) -> list[Request]:
        return [request for model in self.models for request in model.requests]


def play(path: Path, campaign: Config, script: Script = honest, **options: Any) -> Finished:
    """Run a campaign into a store's file."""
    with Store(path) as store:
        return asyncio.run(run(campaign, store, open_provider=Counting(script), **options))


def contents(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """What two runs of one campaign must have in common: all but codes, times and play ids."""
    queries = {
        "conversations": "SELECT id, state, log, ending, rounds, reason, tries FROM conversation",
        "evaluations": "SELECT id, conversation, evaluator, judging, state, tries FROM evaluation",
        "ratings": "SELECT evaluation, metric, rater, turn, status, score, calls FROM rating",
        "statements": "SELECT evaluation, round, role, speaker, status, score, text FROM statement",
        "calls": "SELECT id, model, purpose, prompt FROM call",
    }
    from sqlalchemy import text

    with Store(path, readonly=True) as store, store.connection() as connection:
        return {
            name: sorted(map(tuple, connection.execute(text(query))), key=repr)
            for name, query in queries.items()
        }
