"""CRSArena-Dial's votes: which of two systems a person preferred after talking with both."""

from pathlib import Path
from typing import NamedTuple

from recjury.corpora.csv_rows import read_csv_rows
from recjury.errors import DataError

SETTINGS = ("closed", "open")
_TIE = "tie"


class Vote(NamedTuple):
    """`one` against `other` ("kbrd_redial") by a user: 1 if `one` is preferred, 0.5 for a tie."""

    setting: str
    user: str
    one: str
    other: str
    score: float


def read_votes(folder: Path) -> tuple[Vote, ...]:
    """The votes of votes_closed.csv and votes_open.csv, of those that are there.

    Raises DataError if neither is, or for a vote for another system than the two.
    """
    found: list[Vote] = []
    for setting in SETTINGS:
        path = folder / f"votes_{setting}.csv"
        if not path.exists():
            continue
        for row in read_csv_rows(path, ("user_id", "crs1", "crs2", "vote")):
            one, other, vote = row["crs1"], row["crs2"], row["vote"]
            if vote not in (one, other, _TIE) or one == other or not (one and other):
                raise row.error(f"a vote for {vote[:40]!r} between {one[:40]!r} and {other[:40]!r}")
            score = 0.5 if vote == _TIE else float(vote == one)
            found.append(Vote(setting, row["user_id"], one, other, score))
    if not found:
        raise DataError("has no votes_closed.csv or votes_open.csv with votes", path=folder)
    return tuple(found)
