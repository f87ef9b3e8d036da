"""The model of a user's acts: hashed sequences of words, and a small convolutional network.

Both give a logit for each act, and their mean is taken: the sequences know phrases and spellings,
the network similar words (its token vectors are distilled from all-MiniLM-L6-v2, Apache 2.0).
`benchmarks.language_training` makes the weights.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.language.tokens import (
    END,
    START,
    Vocabulary,
    buckets,
    last_sentence,
    letters,
    sequences,
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

Floats = NDArray[np.float32]


class ActInput(NamedTuple):
    """What the model sees of a turn: buckets and pieces of it, and of the turn that it answers."""

    user: NDArray[np.int64]
    system: NDArray[np.int64]
    user_pieces: list[int]
    system_pieces: list[int]


def act_input(said: str, answered: str, vocabulary: Vocabulary) -> ActInput:
    """The model's input for what a user `said`, and what the system had said before."""
    words = words_of(said)[:_LONGEST_WORDS]
    last = words_of(last_sentence(answered))[-30:] or ["<none>"]
    return ActInput(
        buckets(_of_user(words), BUCKETS),
        buckets(_of_both(words, last), BUCKETS),
        vocabulary.numbers(said)[:USER_PIECES],
        vocabulary.numbers(answered)[-SYSTEM_PIECES:],
    )


def _of_user(words: Sequence[str]) -> Iterator[str]:
    edged = [START, *words, END]
    yield from sequences(edged, (1, 2, 3), "w")
    yield from letters(edged)
    for one, other in zip(edged, edged[2:], strict=False):
        yield f"k{one} {other}"


def _of_both(words: Sequence[str], last: Sequence[str]) -> Iterator[str]:
    """The system's last sentence, and a short answer together with how that sentence begins."""
    ends = "?" if "?" in last else "."
    yield from sequences(last, (1, 2), "s")
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

    def probabilities(self, said: str, answered: str) -> Floats:
        """The probability of each act of `MODELLED`."""
        seen = act_input(said, answered, self.vocabulary)
        logits = (self._by_sequences(seen) + self._by_network(seen)) / 2
        calibrated = self._weights["acts.slope"] * logits + self._weights["acts.shift"]
        return np.asarray(1 / (1 + np.exp(-calibrated)), np.float32)

    def _by_sequences(self, seen: ActInput) -> Floats:
        w = self._weights
        user, system = w.rows("acts.user", seen.user), w.rows("acts.system", seen.system)
        of_user = user.sum(0) / np.sqrt(max(1, len(user)))
        of_system = system.sum(0) / np.sqrt(max(1, len(system)))
        return np.asarray(of_user + of_system + w["acts.bias"])

    def _by_network(self, seen: ActInput) -> Floats:
        w = self._weights
        user, system = w.rows("vectors", seen.user_pieces), w.rows("vectors", seen.system_pieces)
        pooled = [_pooled(user, w[f"acts.user{n}"], w[f"acts.user{n}.bias"]) for n in WIDTHS]
        pooled += [
            _pooled(system, w[f"acts.system{n}"], w[f"acts.system{n}.bias"]) for n in SYSTEM_WIDTHS
        ]
        hidden = np.maximum(w["acts.hidden"] @ np.concatenate(pooled) + w["acts.hidden.bias"], 0)
        return np.asarray(w["acts.out"] @ hidden + w["acts.out.bias"])


def _pooled(rows: Floats, filters: Floats, bias: Floats) -> Floats:
    """The maximum over time of a convolution: `rows` [time, 64], `filters` [width, 64, filter].

    One small product for each place in the width: NumPy would spread a large one over threads,
    which takes longer than the product.
    """
    width = len(filters)
    found = np.zeros((len(rows) + width - 1 or 1, filters.shape[2]), np.float32)
    for place, weights in enumerate(filters):
        start = width - 1 - place
        found[start : start + len(rows)] += rows @ weights
    return np.asarray(np.maximum(found.max(0) + bias, 0))
