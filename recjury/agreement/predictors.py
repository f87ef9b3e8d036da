"""Predictors that read nothing of what was said: what an evaluator has to be better than."""

from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from recjury.records import ConversationLog, ScoreTarget
from recjury.stats.grouped import means_of_others

LENGTH = "length"
SYSTEM_MEAN = "system_mean"
CONSTANT = "constant"


def lengths(
    places: Sequence[ScoreTarget], logs: Mapping[str, ConversationLog]
) -> dict[ScoreTarget, float]:
    """The words of a turn, or the mean words of a conversation's system turns.

    Words are separated by white space. Conversations without a text or a system turn are left out.
    """
    found: dict[ScoreTarget, float] = {}
    for place in places:
        log = logs.get(place.conversation)
        if log is None:
            continue
        turns = log.system_turns if place.turn is None else log.interaction[place.turn :][:1]
        if turns:
            found[place] = fmean(len(turn.text.split()) for turn in turns)
    return found


def system_means(
    labels: Mapping[ScoreTarget, float], systems: Mapping[str, str]
) -> dict[ScoreTarget, float]:
    """The mean label of the same system's other conversations, for each place that has one."""
    places = list(labels)
    means = means_of_others(
        [labels[place] for place in places],
        [systems[place.conversation] for place in places],
        [place.conversation for place in places],
    )
    return {
        place: float(mean) for place, mean in zip(places, means, strict=True) if not np.isnan(mean)
    }
