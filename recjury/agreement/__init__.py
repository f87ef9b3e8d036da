"""Evaluators against people: labels, agreement, annotation tasks, scorers of replies."""

from recjury.agreement.annotation_table import Coverage, Scores, Table, annotation_table, coverage

__all__ = ["Coverage", "Scores", "Table", "annotation_table", "coverage"]
