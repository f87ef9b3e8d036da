"""A report to read in a browser."""

from recjury.report.html import check_place, write_report

__all__ = ["check_place", "write_report"]
