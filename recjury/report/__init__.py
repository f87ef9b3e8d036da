"""What came of a campaign: tables, comparisons, and a report to read in a browser."""

from recjury.report.choice import newest_campaign
from recjury.report.comparison import Comparison, compare_systems
from recjury.report.html import check_place, write_report
from recjury.report.summary import SystemSummary, summarise_by_corpus, summarise_systems

__all__ = [
    "Comparison",
    "SystemSummary",
    "check_place",
    "compare_systems",
    "newest_campaign",
    "summarise_by_corpus",
    "summarise_systems",
    "write_report",
]
