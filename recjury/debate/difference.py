"""What verification finds: one place where the store and a recomputation differ."""

from typing import Literal

from recjury.records import Record

Kind = Literal["store", "protocol", "prompt", "statement", "score", "rating", "rounds", "verdict"]


class Difference(Record):
    """One difference. `where` is a role and round, a factor, a call, or the evaluation itself.

    "store" is a row or text that is not as it was written, "protocol" a name that no version of
    the rules or prompts has; the rest name what was recomputed. `expected` is what recomputing
    gives, `found` what the store has.
    """

    kind: Kind
    where: str
    expected: str
    found: str


def compared(kind: Kind, where: str, expected: object, found: object) -> tuple[Difference, ...]:
    """A difference if the two are not equal, else none."""
    if expected == found:
        return ()
    return (Difference(kind=kind, where=where, expected=str(expected), found=str(found)),)


def compared_text(kind: Kind, where: str, expected: str, found: str) -> tuple[Difference, ...]:
    """As `compared`, for long texts: shows them from a little before they part."""
    if expected == found:
        return ()
    pairs = enumerate(zip(expected, found, strict=False))
    shorter = min(len(expected), len(found))
    part = next((place for place, (a, b) in pairs if a != b), shorter)
    start, end = max(0, part - 30), part + 50
    place = f"{where}, character {part}"
    return compared(kind, place, expected[start:end], found[start:end])
