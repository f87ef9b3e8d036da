"""What is kept: plain tables, SQLite or PostgreSQL."""

from recjury.store.campaigns import PlannedConversation, PlannedEvaluator, Todo, TodoEvaluation
from recjury.store.counting import CallSize, Counts, RunRow, Spent
from recjury.store.merging import Merged, merge
from recjury.store.reading import CallRow, ConversationRow, EvaluationRow
from recjury.store.saving import evaluation_id
from recjury.store.store import Store
from recjury.store.tables import NEWEST_EVALUATORS, NEWEST_TRIALS, PLANNED_TRIALS

__all__ = [
    "NEWEST_EVALUATORS",
    "NEWEST_TRIALS",
    "PLANNED_TRIALS",
    "CallRow",
    "CallSize",
    "ConversationRow",
    "Counts",
    "EvaluationRow",
    "Merged",
    "PlannedConversation",
    "PlannedEvaluator",
    "RunRow",
    "Spent",
    "Store",
    "Todo",
    "TodoEvaluation",
    "evaluation_id",
    "merge",
]
