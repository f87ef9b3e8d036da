"""The store: calls, conversations, and all evaluations of them, in one SQLite file or one
PostgreSQL database."""

from recjury.store.call_counts import CallCounts, CampaignCalls, Spent
from recjury.store.campaigns import Campaign, Setup, Skipped
from recjury.store.contents import WholeEvaluation
from recjury.store.conversations import Placed, PlannedConversation
from recjury.store.counts import CampaignCounts, Counts
from recjury.store.debate_lists import DebateSummary
from recjury.store.evaluations import EvaluationHandle, PlannedEvaluation, StoredEvaluation
from recjury.store.evaluators import CampaignEvaluator, PlannedEvaluator
from recjury.store.failures import Failure, Unfinished
from recjury.store.measurements import Measurement
from recjury.store.recorder import StoreRecorder
from recjury.store.results import ConversationResult, EvaluationResult
from recjury.store.running import BEAT_SECONDS, RunningCampaign, Worker
from recjury.store.selection import NothingFailedError, Selection, Shard
from recjury.store.stage_results import ForkedEvaluation
from recjury.store.store import Store
from recjury.store.summaries import Layout, RatedAs, SpokenAs, StageScores
from recjury.store.url import location_of
from recjury.store.workers import Lease

__all__ = [
    "BEAT_SECONDS",
    "CallCounts",
    "Campaign",
    "CampaignCalls",
    "CampaignCounts",
    "CampaignEvaluator",
    "ConversationResult",
    "Counts",
    "DebateSummary",
    "EvaluationHandle",
    "EvaluationResult",
    "Failure",
    "ForkedEvaluation",
    "Layout",
    "Lease",
    "Measurement",
    "NothingFailedError",
    "Placed",
    "PlannedConversation",
    "PlannedEvaluation",
    "PlannedEvaluator",
    "RatedAs",
    "RunningCampaign",
    "Selection",
    "Setup",
    "Shard",
    "Skipped",
    "Spent",
    "SpokenAs",
    "StageScores",
    "Store",
    "StoreRecorder",
    "StoredEvaluation",
    "Unfinished",
    "WholeEvaluation",
    "Worker",
    "location_of",
]
