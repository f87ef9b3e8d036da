"""One call to a model, kept before it is used, and `Ask`, the way from a prompt to an answer."""

from recjury.llm.answers import Answer, Score, mean, together
from recjury.llm.ask import Ask, Odds, Prompt
from recjury.llm.budget import Budget
from recjury.llm.doubles import ScriptedModel, TypicalModel
from recjury.llm.endpoint import Endpoint, key_variable
from recjury.llm.gateway import Gateway
from recjury.llm.limiter import Clock
from recjury.llm.models import Model, Provider, Recorder, ReplySettings
from recjury.llm.opening import open_model
from recjury.llm.remedies import AttemptError, Dialect, Remedy
from recjury.tasks import gather, in_thread

__all__ = [
    "Answer",
    "Ask",
    "AttemptError",
    "Budget",
    "Clock",
    "Dialect",
    "Endpoint",
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
    "key_variable",
    "mean",
    "open_model",
    "together",
]
