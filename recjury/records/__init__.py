"""What flows through the house: items, scenarios, logs, ratings, debates, calls, protocols."""

from recjury.records.aspect import Aspect, Place
from recjury.records.base import JSON, Record, digest
from recjury.records.call import CallRecord, ChatRequest, ChatRole, Message, Reply, Usage
from recjury.records.conversation import (
    LIST_LENGTH,
    ConversationLog,
    Ending,
    Scenario,
    Speaker,
    Turn,
    distinct,
    is_target,
)
from recjury.records.debate import DebateTranscript, Statement, Verdict
from recjury.records.factor import (
    FACTOR_SCALE,
    OVERALL_SCALE,
    PERSUASIVENESS,
    PERSUASIVENESS_SCALE,
    Dimension,
    Factor,
    Role,
)
from recjury.records.item import Item, ItemRef
from recjury.records.particle import Decomposition, DialogueAct, Particle, TurnParticles
from recjury.records.protocols import (
    Checked,
    Conversation,
    Evaluator,
    Moment,
    Recommender,
    Recorder,
    SystemReply,
    User,
    Utterance,
    usable_reply,
)
from recjury.records.rating import Level, Rating, Status

__all__ = [
    "FACTOR_SCALE",
    "JSON",
    "LIST_LENGTH",
    "OVERALL_SCALE",
    "PERSUASIVENESS",
    "PERSUASIVENESS_SCALE",
    "Aspect",
    "CallRecord",
    "ChatRequest",
    "ChatRole",
    "Checked",
    "Conversation",
    "ConversationLog",
    "DebateTranscript",
    "Decomposition",
    "DialogueAct",
    "Dimension",
    "Ending",
    "Evaluator",
    "Factor",
    "Item",
    "ItemRef",
    "Level",
    "Message",
    "Moment",
    "Particle",
    "Place",
    "Rating",
    "Recommender",
    "Record",
    "Recorder",
    "Reply",
    "Role",
    "Scenario",
    "Speaker",
    "Statement",
    "Status",
    "SystemReply",
    "Turn",
    "TurnParticles",
    "Usage",
    "User",
    "Utterance",
    "Verdict",
    "digest",
    "distinct",
    "is_target",
    "usable_reply",
]
