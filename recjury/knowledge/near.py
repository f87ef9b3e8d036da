"""Misspelt words: which known words are one edit away.

An edit is a letter too many, one too few, another one, two that changed places, or a space left
out between two words. Only words that nobody knows are taken for misspelt ones, so that no word
of the language becomes a name.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property

from recjury.knowledge.casing import word_list

MIN_LETTERS = 5
MIN_WORD_LETTERS = 4
MIN_OTHER_INITIAL = 7  # letters of a word whose very first letter may be the wrong one
_REMEMBERED = 100_000  # words; a corpus has some ten thousand
# How words are inflected and derived: an ending, and what stood in its place.
_ENDINGS = (
    *((ending, "") for ending in ("s", "es", "ed", "d", "er", "r", "ers", "ing", "ish", "y", "ly")),
    *((ending, "") for ending in ("like", "ness", "est")),
    *((ending, "e") for ending in ("ing", "ish", "y")),
    *((ending, "y") for ending in ("ied", "ies", "ier", "iest")),
)


class NearWords:
    """Finds the known words near an unknown one; the index is built with the first search."""

    def __init__(self, names: Iterable[str], known: Iterable[str]):
        """`names` are keys of names (words with single spaces between them).

        Their words can be meant by a misspelt one; those of `known` are no misspelt ones, either.
        """
        self._names = tuple(names)
        self._words = {word for name in self._names for word in name.split()}
        self._others = frozenset(known)
        self._found: OrderedDict[str, tuple[str, ...]] = OrderedDict()

    def of(self, word: str) -> tuple[str, ...]:
        """What `word` may stand for: one word, or several with spaces between; sorted.

        Empty for a word that is known, has a digit, or is shorter than four letters.
        """
        if len(word) > self._longest + 1:  # and looking would take the square of its length
            return ()
        found = self._found.get(word)
        if found is None:
            found = self._found[word] = self._search(word)
            if len(self._found) > _REMEMBERED:
                self._found.popitem(last=False)
        return found

    def _search(self, word: str) -> tuple[str, ...]:
        if len(word) < MIN_WORD_LETTERS or not word.isalpha() or word in self._words:
            return ()
        joined = self._joined.get(word)
        if joined is not None:
            return joined
        return () if self._is_known(word) else tuple(sorted(self._one_edit_away(word)))

    def _is_known(self, word: str) -> bool:
        """Whether the word, what it is a form of, or both its halves are known."""
        english = word_list("ordinary")
        if word in self._others or word in english:
            return True
        stems = [word[: -len(end)] + more for end, more in _ENDINGS if word.endswith(end)]
        halves = ((word[:cut], word[cut:]) for cut in range(3, len(word) - 2))
        return any(stem in english or stem in self._words for stem in stems) or any(
            one in english and other in english for one, other in halves
        )

    def _one_edit_away(self, word: str) -> Iterator[str]:
        seen = set()
        for variant in _deletions(word):
            for known in self._deletions.get(variant, ()):
                alike = word[0] == known[0] or len(word) >= MIN_OTHER_INITIAL
                if alike and known not in seen and _is_one_edit(word, known):
                    seen.add(known)
                    yield known

    @cached_property
    def _longest(self) -> int:
        """No name has a word of more letters, not even with its spaces left out."""
        return max((len(name) for name in self._names), default=0)

    @cached_property
    def _deletions(self) -> dict[str, list[str]]:
        index: dict[str, list[str]] = defaultdict(list)
        for word in sorted(self._words):
            if len(word) >= MIN_WORD_LETTERS and word.isalpha():
                for variant in _deletions(word):
                    index[variant].append(word)
        return index

    @cached_property
    def _joined(self) -> dict[str, tuple[str, ...]]:
        index: dict[str, tuple[str, ...]] = {}
        for name in self._names:
            joined = name.replace(" ", "")
            if " " in name and len(joined) >= MIN_LETTERS and joined.isalpha():
                index[joined] = (*index.get(joined, ()), name)
        return index


def _deletions(word: str) -> Iterator[str]:
    yield word
    for place in range(len(word)):
        yield word[:place] + word[place + 1 :]


def _is_one_edit(one: str, other: str) -> bool:
    """Whether one letter was put in, left out or changed, or two neighbours changed places."""
    start = 0
    shorter = min(len(one), len(other))
    while start < shorter and one[start] == other[start]:
        start += 1
    left, right = one[start:], other[start:]
    return (
        left[1:] == right
        or right[1:] == left
        or left[1:] == right[1:]
        or (left[:2] == right[1::-1] and left[2:] == right[2:] and len(left) > 1)
    )
