"""Talk to models: one gateway that reuses, retries, limits and records calls within a budget."""

from recjury.llm.budget import (
    NOTHING_SPENT,
    Account,
    Budget,
    BudgetSpec,
    GatewayUsage,
    SpentBefore,
    charged_to,
    cost_text,
    parse_budget,
)
from recjury.llm.call_identity import call_context, call_identity, shared_call_context
from recjury.llm.call_slots import Part
from recjury.llm.choice_odds import ChoiceOdds, check_choices
from recjury.llm.endpoint_check import CallUse
from recjury.llm.endpoint_spec import EndpointSpec
from recjury.llm.event_loop import Clock, SystemClock, event_loop, gather
from recjury.llm.gateway import Gateway
from recjury.llm.learning import Learning
from recjury.llm.model_kinds import MODEL_KINDS, ModelEntry, OwnModel, read_model
from recjury.llm.policy import ATTEMPTS
from recjury.llm.provider import Completion, Provider, Retryable
from recjury.llm.question import (
    Answer,
    AnswerForm,
    PlannedCall,
    Prompt,
    Question,
    RatingTag,
    RatingTagOdds,
    WordOdds,
    ask,
    ask_each,
    left_out_turns,
)
from recjury.llm.reply_parsing import (
    RatedText,
    ReadNumber,
    ReadObject,
    parse_rating,
    read_number,
    read_object,
)
from recjury.llm.reply_reading import (
    Attempt,
    AttemptLimit,
    ParsedReply,
    Samples,
    SupportsComplete,
    attempt_limit,
    read_attempts,
    read_reply,
    sample_replies,
)
from recjury.llm.retry import Backoff
from recjury.llm.scripted import NullRecorder, ScriptedModel
from recjury.llm.spec import MAIN_MODEL, ModelSpec
from recjury.llm.spoken_text import finished_text
from recjury.llm.vllm.provider import running_servers

__all__ = [
    "ATTEMPTS",
    "MAIN_MODEL",
    "MODEL_KINDS",
    "NOTHING_SPENT",
    "Account",
    "Answer",
    "AnswerForm",
    "Attempt",
    "AttemptLimit",
    "Backoff",
    "Budget",
    "BudgetSpec",
    "CallUse",
    "ChoiceOdds",
    "Clock",
    "Completion",
    "EndpointSpec",
    "Gateway",
    "GatewayUsage",
    "Learning",
    "ModelEntry",
    "ModelSpec",
    "NullRecorder",
    "OwnModel",
    "ParsedReply",
    "Part",
    "PlannedCall",
    "Prompt",
    "Provider",
    "Question",
    "RatedText",
    "RatingTag",
    "RatingTagOdds",
    "ReadNumber",
    "ReadObject",
    "Retryable",
    "Samples",
    "ScriptedModel",
    "SpentBefore",
    "SupportsComplete",
    "SystemClock",
    "WordOdds",
    "ask",
    "ask_each",
    "attempt_limit",
    "call_context",
    "call_identity",
    "charged_to",
    "check_choices",
    "cost_text",
    "event_loop",
    "finished_text",
    "gather",
    "left_out_turns",
    "parse_budget",
    "parse_rating",
    "read_attempts",
    "read_model",
    "read_number",
    "read_object",
    "read_reply",
    "running_servers",
    "sample_replies",
    "shared_call_context",
]
