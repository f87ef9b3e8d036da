"""Ratings as one frame, and what is made of it."""

from recjury.results.campaign import StoredCampaign
from recjury.results.compare import compare
from recjury.results.comparison import comparison
from recjury.results.conversations import (
    RatingFilter,
    conversation_list,
    debate_data,
    debate_text,
    explain,
    replay,
)
from recjury.results.export import export, recorded
from recjury.results.findings import Findings, cell_text, of_numbers
from recjury.results.formats import Format, render
from recjury.results.plots import check_plot, plot, save_figure
from recjury.results.ratings import Resampling, means, ratings, scores
from recjury.results.selection import Selection
from recjury.results.status import status
from recjury.results.summary import means_by_system, summary, summary_of
from recjury.results.tables import (
    calls,
    ratings_with_reasons,
    statements,
    turns,
)
from recjury.results.trials import trials

__all__ = [
    "Findings",
    "Format",
    "RatingFilter",
    "Resampling",
    "Selection",
    "StoredCampaign",
    "calls",
    "cell_text",
    "check_plot",
    "compare",
    "comparison",
    "conversation_list",
    "debate_data",
    "debate_text",
    "explain",
    "export",
    "means",
    "means_by_system",
    "of_numbers",
    "plot",
    "ratings",
    "ratings_with_reasons",
    "recorded",
    "render",
    "replay",
    "save_figure",
    "scores",
    "statements",
    "status",
    "summary",
    "summary_of",
    "trials",
    "turns",
]
