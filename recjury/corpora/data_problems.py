"""Problems inside a file that can still be used; each problem names its place."""

from enum import StrEnum
from typing import NamedTuple

from recjury.records import ScoreTarget


class Fault(StrEnum):
    """Kinds of problems, for counting."""

    MISSING_LABEL = "missing label"
    MISSING_SAMPLE = "missing sample"
    MISSING_SCORE = "missing score"
    NOT_A_NUMBER = "not a number"
    NOT_AN_INTEGER = "not an integer"
    NOT_DECOMPOSED = "turn not decomposed"
    NOT_IN_TURN = "particle not in the turn"
    OUT_OF_RANGE = "out of range"
    UNKNOWN_ASPECT = "unknown aspect"
    UNKNOWN_PLACE = "unknown conversation or turn"
    UNSCORED = "no score"


class Problem(NamedTuple):
    """One problem: its kind, its place, the aspect it concerns (or ""), and a description."""

    fault: Fault
    place: ScoreTarget | None
    aspect: str
    what: str

    def __str__(self) -> str:
        """One line: place, aspect, what is wrong."""
        where = (part for part in (str(self.place or ""), self.aspect) if part)
        return f"{', '.join(where)}: {self.what}"
