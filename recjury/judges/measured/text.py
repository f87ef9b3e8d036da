"""Texts for the measured judges: titles masked, split into sentences and words."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise

TITLE = "\ue000"  # private use: replaces a linked title; in the original text it is removed

# No alternative backtracks into another, so matching takes linear time.
_PIECES = re.compile(rf"{TITLE}|[^\W\d_{TITLE}]+(?:['’][^\W\d_{TITLE}]+)*|\d+|[.!?…]+|[^\w\s]|_+")
_ENDINGS = frozenset(".!?…")
_OF_CLAUSES = frozenset(":;")


def word_set(words: str) -> frozenset[str]:
    """The words of a list separated by white space."""
    return frozenset(words.split())


class Sentence:
    """The words of a sentence: `words` in lower case with straight apostrophes, `raw` as written.

    `breaks[i]` tells that word i follows punctuation or begins the sentence. `ending` is the
    punctuation that ends the sentence, or "" without punctuation. `parts` are the indices of words
    after a colon or a semicolon.
    """

    __slots__ = ("breaks", "ending", "parts", "raw", "words")

    def __init__(
        self, raw: Sequence[str], breaks: Sequence[bool], ending: str, parts: Sequence[int] = ()
    ):
        """`raw` are the words as written."""
        self.raw = tuple(raw)
        self.words = tuple(word.lower().replace("’", "'") for word in raw)
        self.breaks = tuple(breaks)
        self.ending = ending
        self.parts = tuple(parts)

    def clauses(self) -> Iterator["Sentence"]:
        """What stands between colons and semicolons, each as a sentence."""
        edges = [0, *self.parts, len(self.raw)]
        for start, end in pairwise(edges):
            breaks = (True, *self.breaks[start + 1 : end])
            yield Sentence(self.raw[start:end], breaks, self.ending if end == edges[-1] else ":")

    def after(self, index: int) -> str:
        """The word after word `index`, or "" if there is none or punctuation separates them."""
        following = index + 1
        if following < len(self.words) and not self.breaks[following]:
            return self.words[following]
        return ""

    def before(self, index: int) -> str:
        """The word before word `index`, or "" if there is none or punctuation separates them."""
        return self.words[index - 1] if index > 0 and not self.breaks[index] else ""

    def run(self, index: int, length: int) -> tuple[str, ...]:
        """Up to `length` words from word `index` on, up to the next punctuation."""
        end = index + 1
        last = min(index + length, len(self.words))
        while end < last and not self.breaks[end]:
            end += 1
        return self.words[index:end]

    def phrase(self, start: int, end: int) -> str:
        """The words from `start` to `end` (exclusive) as written, for a rationale."""
        return " ".join("[title]" if w == TITLE else w for w in self.raw[start:end])


class MaskedText:
    """One text with the positions of its linked titles; other views are computed on demand."""

    def __init__(self, text: str, spans: Sequence[tuple[int, int]]):
        """`spans` are the (start, end) of linked titles in `text`, in order, not overlapping."""
        self.text = text
        self.spans = tuple(spans)

    @classmethod
    def of_masked(cls, masked: str) -> "MaskedText":
        """A text in which TITLE stands for each title."""
        places = [at for at, letter in enumerate(masked) if letter == TITLE]
        return cls(masked, [(at, at + 1) for at in places])

    @cached_property
    def masked(self) -> str:
        """The text with each linked title replaced by TITLE."""
        pieces: list[str] = []
        position = 0
        for start, end in self.spans:
            pieces += (self.text[position:start].replace(TITLE, " "), TITLE)
            position = end
        pieces.append(self.text[position:].replace(TITLE, " "))
        return "".join(pieces)

    @cached_property
    def plain(self) -> str:
        """`masked`, lower-case, with straight apostrophes and single spaces."""
        return " ".join(self.masked.lower().replace("’", "'").split())

    @cached_property
    def same(self) -> str:
        """The case-folded words, titles included: equal for two texts that say the same."""
        return " ".join(re.findall(r"\w+", self.text.casefold()))

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The masked text's sentences; a line break also ends a sentence."""
        return tuple(s for line in self.masked.splitlines() for s in _sentences(line))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """All words in order, lower-case, TITLE for a linked title."""
        return tuple(word for sentence in self.sentences for word in sentence.words)


def _sentences(line: str) -> list[Sentence]:
    found: list[Sentence] = []
    raw: list[str] = []
    breaks: list[bool] = []
    parts: list[int] = []
    broken = True
    for match in _PIECES.finditer(line):
        piece = match.group()
        if piece[0] in _ENDINGS:
            if raw:
                found.append(Sentence(raw, breaks, piece, [at for at in parts if at < len(raw)]))
                raw, breaks, parts = [], [], []
            broken = True
        elif piece == TITLE or piece[0].isalnum():
            raw.append(piece)
            breaks.append(broken)
            broken = False
        else:
            broken = True
            if piece in _OF_CLAUSES and raw and parts[-1:] != [len(raw)]:
                parts.append(len(raw))
    if raw:
        found.append(Sentence(raw, breaks, "", [at for at in parts if at < len(raw)]))
    return found
