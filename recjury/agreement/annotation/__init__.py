"""People's scores of conversations: tasks for raters, their answers, and labels made of them."""

from recjury.agreement.annotation.design import Design, campaign_logs, draw_task
from recjury.agreement.annotation.labels import (
    AnnotatedLabels,
    Exclusion,
    collect_labels,
    read_annotated,
    write_annotated,
)
from recjury.agreement.annotation.task import AnnotationTask, TaskKey

__all__ = [
    "AnnotatedLabels",
    "AnnotationTask",
    "Design",
    "Exclusion",
    "TaskKey",
    "campaign_logs",
    "collect_labels",
    "draw_task",
    "read_annotated",
    "write_annotated",
]
