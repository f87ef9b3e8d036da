"""What a person's text says for and against what it names: the words of wishing and refusing.

The readers of whole conversations share it: the retrieval system reads a user here, and the
simulated user what a person said before it.
"""

import re
from collections.abc import Iterator
from functools import cached_property

_NEGATION = re.compile(
    r"\b(?:not|no|never|without|except|hate[ds]?|dislike[ds]?|avoid|tired of|sick of|bored of|"
    r"nothing|isn['’]?t|wasn['’]?t|don['’]?t|didn['’]?t|doesn['’]?t|can['’]?t stand|"
    r"couldn['’]?t|wouldn['’]?t|won['’]?t)\b",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    r"\b(?:don['’]?t|do not|didn['’]?t|not) (?:know|mind|sure\b(?! about)|only|remember|matter)|"
    r"\bno (?:problem|idea|preference|matter|wonder)|\bwhy not|\bnever (?:seen|saw|heard)|"
    r"\bhave(?:n['’]?t| not) (?:seen|heard)|\bnot (?:too|very|so) (?:sure|picky)",
    re.IGNORECASE,
)
_SCOPE_END = re.compile(
    r"[.;!?\n]|\bbut\b|\bjust\b|\bthough\b|"
    r",\s*(?:for|since|as|because|so|whom?|which|i|can|could|please|maybe|perhaps)\b",
    re.IGNORECASE,
)
# "without her, whom I would like to see": the person before this clause is wanted.
_WANTED_BEHIND = re.compile(
    r",? (?:whom?|which|that) i (?:would|want|love|like|hoped)", re.IGNORECASE
)
_PRAISE = re.compile(
    r"\b(?:(?<!would )(?<!['’]d )like[ds]?|love[ds]?|enjoy(?:ed)?|great|good|nice|perfect|"
    r"excellent|fantastic|thanks?|interesting|amazing|awesome|favou?rite|fun|cool|wonderful|brilliant|yes|yeah|sure|watch)\b",
    re.IGNORECASE,
)
_DECADE = re.compile(r"\b(?:(19|20)(\d)0['’]?s|['’]?([2-9]0)['’]?s)\b")
_YEAR = re.compile(r"\b(?:from|in|of|around) ((?:19|20)\d\d)\b")


class SpokenWish:
    """One text of a person: which of its parts are refused, and which times it names."""

    def __init__(self, text: str):
        """`text` is one turn, or a part of one that has whole clauses."""
        self._text = text

    @cached_property
    def refused(self) -> list[tuple[int, int]]:
        """The scope of each negation: from the negation to the end of its clause."""
        harmless = [match.span() for match in _HARMLESS.finditer(self._text)]
        spans = []
        for match in _NEGATION.finditer(self._text):
            if not inside(match.start(), harmless):
                end = _SCOPE_END.search(self._text, match.end())
                spans.append((match.start(), end.start() if end else len(self._text)))
        return spans

    @property
    def praises(self) -> bool:
        """Whether any word is one of praise."""
        return _PRAISE.search(self._text) is not None

    def refuses(self, start: int) -> bool:
        """Whether a negation before `start` includes it ("no horror, please")."""
        return inside(start, self.refused)

    def refuses_value(self, start: int, end: int) -> bool:
        """Whether the value from `start` to `end` is refused, and not wanted right behind."""
        return self.refuses(start) and not _WANTED_BEHIND.match(self._text, end)

    def refuses_item(self, start: int, end: int) -> bool:
        """Whether an item is refused, before it or behind it ("Jaws I did not like")."""
        return self.refuses(start) or self._is_denied(end)

    def _is_denied(self, end: int) -> bool:
        """Whether a negation begins after position `end` in the same clause."""
        clause = _SCOPE_END.search(self._text, end)
        until = clause.start() if clause else len(self._text)
        return any(end <= start < until for start, _ in self.refused)

    def clause_start(self, position: int) -> int:
        """Where the clause that has this position begins."""
        return max((m.end() for m in _SCOPE_END.finditer(self._text, 0, position)), default=0)

    def years(self) -> Iterator[tuple[int, tuple[int, int]]]:
        """The position of each requested decade or year, with its first and last year."""
        for match in _DECADE.finditer(self._text):
            century, tens, short = match.groups()
            first = int(f"{century}{tens}0") if century else 1900 + int(short)
            yield match.start(), (first, first + 9)
        for match in _YEAR.finditer(self._text):
            yield match.start(), (int(match.group(1)), int(match.group(1)))


def inside(position: int, spans: list[tuple[int, int]]) -> bool:
    """Whether a position lies in one of the spans."""
    return any(start <= position < end for start, end in spans)
