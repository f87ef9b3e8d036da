"""The store: calls, conversations, and all evaluations of them, in one SQLite file."""

from recjury.store.call_counts import CallCounts, CampaignCalls, Spent
from recjury.store.campaigns import Campaign, Setup, Skipped
from recjury.store.contents import WholeEvaluation
from recjury.store.conversations import Placed, PlannedConversation
from recjury.store.counts import CampaignCounts, Counts
from recjury.store.debate_lists import DebateSummary
from recjury.store.engine import store_path
from recjury.store.evaluations import EvaluationHandle, PlannedEvaluation, StoredEvaluation
from recjury.store.evaluators import CampaignEvaluator, PlannedEvaluator
from recjury.store.failures import Failure, Unfinished
from recjury.store.measurements import Measurement
from recjury.store.recorder import StoreRecorder
from recjury.store.results import ConversationResult, EvaluationResult
from recjury.store.running import RunningCampaign
from recjury.store.selection import Selection, Shard
from recjury.store.stage_results import ForkedEvaluation
from recjury.store.store import Store
from recjury.store.summaries import DebateScore

__all__ = [
    "CallCounts",
    "Campaign",
    "CampaignCalls",
    "CampaignCounts",
    "CampaignEvaluator",
    "ConversationResult",
    "Counts",
    "DebateScore",
    "DebateSummary",
    "EvaluationHandle",
    "EvaluationResult",
    "Failure",
    "ForkedEvaluation",
    "Measurement",
    "Placed",
    "PlannedConversation",
    "PlannedEvaluation",
    "PlannedEvaluator",
    "RunningCampaign",
    "Selection",
    "Setup",
    "Shard",
    "Skipped",
    "Spent",
    "Store",
    "StoreRecorder",
    "StoredEvaluation",
    "Unfinished",
    "WholeEvaluation",
    "store_path",
]
