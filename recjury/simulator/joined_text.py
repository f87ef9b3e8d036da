"""A text prepared for search: its words, and their characters joined without separators."""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from recjury.knowledge.folding import as_digits
from recjury.knowledge.tokenizer import Token, tokenize_parts


class WordSpan(NamedTuple):
    """The first and last word of a match; `fills` tells that the match covers them completely."""

    first: int
    last: int
    fills: bool


class JoinedText:
    """The words of a folded text and their joined keys, built in time linear in its length."""

    def __init__(self, folded: str, *, in_digits: bool = True):
        """Tokenize the text and join the keys; `in_digits` writes number words as digits."""
        self.words = tokenize_parts(folded)
        self.keys = [as_digits(word.key) if in_digits else word.key for word in self.words]
        self._starts = list(accumulate(map(len, self.keys), initial=0))
        self._squeezed = "".join(self.keys)

    def places(self, key: str) -> Iterator[WordSpan]:
        """Each place at which `key` occurs, regardless of separators between its letters."""
        at = self._squeezed.find(key)
        while at >= 0:
            first = bisect_right(self._starts, at) - 1
            last = bisect_right(self._starts, at + len(key) - 1) - 1
            fills = self._starts[first] == at and self._starts[last + 1] == at + len(key)
            yield WordSpan(first, last, fills)
            at = self._squeezed.find(key, at + 1)

    @property
    def has_numbers(self) -> bool:
        """Whether any word is a number word or a Roman numeral."""
        return any(as_digits(word.key) != word.key for word in self.words)

    def found(self, place: WordSpan) -> list[Token]:
        """The words of a place."""
        return self.words[place.first : place.last + 1]

    def run(self, at: int) -> str:
        """The run that word `at` belongs to, limited to three words on either side."""
        run = self.words[at].run
        near = self.words[max(0, at - 3) : at + 4]
        return "".join(word.key for word in near if word.run == run)

    def is_glued(self, place: WordSpan) -> bool:
        """Whether letters or digits adjoin the place, such as the "Up" in "StartUp"."""
        words = self.words
        before = place.first > 0 and words[place.first - 1].run == words[place.first].run
        behind = place.last + 1 < len(words) and words[place.last + 1].run == words[place.last].run
        return before or behind

    def follows(self, names: tuple[tuple[str, ...], ...], at: int) -> bool:
        """Whether word `at` is part of one of `names`; every name contains the word."""
        for name in names:
            first = at - name.index(self.words[at].key)
            if first >= 0 and name == tuple(
                word.key for word in self.words[first : first + len(name)]
            ):
                return True
        return False
