"""How usual the word sequences of a sentence are: features of the model of broken replies.

Counts of sequences of words and of classes of words (function words, endings) in texts of people
say how often each word follows those before it (stupid backoff: Brants et al. 2007).
"""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from recjury.language.tokens import (
    END,
    NAME,
    START,
    class_of,
    is_function_word,
    run_checksums,
)
from recjury.language.vocabulary import words
from recjury.language.weights import ModelWeights

TABLES = {"word1": 2**16, "word2": 2**18, "word3": 2**19, "class2": 2**15, "class3": 2**17}
TABLES |= {"class1": 2**13, "class4": 2**18}
"""The tables of counts by kind and length of a sequence, and their sizes."""

STEP = 16.0
"""A count n is stored as round(STEP * log2(n + 1)), at most 255, at the place of its hash."""

FEATURES = 20
_SEEN: list[float] = [2.0 ** (stored / STEP) - 1.0 for stored in range(256)]
_BACK_OFF = 0.4
_UNSEEN = 0.5
_FREQUENT = 100
_VERBLIKE = ("s", "ed", "ing")

Counts = list[list[float]]
"""How often each run of tokens was seen, by its length (from 1) and its place."""


class FluencyCounts:
    """Reads the tables of counts."""

    def __init__(self, weights: ModelWeights):
        """`weights` have a table "fluency.word1" and so on, and the number of words counted."""
        self._tables = {
            name: (weights.table(f"fluency.{name}"), size - 1) for name, size in TABLES.items()
        }
        self._total = float(weights["fluency.total"])

    def _counts(self, kind: str, tokens: Sequence[str], longest: int) -> Counts:
        """How often each run of tokens was seen, nearly: runs may share a place."""
        found: list[list[float]] = []
        for length, runs in enumerate(run_checksums(tokens, longest), start=1):
            table, mask = self._tables[f"{kind}{length}"]
            found.append([_SEEN[table[run & mask]] for run in runs])
        return found

    def features(self, tokens: Sequence[str]) -> list[float]:
        """The `FEATURES` numbers of a sentence's `masked_tokens` that the model of replies sees."""
        padded = [START, *tokens, END]
        counts = self._counts("word", padded, 3)
        usual = self._scores(counts)
        classes = self._scores(self._counts("class", classes_of(padded), 4))
        strange = _strange_pairs(counts)
        n = len(usual)
        seen = dict(zip(padded, counts[0], strict=True))
        content = [t for t in tokens if not is_function_word(t) and t[0] != "<"]
        return [
            sum(usual) / n,
            *_lowest(usual, 3),
            sum(score < -4 for score in usual) / n,
            sum(classes) / n,
            *_lowest(classes, 2),
            sum(score < -3 for score in classes) / n,
            math.log1p(strange),
            strange / n,
            sum(seen[t] < 3 for t in content) / max(1, len(content)),
            math.log(n),
            *_repeats(tokens, content),
            float(not any(is_function_word(t) or t.endswith(_VERBLIKE) for t in tokens)),
            float(tokens[-1] in words("open_ends")),
        ]

    def _scores(self, counts: Counts) -> list[float]:
        """The logarithm (base 10) of each word's frequency after those before it."""
        return [self._after(counts, at) for at in range(1, len(counts[0]))]

    def _after(self, counts: Counts, at: int) -> float:
        penalty = 0.0
        for length in range(min(len(counts), at + 1), 1, -1):
            start = at - length + 1
            seen = counts[length - 1][start]
            if seen:
                return penalty + math.log10(seen / max(counts[length - 2][start], seen))
            penalty += math.log10(_BACK_OFF)
        return penalty + math.log10(max(counts[0][at], _UNSEEN) / self._total)


def classes_of(tokens: Sequence[str]) -> list[str]:
    """The classes of tokens."""
    return list(map(class_of, tokens))


def _strange_pairs(counts: Counts) -> int:
    """Pairs of frequent words that were never seen side by side."""
    often = [seen >= _FREQUENT for seen in counts[0]]
    return sum(
        one and other and not pair
        for one, other, pair in zip(often, often[1:], counts[1], strict=False)
    )


def _lowest(scores: Sequence[float], many: int) -> list[float]:
    low = sorted(scores)[:many]
    return low + [low[-1]] * (many - len(low))


def _repeats(tokens: Sequence[str], content: Sequence[str]) -> list[float]:
    """How much a sentence repeats: content words, pairs, words side by side and nearly so."""
    counts = Counter(content)
    beside = sum(one == other for one, other in pairwise(tokens))
    near = sum(
        one == other and one not in {",", NAME}
        for one, other in zip(tokens, tokens[2:], strict=False)
    )
    return [
        float(max(0, max(counts.values(), default=0) - 1)),
        float(sum(count - 1 for count in Counter(pairwise(tokens)).values())),
        float(beside),
        float(near),
        len(set(tokens)) / max(1, len(tokens)),
    ]
