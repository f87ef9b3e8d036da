"""A report to read in a browser."""

from recjury.report.html import check_report_path, write_report

__all__ = ["check_report_path", "write_report"]
