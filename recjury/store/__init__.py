"""The store: calls, trials, logs, ratings, debates and verdicts in one SQLite file."""

from recjury.store.campaigns import Campaign, Setup, Skipped, package_versions
from recjury.store.debates import Debate, DebateSummary
from recjury.store.failures import Failure, Unfinished
from recjury.store.outcomes import RECALL_AT, TrialOutcome
from recjury.store.recorder import StoreRecorder
from recjury.store.spending import Spent
from recjury.store.store import Store
from recjury.store.trials import STAGES, Stage, Trial

__all__ = [
    "RECALL_AT",
    "STAGES",
    "Campaign",
    "Debate",
    "DebateSummary",
    "Failure",
    "Setup",
    "Skipped",
    "Spent",
    "Stage",
    "Store",
    "StoreRecorder",
    "Trial",
    "TrialOutcome",
    "Unfinished",
    "package_versions",
]
