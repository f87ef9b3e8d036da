"""What a debate is held over: a log, its ratings, and what these rest on."""

from collections.abc import Sequence
from typing import NamedTuple

from recjury.records import ConversationLog, Evidence, Factor, Rating, Role


class RatedLog(NamedTuple):
    """A log with one rating per factor, and the evidence for the ratings (none by models)."""

    log: ConversationLog
    ratings: Sequence[Rating]
    evidence: Sequence[Evidence] = ()

    def scored(self, role: Role) -> tuple[Rating, ...]:
        """The ratings of the role's factors that have a score, in its order; a role without any
        abstains.

        Raises ValueError if a factor has two ratings.
        """
        return tuple(each for each in own_ratings(role, self.ratings) if each.score is not None)

    def findings(self, role: Role) -> tuple[Evidence, ...]:
        """The evidence that the role can cite: of its scored factors, with a turn of the log."""
        factors = {Factor(rating.factor) for rating in self.scored(role)}
        turns = range(len(self.log.interaction))
        return tuple(e for e in self.evidence if e.factor in factors and e.turn in turns)


def own_ratings(role: Role, ratings: Sequence[Rating]) -> tuple[Rating, ...]:
    """The ratings of the role's three factors, in its order; a factor without a rating is missing.

    Raises ValueError if a factor has two ratings: a debate gets one per factor.
    """
    found: list[Rating] = []
    for factor in role.factors:
        own = [rating for rating in ratings if rating.factor == factor]
        if len(own) > 1:
            judges = ", ".join(rating.evaluator for rating in own)
            raise ValueError(f"a debate needs one rating of {factor}, got ratings by {judges}")
        found.extend(own)
    return tuple(found)
