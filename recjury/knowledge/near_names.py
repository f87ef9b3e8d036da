"""Near names: the edit distance between two spellings, and the names that a misspelt word means.

An edit inserts, deletes or replaces a letter, or swaps two adjacent letters (the optimal string
alignment distance, computed by rapidfuzz). A missing space between two words is also recognised.
Only unknown words are treated as misspelt, so that an ordinary word is not taken for a name.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Iterable
from functools import cached_property

from rapidfuzz import process
from rapidfuzz.distance import OSA

from recjury.knowledge.ordinary_words import word_list

MIN_LETTERS = 5
MIN_WORD_LETTERS = 4
MIN_OTHER_INITIAL = 7  # letters; in shorter words the first letter must be correct
_REMEMBERED = 100_000  # words; a corpus has about ten thousand
# Inflections and derivations: an ending, and the ending of the stem that it replaces.
_ENDINGS = (
    *((ending, "") for ending in ("s", "es", "ed", "d", "er", "r", "ers", "ing", "ish", "y", "ly")),
    *((ending, "") for ending in ("like", "ness", "est")),
    *((ending, "e") for ending in ("ing", "ish", "y")),
    *((ending, "y") for ending in ("ied", "ies", "ier", "iest")),
)


def edit_distance(one: str, other: str, at_most: int) -> int:
    """The number of edits between two spellings; `at_most + 1` if there are more."""
    return OSA.distance(one, other, score_cutoff=at_most)


class NearNames:
    """Finds the known words close to an unknown word; the first search builds the index."""

    def __init__(self, names: Iterable[str], known: Iterable[str]):
        """`names` are keys of names: words separated by single spaces.

        A misspelt word can mean a word of `names`. Words in `known` are never treated as misspelt.
        """
        self._names = tuple(names)
        self._words = {word for name in self._names for word in name.split()}
        self._others = frozenset(known)
        self._found: OrderedDict[str, tuple[str, ...]] = OrderedDict()

    def of(self, word: str) -> tuple[str, ...]:
        """The sorted corrections of `word`, each one word or several words separated by spaces.

        Empty for a word that is known, has a digit, or is shorter than four letters.
        """
        if len(word) > self._longest + 1:  # a search would take quadratic time
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
        """Whether the word, its stem, or both its halves are known."""
        english = word_list("name")
        if word in self._others or word in english:
            return True
        stems = [word[: -len(end)] + more for end, more in _ENDINGS if word.endswith(end)]
        halves = ((word[:cut], word[cut:]) for cut in range(3, len(word) - 2))
        return any(stem in english or stem in self._words for stem in stems) or any(
            one in english and other in english for one, other in halves
        )

    def _one_edit_away(self, word: str) -> set[str]:
        """The known words one edit away; short words must begin with the same letter."""
        near: set[str] = set()
        for length in range(len(word) - 1, len(word) + 2):
            known = self._by_length.get(length, ())
            found = process.extract(
                word, known, scorer=OSA.distance, processor=None, score_cutoff=1, limit=None
            )
            near.update(each for each, _, _ in found)
        same = len(word) >= MIN_OTHER_INITIAL
        return {each for each in near if same or each[0] == word[0]}

    @cached_property
    def _longest(self) -> int:
        """The length of the longest name in characters."""
        return max((len(name) for name in self._names), default=0)

    @cached_property
    def _by_length(self) -> dict[int, list[str]]:
        index: dict[int, list[str]] = defaultdict(list)
        for word in sorted(self._words):
            if len(word) >= MIN_WORD_LETTERS and word.isalpha():
                index[len(word)].append(word)
        return index

    @cached_property
    def _joined(self) -> dict[str, tuple[str, ...]]:
        index: dict[str, tuple[str, ...]] = {}
        for name in self._names:
            joined = name.replace(" ", "")
            if " " in name and len(joined) >= MIN_LETTERS and joined.isalpha():
                index[joined] = (*index.get(joined, ()), name)
        return index
