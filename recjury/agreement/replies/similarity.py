"""Scorers that compare a reply's vectors with those of its history or its reference."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from recjury.records import Response

if TYPE_CHECKING:
    from torch import Tensor

    from recjury.agreement.replies.encoder import MiniLmEncoder

DIGITS = 5
"""Scores are rounded: equal texts would otherwise differ in the last digits, and tie no longer."""

ComparedWith = Literal["last", "history", "reference"]
"""What a reply is compared with: the last turn, the whole history, or the reference."""


class CosineScorer:
    """The cosine of a reply's sentence vector and that of the last turn, history or reference."""

    def __init__(self, encoder: "Callable[[], MiniLmEncoder]", compared: ComparedWith):
        """`encoder` loads the encoder, or returns the one that is loaded."""
        self.name = f"cosine-{compared}"
        self._encoder = encoder
        self._compared = compared

    async def scores(self, responses: Sequence[Response]) -> list[float | None]:
        """-1 to 1; None if there is nothing to compare a reply with, or if it is blank."""
        return await asyncio.to_thread(self._scores, responses)

    def _scores(self, responses: Sequence[Response]) -> list[float | None]:
        others = [compared_text(each, self._compared) for each in responses]
        places = [
            place
            for place, (each, other) in enumerate(zip(responses, others, strict=True))
            if other.strip() and each.text.strip()
        ]
        encoder = self._encoder()
        one = encoder.sentences([responses[place].text for place in places])
        two = encoder.sentences([others[place] for place in places])
        found: list[float | None] = [None] * len(responses)
        for place, value in zip(places, np.einsum("nd,nd->n", one, two), strict=True):
            found[place] = round(float(value), DIGITS)
        return found


class BertScorer:
    """BERTScore (Zhang et al. 2020) with MiniLM in place of RoBERTa-large: F1 of the best matches.

    The vectors are those of the last layer; tokens count alike (no idf), and nothing is rescaled.
    """

    name = "bertscore"

    def __init__(self, encoder: "Callable[[], MiniLmEncoder]"):
        """`encoder` loads the encoder, or returns the one that is loaded."""
        self._encoder = encoder

    async def scores(self, responses: Sequence[Response]) -> list[float | None]:
        """-1 to 1; None for a reply without a reference, or if either has no token."""
        return await asyncio.to_thread(self._scores, responses)

    def _scores(self, responses: Sequence[Response]) -> list[float | None]:
        wanted = [
            text
            for each in responses
            if each.reference is not None
            for text in (each.text, each.reference)
        ]
        tokens = self._encoder().tokens(wanted)
        return [
            None if each.reference is None else _f1(tokens[each.text], tokens[each.reference])
            for each in responses
        ]


def compared_text(response: Response, compared: ComparedWith) -> str:
    """The text that a reply is compared with; empty if there is none."""
    if compared == "reference":
        return response.reference or ""
    if compared == "last":
        return response.history[-1].text if response.history else ""
    return " ".join(turn.text for turn in response.history)


def _f1(text: "Tensor", reference: "Tensor") -> float | None:
    """The harmonic mean of precision and recall; None where it is undefined."""
    if not len(text) or not len(reference):
        return None
    cosines = text @ reference.T
    precision = float(cosines.max(1).values.mean())
    recall = float(cosines.max(0).values.mean())
    both = precision + recall
    return round(2 * precision * recall / both, DIGITS) if both > 0 else None
