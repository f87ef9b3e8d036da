"""Agreement of evaluators with people: scores compared with labels."""

from recjury.alignment.annotation import Coverage, Scores, Table, annotation_table, coverage

__all__ = ["Coverage", "Scores", "Table", "annotation_table", "coverage"]
