"""What a debate is held over: a log, its ratings, and what these rest on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from recjury.debate.reception import reception_of
from recjury.records import ConversationLog, Evidence, Rating, Role


@dataclass(frozen=True, eq=False)
class RatedLog:
    """A log with one rating per factor, and the evidence for the ratings (none by models)."""

    log: ConversationLog
    ratings: Sequence[Rating]
    evidence: Sequence[Evidence] = ()

    def scored(self, role: Role) -> tuple[Rating, ...]:
        """The ratings of the role's factors that have a score, in its order; a role without any
        abstains.

        Raises ValueError if a factor has two ratings.
        """
        return self._scored[role]

    def findings(self, role: Role) -> tuple[Evidence, ...]:
        """The evidence that the role can cite: of its scored factors, with a turn of the log; and
        its `reception`."""
        return (*self._findings[role], *self.reception(role))

    def reception(self, role: Role) -> tuple[Evidence, ...]:
        """What the user did, if the role speaks for the user."""
        return self._reception if role is Role.COMMON_USER else ()

    @cached_property
    def _reception(self) -> tuple[Evidence, ...]:
        return reception_of(self.log)

    @cached_property
    def _scored(self) -> Mapping[Role, tuple[Rating, ...]]:
        owned = {role: own_ratings(role, self.ratings) for role in Role}
        return {role: tuple(r for r in own if r.score is not None) for role, own in owned.items()}

    @cached_property
    def _findings(self) -> Mapping[Role, tuple[Evidence, ...]]:
        turns = range(len(self.log.interaction))
        placed = [each for each in self.evidence if each.turn in turns]
        factors = {role: {rating.factor for rating in own} for role, own in self._scored.items()}
        return {role: tuple(e for e in placed if e.factor in of) for role, of in factors.items()}


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
