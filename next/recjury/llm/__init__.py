"""Calls to models: asked, found again, kept before they are used."""

from recjury.llm.ask import Answer, Ask, Odds, Prompt, Score
from recjury.llm.budget import Budget
from recjury.llm.doubles import ScriptedModel, TypicalModel
from recjury.llm.endpoint import open_endpoint
from recjury.llm.gateway import Gateway
from recjury.llm.models import Model, Provider, Recorder, ReplySettings
from recjury.llm.remedies import AttemptError, Dialect, Remedy
from recjury.llm.tasks import gather, in_thread

__all__ = [
    "Answer",
    "Ask",
    "AttemptError",
    "Budget",
    "Dialect",
    "Gateway",
    "Model",
    "Odds",
    "Prompt",
    "Provider",
    "Recorder",
    "Remedy",
    "ReplySettings",
    "Score",
    "ScriptedModel",
    "TypicalModel",
    "gather",
    "in_thread",
    "open_endpoint",
]
