"""How far scores agree with people: labels, alignment, analyses."""

from recjury.agreement.align import align
from recjury.agreement.analyses import ANALYSES
from recjury.agreement.annotate import Drawing, export_pages
from recjury.agreement.annotations import import_answers
from recjury.agreement.forms import FORMS, open_labels
from recjury.agreement.labels import Labels, labels_of
from recjury.agreement.scores import read_scores, scores_of
from recjury.agreement.study import Analysis, Study

__all__ = [
    "ANALYSES",
    "FORMS",
    "Analysis",
    "Drawing",
    "Labels",
    "Study",
    "align",
    "export_pages",
    "import_answers",
    "labels_of",
    "open_labels",
    "read_scores",
    "scores_of",
]
