"""What is kept: plain tables, SQLite or PostgreSQL."""

from recjury.store.campaigns import PlannedConversation, PlannedEvaluator, Todo, TodoEvaluation
from recjury.store.reading import EvaluationRow, Spent
from recjury.store.saving import evaluation_id
from recjury.store.store import Store

__all__ = [
    "EvaluationRow",
    "PlannedConversation",
    "PlannedEvaluator",
    "Spent",
    "Store",
    "Todo",
    "TodoEvaluation",
    "evaluation_id",
]
