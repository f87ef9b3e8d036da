"""A small learned model that tells the sentences of people from broken ones, on numpy alone.

It compares a sentence with the word sequences of texts that people (and a fluent model) wrote, and
looks at what the sentence repeats. `benchmarks.fluency_training` makes its weights; what they were
made of, and how often the model is right, is in docs/measured-judges.md.
"""

import math
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from recjury.judges.measured.text import TITLE, Sentence, word_set

WEIGHTS = "fluency.npz"
FEW_WORDS = 6
"""Clauses with fewer words besides names are not judged: many short ones are taken for broken."""

STEP = 16.0
"""A count n is stored as round(STEP * log2(n + 1)), at most 255, at the place of its hash."""

_SEEN: list[float] = [2.0 ** (stored / STEP) - 1.0 for stored in range(256)]
_SHOWN_WORDS = 8
_REMEMBERED = 4096
_BACK_OFF = 0.4
_UNSEEN = 0.5
_FREQUENT = 100
FUNCTION_WORDS = word_set(
    "a about after all also am an and any are as at be because been being but by can could did do "
    "does for from get gets going got had has have he her here him his how i if in into is it "
    "its just like lot lots me more most much my no not of on one ones or other our out over she "
    "should so some such than that the their them then there these they this those to too two up "
    "us very was we were what when where which who whose will with would you your i'm it's i've "
    "don't that's he's she's i'll you'll i'd you'd can't didn't doesn't isn't they're you're "
    "there's what's let's , movie movies film films book books"
)
_VERBS = word_set(
    "am is are was were be been do does did have has had can could will would should may might "
    "must i'm it's that's he's she's they're you're we're i've you've i'll you'll i'd you'd "
    "there's what's who's don't doesn't didn't can't isn't aren't wasn't won't let's like love "
    "need want get go see know think hope enjoy recommend thank thanks sounds looks stars wrote "
    "starred follows features"
)
_OPEN_ENDS = word_set("a an the of and or to with is are was for my your his their its if than")
_SUFFIXES = ("ing", "tion", "ness", "ment", "able", "ful", "ous", "ly", "ed", "er", "est", "s")
START, END, _NAME, _NUMBER = "<s>", "</s>", "<n>", "<d>"


def tokens_of(sentence: Sentence) -> list[str]:
    """The words that are counted: a run of capitalised names, a title or a number is one sign."""
    found: list[str] = []
    for index, word in enumerate(sentence.words):
        if index and sentence.breaks[index]:
            found.append(",")
        if word == TITLE:
            found.append(_NAME)
        elif _begins_name(sentence, index) and word not in FUNCTION_WORDS:
            if found[-1:] != [_NAME]:
                found.append(_NAME)
        else:
            found.append(_NUMBER if word[0].isdigit() else word)
    return found


def _begins_name(sentence: Sentence, index: int) -> bool:
    """Whether a word is capitalised, and not only because it begins the sentence."""
    if index:
        return sentence.raw[index][0].isupper()
    following = sentence.raw[1:2]
    return sentence.raw[0][0].isupper() and bool(following) and following[0][0].isupper()


def class_of(token: str) -> str:
    """A function word itself; for another word, its ending."""
    if token in FUNCTION_WORDS or token[0] == "<":
        return token
    return next((f"-{suffix}" for suffix in _SUFFIXES if token.endswith(suffix)), "-")


