"""The seven aspects of FACE (section 3.1 of the paper), and the places that are scored on them."""

from enum import StrEnum
from typing import NamedTuple

from recjury.records.rating import Level


class Aspect(StrEnum):
    """One of the seven aspects; the value is its name in every file of CRSArena-Eval."""

    RELEVANCE = "relevance"
    INTERESTINGNESS = "interestingness"
    UNDERSTANDING = "understanding"
    TASK_COMPLETION = "task_completion"
    EFFICIENCY = "efficiency"
    INTEREST_AROUSAL = "interest_arousal"
    DIALOGUE_OVERALL = "dialogue_overall"

    @property
    def level(self) -> Level:
        """Whether a system turn or a whole dialogue is scored."""
        return Level.TURN if self in _OF_TURNS else Level.DIALOGUE

    @property
    def low(self) -> int:
        """The lowest score: 0."""
        return 0

    @property
    def high(self) -> int:
        """The highest score that CRSArena-Eval contains, among labels and scores.

        The paper has 0 to 3 for relevance, but the labels and the released scores end at 2.
        """
        return _HIGH.get(self, 2)


_OF_TURNS = frozenset({Aspect.RELEVANCE, Aspect.INTERESTINGNESS})
_HIGH = {Aspect.EFFICIENCY: 1, Aspect.DIALOGUE_OVERALL: 4}


class ScoreTarget(NamedTuple):
    """The place that is scored or labelled: a system turn by its 0-based index, or a
    conversation."""

    conversation: str
    turn: int | None = None

    def __str__(self) -> str:
        """The text that messages use."""
        return self.conversation if self.turn is None else f"{self.conversation}, turn {self.turn}"
