"""Coherence: system turns that do not answer what the user said, counted."""

from recjury.judges.measured.annotated_log import AnnotatedLog
from recjury.judges.measured.answers import answers, rate_answers
from recjury.judges.measured.outcome import Outcome


def coherence(log: AnnotatedLog) -> Outcome:
    """The lower of two scores: of the number of turns that do not answer, and of their share."""
    return rate_answers(log, answers(log), "turn", "do not answer the user")
