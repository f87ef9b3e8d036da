"""Scores paired with labels, with the system and the conversation of each pair."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.corpora.crsarena import subset_of, system_of
from recjury.records import ScoreTarget

_Floats = NDArray[np.float64]


class Pairs(NamedTuple):
    """The places that have both a score and a label: four columns of one length."""

    scores: _Floats
    labels: _Floats
    systems: NDArray[np.str_]
    conversations: NDArray[np.str_]


def pair_scores(
    scores: Mapping[ScoreTarget, float],
    labels: Mapping[ScoreTarget, int],
    subset: str | None = None,
) -> Pairs:
    """The pairs in the order of `labels`; only those of `subset` ("redial") if one is given."""
    places = [
        place
        for place in labels
        if place in scores and subset in (None, subset_of(place.conversation))
    ]
    return Pairs(
        np.array([scores[place] for place in places], dtype=float),
        np.array([labels[place] for place in places], dtype=float),
        np.array([system_of(place.conversation) for place in places], dtype=str),
        np.array([place.conversation for place in places], dtype=str),
    )
