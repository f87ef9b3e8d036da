"""How opinions move in a debate without a model, and the two weights of that.

DeGroot's model (1974, "Reaching a consensus", JASA 69): everybody takes a weighted mean of all
opinions, again and again. Here an opinion weighs up to twice as much, by the part of the system's
turns that its holder can point to.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

STEP = 0.5
"""The part of the way to the others that an opinion moves in one round."""
AGREEMENT_DISTANCE = 5
"""Opinions from 0 to 100 that are at most so far apart agree."""


class Opinion(NamedTuple):
    """A score from 0 to 100, and how many of the system's turns its holder's findings are about."""

    score: float
    cited: int
    turns: int

    @property
    def trust(self) -> int:
        """What it weighs for others: 1 without findings, 2 with findings in all turns, times the
        number of turns, which is the same for all."""
        return max(1, self.turns) + self.cited


def trusted_mean(opinions: Sequence[Opinion]) -> float:
    """The mean of the scores, weighted by trust. There is at least one opinion."""
    total = sum(each.trust * each.score for each in opinions)
    return total / sum(each.trust for each in opinions)


def moved(own: float, others: Sequence[Opinion]) -> float:
    """The opinion `own` after a round in which `others` were heard; there is at least one.

    It moves towards their `trusted_mean` by a whole number of points, half points rounded up, and
    never past it.
    """
    way = STEP * (trusted_mean(others) - own)
    return own + math.copysign(math.floor(abs(way) + 0.5), way)
