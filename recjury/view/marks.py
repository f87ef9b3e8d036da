"""What ratings rest on, as marks in the texts of turns: evidence, and quotes in reasons."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple

from recjury.records import Evidence, Turn

_QUOTE = re.compile(r'["“„«]([^"“”„«»]{12,400})["”“»]')
_CUT = re.compile(r"\.{3}|…|\[\.\.\.\]")
_EDGES = " \t\n.,;:!?"
_FEWEST = 12  # characters of a quote: shorter ones are titles, or chance
_MOST = 20  # quotes of one reason


class Mark(NamedTuple):
    """A part of a turn's text that a rating rests on. `turn` counts from 0, `end` is excluded."""

    turn: int
    start: int
    end: int
    rating: str
    note: str = ""


class Segment(NamedTuple):
    """A part of a text, and the ratings that rest on it."""

    text: str
    ratings: tuple[str, ...]


def quoted(rating: str, reason: str, turns: Sequence[Turn]) -> Iterator[Mark]:
    """The quotes in a reason that stand in a turn, each where it stands first."""
    for quote in islice(dict.fromkeys(_parts(reason)), _MOST):
        words = re.compile(r"\s+".join(map(re.escape, quote.split())), re.IGNORECASE)
        for number, turn in enumerate(turns):
            if found := words.search(turn.text):
                yield Mark(number, *found.span(), rating)
                break


def given(rating: str, evidence: Evidence, turns: Sequence[Turn]) -> Mark | None:
    """The mark of evidence that names its place, or None.

    A place is `turn`, counted from 0, with `span` (start and end in the text) or `quote`; all else
    that is a text or a number is the mark's note.
    """
    value = evidence.value if isinstance(evidence.value, Mapping) else {}
    turn = value.get("turn")
    if not isinstance(turn, int) or not 0 <= turn < len(turns):
        return None
    span = _span(value, turns[turn].text)
    note = ", ".join(f"{name} {part}" for name, part in value.items() if _tells(name, part))
    return Mark(turn, *span, rating, note) if span else None


def segments(text: str, marks: Iterable[Mark]) -> list[Segment]:
    """The text in parts, each with the ratings that rest on it; marks may overlap."""
    own = list(marks)
    edges = sorted({0, len(text), *(edge for mark in own for edge in (mark.start, mark.end))})
    parts = []
    for start, end in pairwise(edges):
        over = [mark.rating for mark in own if mark.start <= start and end <= mark.end]
        parts.append(Segment(text[start:end], tuple(dict.fromkeys(over))))
    return parts


def _parts(reason: str) -> Iterator[str]:
    """The quotes in a reason; one with an omission is two."""
    for quote in _QUOTE.findall(reason):
        parts = (part.strip(_EDGES) for part in _CUT.split(quote))
        yield from (part for part in parts if len(part) >= _FEWEST)


def _tells(name: str, part: object) -> bool:
    return (
        name not in ("turn", "quote", "mention")
        and isinstance(part, str | int | float)
        and part != ""
    )


def _span(value: Mapping[Any, Any], text: str) -> tuple[int, int] | None:
    match value.get("span"), value.get("quote"):
        case [int(start), int(end)], _ if 0 <= start < end <= len(text):
            return start, end
        case _, str(quote) if quote and quote in text:
            start = text.index(quote)
            return start, start + len(quote)
    return None
