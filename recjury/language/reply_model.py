"""The model of broken replies: how usual their sentences are, what was counted, and sequences.

`benchmarks.language_training` makes the weights.
"""

from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.language.defects import counts_of
from recjury.language.fluency import FEATURES, FluencyCounts, classes_of
from recjury.language.tokens import (
    END,
    START,
    in_order,
    masked_tokens,
    places,
    prose,
    run_checksums,
    sentences_of,
)
from recjury.language.weights import ModelWeights

BUCKETS = 2**17
_MOST_SENTENCES = 12

Floats = NDArray[np.float32]


class ReplyInput(NamedTuple):
    """What the model sees of a reply: numbers, and the buckets of its sequences."""

    numbers: Floats
    sequences: NDArray[np.int64]


def reply_input(reply: str, fluency: FluencyCounts) -> ReplyInput:
    """The model's input: of the sentences' features the mean, lowest and highest, and counts.

    The first twelve sentences are read, without lists of titles.
    """
    said = prose(reply)
    sentences = [masked_tokens(each) for each in sentences_of(said)[:_MOST_SENTENCES]]
    rows = np.array([fluency.features(each) for each in sentences] or [[0.0] * FEATURES])
    numbers = np.concatenate([rows.mean(0), rows.min(0), rows.max(0), counts_of(said)])
    found = frozenset[int]().union(*(places(_sequences(each), BUCKETS) for each in sentences))
    return ReplyInput(numbers.astype(np.float32), in_order(found))


def _sequences(tokens: list[str]) -> chain[int]:
    """The checksums of up to three words, and of two to four classes of words, in a row."""
    words = [START, *tokens, END]
    classes = run_checksums(classes_of(words), 4, "c")[1:]
    return chain(*run_checksums(words, 3, "w"), *classes)


class ReplyModel:
    """Gives the probability that a reply is broken."""

    def __init__(self, weights: ModelWeights):
        """`weights` are those of the package, or ones just trained."""
        self.fluency = FluencyCounts(weights)
        self._weights = weights

    def probability(self, reply: str) -> float:
        """The probability, from 0 to 1, that the reply is broken."""
        w = self._weights
        seen = reply_input(reply, self.fluency)
        scaled = np.clip((seen.numbers - w["replies.mean"]) / w["replies.spread"], -5, 5)
        hidden = np.maximum(w["replies.hidden"] @ scaled + w["replies.hidden.bias"], 0)
        rows = w.rows("replies.sequences", seen.sequences)
        of_sequences = float(rows.sum()) / max(1, len(rows)) ** 0.5
        logit = float((w["replies.out"] @ hidden + w["replies.out.bias"])[0]) + of_sequences
        return float(1 / (1 + np.exp(-logit)))