class Fluency:
    """Counts of word sequences (1 to 3 words, 1 to 4 classes of words), and a layer of weights."""

    def __init__(self, arrays: Mapping[str, NDArray[np.generic]]):
        """`arrays` are those of the file of weights; without weights, only features are computed.

        The counts are "word1" to "word3" and "class1" to "class4"; "total" is the number of words.
        "mean" and "spread" scale the features, "hidden", "hidden_bias", "out" and "out_bias" are
        the weights, and "threshold" is the probability from which a sentence is called broken.
        """
        self._arrays = {name: np.asarray(array) for name, array in arrays.items()}
        self._total = float(self._arrays["total"])
        # Bytes are indexed several times as fast as arrays.
        self._tables = {
            name: (array.tobytes(), len(array) - 1)
            for name, array in self._arrays.items()
            if name.startswith(("word", "class"))
        }

    def strangeness(self, sentence: Sentence) -> float:
        """The probability, from 0 to 1, that the sentence is broken; 0 if it is too short."""
        if sum(token[0] not in "<," for token in tokens_of(sentence)) < FEW_WORDS:
            return 0.0
        a = self._arrays
        scaled = np.clip((np.array(self.features(sentence)) - a["mean"]) / a["spread"], -5, 5)
        hidden = np.maximum(scaled @ a["hidden"] + a["hidden_bias"], 0)
        return float(1 / (1 + np.exp(-(hidden @ a["out"] + a["out_bias"]))))

    def is_broken(self, sentence: Sentence) -> bool:
        """Whether the sentence is called broken."""
        return self.strangeness(sentence) >= float(self._arrays["threshold"])

    def count(self, kind: str, parts: Sequence[str]) -> float:
        """How often a sequence was seen, nearly: sequences may share a place."""
        table, mask = self._tables[f"{kind}{len(parts)}"]
        return _SEEN[table[zlib.crc32(" ".join(parts).encode()) & mask]]

    def features(self, sentence: Sentence) -> list[float]:
        """What the weights look at."""
        tokens = tokens_of(sentence)
        padded = [START, *tokens, END]
        words = self._scores("word", padded, 3)
        classes = self._scores("class", [class_of(token) for token in padded], 4)
        pairs = self._strange_pairs(padded)
        n = len(words)
        low, lowest = sorted(words), sorted(classes)
        content = [t for t in tokens if t not in FUNCTION_WORDS and t[0] != "<"]
        rare = sum(self.count("word", [t]) < 3 for t in content)
        return [
            sum(words) / n,
            low[0],
            low[min(1, n - 1)],
            low[min(2, n - 1)],
            sum(s < -4 for s in words) / n,
            sum(classes) / n,
            lowest[0],
            lowest[min(1, n - 1)],
            sum(s < -3 for s in classes) / n,
            math.log1p(pairs),
            pairs / n,
            rare / max(1, len(content)),
            math.log(n),
            *_repeats(tokens),
            float(not any(t in _VERBS or t.endswith(("s", "ed")) for t in tokens)),
            float(tokens[-1] in _OPEN_ENDS),
            float(sentence.ending == ""),
            float(tokens.count(",") / n),
            float(tokens.count(_NAME) / n),
        ]

    def _scores(self, kind: str, padded: Sequence[str], order: int) -> list[float]:
        """The logarithm (base 10) of each word's frequency after those before it (stupid backoff:
        Brants et al. 2007)."""
        return [
            self._after(kind, padded[max(0, at - order + 1) : at + 1])
            for at in range(1, len(padded))
        ]

    def _after(self, kind: str, parts: Sequence[str]) -> float:
        penalty = 0.0
        while len(parts) > 1:
            seen = self.count(kind, parts)
            if seen:
                before = self.count(kind, parts[:-1])
                return penalty + math.log10(seen / max(before, seen))
            penalty += math.log10(_BACK_OFF)
            parts = parts[1:]
        return penalty + math.log10(max(self.count(kind, parts), _UNSEEN) / self._total)

    def _strange_pairs(self, padded: Sequence[str]) -> int:
        """Pairs of frequent words that were never seen side by side."""
        often = [self.count("word", [token]) >= _FREQUENT for token in padded]
        return sum(
            often[at] and often[at + 1] and not self.count("word", padded[at : at + 2])
            for at in range(len(padded) - 1)
        )


@cache
def shipped() -> Fluency:
    """The model of the package."""
    with (resources.files(__package__) / WEIGHTS).open("rb") as file, np.load(file) as arrays:
        return Fluency(dict(arrays))


def learned_errors(sentence: Sentence) -> Iterator[tuple[int, str]]:
    """The first clause that the model calls broken, as one error.

    What follows a colon is read alone: people put a complete sentence there.
    """
    for clause in sentence.clauses():
        if _is_broken(clause.raw, clause.breaks, clause.ending):
            yield 0, f"learned: broken {clause.phrase(0, _SHOWN_WORDS)!r}"
            return


@lru_cache(_REMEMBERED)
def _is_broken(raw: tuple[str, ...], breaks: tuple[bool, ...], ending: str) -> bool:
    return shipped().is_broken(Sentence(raw, breaks, ending))


def _repeats(tokens: Sequence[str]) -> list[float]:
    n = len(tokens)
    content = Counter(t for t in tokens if t not in FUNCTION_WORDS and t[0] != "<")
    most = max(content.values(), default=0)
    pairs = Counter(pairwise(tokens))
    triples = Counter(zip(tokens, tokens[1:], tokens[2:], strict=False))
    beside = sum(a == b for a, b in pairwise(tokens))
    near = sum(a == c and a not in {",", _NAME} for a, c in zip(tokens, tokens[2:], strict=False))
    return [
        float(most > 1),
        float(max(0, most - 2)),
        sum(c - 1 for c in content.values()) / max(1, len(content)),
        float(sum(c - 1 for c in pairs.values())),
        float(sum(c - 1 for c in triples.values())),
        float(beside),
        float(near),
        len(set(tokens)) / n,
    ]
