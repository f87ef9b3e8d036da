"""The findings of verification: places where the store and a recomputation differ."""

from typing import Literal

from recjury.records import Record

DiscrepancyKind = Literal[
    "store", "protocol", "prompt", "statement", "score", "rating", "rounds", "verdict"
]


class Discrepancy(Record):
    """One difference. `where` is a role and round, a factor, a call, or the evaluation itself.

    "store" is a row or text that was altered, "protocol" a name that no version of the rules or
    prompts has; the other kinds name what was recomputed. `expected` is the recomputed value,
    `found` the stored one.
    """

    kind: DiscrepancyKind
    where: str
    expected: str
    found: str


def compare(
    kind: DiscrepancyKind, where: str, expected: object, found: object
) -> tuple[Discrepancy, ...]:
    """A discrepancy if the two are not equal, else none."""
    if expected == found:
        return ()
    return (Discrepancy(kind=kind, where=where, expected=str(expected), found=str(found)),)


def compare_text(
    kind: DiscrepancyKind, where: str, expected: str, found: str
) -> tuple[Discrepancy, ...]:
    """As `compare`, for long texts: shows an excerpt around the first difference."""
    if expected == found:
        return ()
    pairs = enumerate(zip(expected, found, strict=False))
    shorter = min(len(expected), len(found))
    part = next((place for place, (a, b) in pairs if a != b), shorter)
    start, end = max(0, part - 30), part + 50
    place = f"{where}, character {part}"
    return compare(kind, place, expected[start:end], found[start:end])
