"""From scores of particles to scores of turns and dialogues (FACE, section 2.2)."""

import math
from collections.abc import Iterable, Mapping

from recjury.records import Level, ScoreTarget

DIGITS = 9
"""Decimals that a pooled score keeps, so that means that are equal stay equal."""


def pool(scores: Iterable[float]) -> float | None:
    """The plain mean, rounded to `DIGITS` decimals; None for no scores."""
    given = list(scores)
    return round(math.fsum(given) / len(given), DIGITS) if given else None


def pool_places(
    turns: Mapping[ScoreTarget, Mapping[int, Mapping[str, float]]], level: Level
) -> dict[ScoreTarget, float]:
    """The score of each turn, or of each dialogue, over all its particles and instructions.

    `turns` has, per system turn, each particle's score by instruction. A place without any
    score is left out: it is unscored.
    """
    gathered: dict[ScoreTarget, list[float]] = {}
    for place, particles in turns.items():
        whole = place if level is Level.TURN else ScoreTarget(place.conversation)
        own = gathered.setdefault(whole, [])
        own.extend(score for scores in particles.values() for score in scores.values())
    pooled = {place: pool(scores) for place, scores in gathered.items()}
    return {place: score for place, score in pooled.items() if score is not None}
