"""How opinions move in a debate without a model, and the few weights of that.

DeGroot's model (1974, "Reaching a consensus"): everybody takes a weighted mean of all opinions,
again and again. Here the weight of an opinion is the number of findings that its holder cites.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

STEP_PER_FINDING = 0.05
"""The part of the way to the others that each finding of theirs moves an opinion."""
LARGEST_STEP = 0.5
"""The largest part of the way that an opinion moves in one round."""
AGREEMENT_DISTANCE = 5.0
"""Opinions from 0 to 100 that are at most so far apart agree."""


class Opinion(NamedTuple):
    """A score from 0 to 100, and how many findings its holder cites for it."""

    score: float
    findings: int


def evidence_mean(opinions: Sequence[Opinion]) -> float | None:
    """The mean of the scores, weighted by the findings; None if nobody cites one."""
    findings = sum(each.findings for each in opinions)
    if not findings:
        return None
    return sum(each.findings * each.score for each in opinions) / findings


def moved(own: float, others: Sequence[Opinion]) -> float:
    """The opinion `own` after a round in which `others` were heard.

    It moves towards the others' `evidence_mean`, by a whole number of points, and never past it;
    halves are rounded up, in either direction.
    """
    mean = evidence_mean(others)
    if mean is None:
        return own
    step = min(LARGEST_STEP, STEP_PER_FINDING * sum(each.findings for each in others))
    way = step * (mean - own)
    return own + math.copysign(math.floor(abs(way) + 0.5), way)
