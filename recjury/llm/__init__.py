"""Talk to models: one gateway with reuse, retries, limits, budget and record."""

from recjury.llm.ask import ParsedReply, ask
from recjury.llm.budget import BudgetSpec, parse_budget
from recjury.llm.call_context import call_context
from recjury.llm.call_identity import call_identity
from recjury.llm.clock import Clock, SystemClock
from recjury.llm.gateway import Gateway
from recjury.llm.loop import event_loop
from recjury.llm.reply_parsing import RatedText, finished_text, parse_json, parse_rating
from recjury.llm.retry import Backoff
from recjury.llm.sampling import Samples, sample_replies
from recjury.llm.scripted import ScriptedModel
from recjury.llm.spec import ModelSpec
from recjury.llm.transport import Completion, Provider, Retryable
from recjury.llm.usage import GatewayUsage, cost_text

__all__ = [
    "Backoff",
    "BudgetSpec",
    "Clock",
    "Completion",
    "Gateway",
    "GatewayUsage",
    "ModelSpec",
    "ParsedReply",
    "Provider",
    "RatedText",
    "Retryable",
    "Samples",
    "ScriptedModel",
    "SystemClock",
    "ask",
    "call_context",
    "call_identity",
    "cost_text",
    "event_loop",
    "finished_text",
    "parse_budget",
    "parse_json",
    "parse_rating",
    "sample_replies",
]
