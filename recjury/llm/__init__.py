"""Talk to models: one gateway with reuse, retries, limits, budget and record."""

from recjury.llm.ask import Answer, ask
from recjury.llm.attribution import on_behalf_of
from recjury.llm.budget import BudgetSpec, parse_budget
from recjury.llm.clock import Clock, SystemClock
from recjury.llm.gateway import Gateway
from recjury.llm.identity import identity
from recjury.llm.loop import event_loop
from recjury.llm.reading import RatedText, finished_text, read_json, read_rating
from recjury.llm.retry import Backoff
from recjury.llm.sampling import Samples, sample
from recjury.llm.scripted import ScriptedModel
from recjury.llm.spec import ModelSpec
from recjury.llm.usage import GatewayUsage, cost_text
from recjury.llm.wire import Completion, Provider, Retryable

__all__ = [
    "Answer",
    "Backoff",
    "BudgetSpec",
    "Clock",
    "Completion",
    "Gateway",
    "GatewayUsage",
    "ModelSpec",
    "Provider",
    "RatedText",
    "Retryable",
    "Samples",
    "ScriptedModel",
    "SystemClock",
    "ask",
    "cost_text",
    "event_loop",
    "finished_text",
    "identity",
    "on_behalf_of",
    "parse_budget",
    "read_json",
    "read_rating",
    "sample",
]
