"""The results in a store: scores, summaries, comparisons, frames and exports."""

from recjury.results.agreement import Agreement, EvaluatorComparison, compare_evaluators
from recjury.results.change import ScoreChange, explain_change
from recjury.results.comparison import ComparisonOptions, compare_all, compare_systems
from recjury.results.differences import Comparison, Gap
from recjury.results.export import export, frame
from recjury.results.scores import Measure, is_newest
from recjury.results.summary import CampaignSummary, summarise
from recjury.results.tally import MetricSummary, Tally
from recjury.store import Counts
from recjury.store.choice import newest_campaign

__all__ = [
    "Agreement",
    "CampaignSummary",
    "Comparison",
    "ComparisonOptions",
    "Counts",
    "EvaluatorComparison",
    "Gap",
    "Measure",
    "MetricSummary",
    "ScoreChange",
    "Tally",
    "compare_all",
    "compare_evaluators",
    "compare_systems",
    "explain_change",
    "export",
    "frame",
    "is_newest",
    "newest_campaign",
    "summarise",
]
