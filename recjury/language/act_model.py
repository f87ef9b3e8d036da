"""The model of a user's acts: hashed sequences of words, and a small convolutional network.

Both give a logit for each act, and their mean is taken: the sequences know phrases and spellings,
the network similar words (its token vectors are distilled from all-MiniLM-L6-v2, Apache 2.0).
`benchmarks.language_training` makes the weights.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.language.tokens import (
    END,
    START,
    Vocabulary,
    checksums,
    in_order,
    last_sentence,
    letters,
    places,
    run_checksums,
    words_of,
)
from recjury.language.weights import ModelWeights
from recjury.records import Act

MODELLED = tuple(act for act in Act if act is not Act.CHAT)
"""The acts in the order of the model's columns; a turn without any of them is chat."""

BUCKETS = 2**16
USER_PIECES, SYSTEM_PIECES = 48, 24
WIDTHS, SYSTEM_WIDTHS = (1, 2, 3, 5), (1, 3)
_LONGEST_WORDS = 100
_SHORT = 6
_SMALL = 128

Floats = NDArray[np.float32]


class ActInput(NamedTuple):
    """What the model sees of a turn: buckets and pieces of it, and of the turn that it answers."""

    user: NDArray[np.int64]
    system: NDArray[np.int64]
    user_pieces: list[int]
    system_pieces: list[int]


def act_inputs(texts: Iterable[str], answered: str, vocabulary: Vocabulary) -> list[ActInput]:
    """The model's inputs for several texts that answer the same."""
    last = words_of(last_sentence(answered))[-30:] or ["<none>"]
    of_system = list(chain.from_iterable(run_checksums(last, 2, "s")))
    system_pieces = vocabulary.numbers(answered)[-SYSTEM_PIECES:]
    found: list[ActInput] = []
    for said in texts:
        words = words_of(said)[:_LONGEST_WORDS]
        of_both = checksums(_of_both(words, last))
        system = in_order(places(chain(of_system, of_both), BUCKETS))
        pieces = vocabulary.numbers(said)[:USER_PIECES]
        found.append(ActInput(_of_user(words), system, pieces, system_pieces))
    return found


def _of_user(words: Sequence[str]) -> NDArray[np.int64]:
    """The buckets of the words, of their runs and letters, and of pairs with a word between."""
    edged = [START, *words, END]
    pairs = zip(edged, edged[2:], strict=False)
    apart = checksums([f"k{one} {other}" for one, other in pairs])
    runs = places(chain(*run_checksums(edged, 3, "w"), apart), BUCKETS)
    return in_order(runs.union(*map(_of_letters, edged)))


@lru_cache(2_048)
def _of_letters(word: str) -> frozenset[int]:
    return places(checksums(letters(word)), BUCKETS)


def _of_both(words: Sequence[str], last: Sequence[str]) -> Iterator[str]:
    """How the system's last sentence ends, and a short answer with how that sentence begins."""
    ends = "?" if "?" in last else "."
    yield "q" + ends
    yield f"f{ends}{' '.join(words[:2])}"
    if len(words) <= _SHORT:
        for word in words[:3]:
            for beside in (*last[:3], ends):
                yield f"x{word}|{beside}"


class ActModel:
    """Gives the probability of each act."""

    def __init__(self, weights: ModelWeights):
        """`weights` are those of the package, or ones just trained."""
        self.vocabulary = Vocabulary(weights.pieces)
        self._weights = weights

    def probabilities(self, texts: Sequence[str], answered: str) -> Floats:
        """The probability of each act of `MODELLED`, in a row for each of the texts (at least one)
        that answer the same."""
        seen = act_inputs(texts, answered, self.vocabulary)
        logits = (self._by_sequences(seen) + self._by_network(seen)) / 2
        calibrated = self._weights["acts.slope"] * logits + self._weights["acts.shift"]
        return np.asarray(1 / (1 + np.exp(-calibrated)), np.float32)

    def _by_sequences(self, seen: Sequence[ActInput]) -> Floats:
        of_user = [self._summed("acts.user", each.user) for each in seen]
        of_system = [self._summed("acts.system", each.system) for each in seen]
        return np.asarray(np.add(of_user, of_system) + self._weights["acts.bias"])

    def _summed(self, name: str, sequences: NDArray[np.int64]) -> Floats:
        rows = self._weights.rows(name, sequences)
        return np.asarray(rows.sum(0) / np.sqrt(max(1, len(rows))))

    def _by_network(self, seen: Sequence[ActInput]) -> Floats:
        w = self._weights
        user = self._filtered("acts.user", WIDTHS, [each.user_pieces for each in seen])
        system = self._filtered("acts.system", SYSTEM_WIDTHS, [seen[0].system_pieces])
        pooled = np.hstack([*user, *(np.repeat(each, len(seen), axis=0) for each in system)])
        hidden = np.maximum(np.maximum(pooled, 0) @ w["acts.hidden"].T + w["acts.hidden.bias"], 0)
        return np.asarray(hidden @ w["acts.out"].T + w["acts.out.bias"])

    def _filtered(
        self, name: str, widths: Sequence[int], texts: Sequence[Sequence[int]]
    ) -> list[Floats]:
        """What the filters of each width find in texts of these pieces: a row for each text.

        The texts stand behind one another, so far apart that no filter reaches from one into the
        next.
        """
        w = self._weights
        gap = max(widths) - 1
        padded = chain.from_iterable((*text, *[0] * gap) for text in texts)
        rows = w.rows("vectors", list(padded))
        ends = list(accumulate(len(text) + gap for text in texts))
        pooled: list[Floats] = []
        for width in widths:
            found = _convolved(rows, w[f"{name}{width}"])
            spans = (
                (end - len(text) - gap, max(len(text) + width - 1, 1))
                for text, end in zip(texts, ends, strict=True)
            )
            highest = [found[start : start + length].max(0) for start, length in spans]
            pooled.append(np.asarray(highest) + w[f"{name}{width}.bias"])
        return pooled


def _convolved(rows: Floats, filters: Floats) -> Floats:
    """A convolution of `rows` [time, 64] with `filters` [width, 64, filter].

    One small product for each place in the width and for some rows: NumPy would spread a large one
    over threads, which takes longer than the product.
    """
    width = len(filters)
    found = np.zeros((len(rows) + width - 1, filters.shape[2]), np.float32)
    for place, weights in enumerate(filters):
        for at in range(0, len(rows), _SMALL):
            products = rows[at : at + _SMALL] @ weights
            start = at + width - 1 - place
            found[start : start + len(products)] += products
    return found
