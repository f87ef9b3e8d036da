"""FACE's aspects: their metrics, and their scores from those of particles (FACE, section 2.2)."""

import math
from collections.abc import Iterable, Mapping

from recjury.records import Aspect, Level, Metric, Need, ScoreTarget

DIGITS = 9
"""The decimals of a pooled score; rounding keeps equal means equal."""


def aspect_metrics(aspects: Iterable[Aspect], *, logprobs: bool = False) -> tuple[Metric, ...]:
    """A metric for each of `aspects`; `logprobs` tells whether log-probabilities are needed."""
    return tuple(
        Metric(
            id=aspect.value,
            title=aspect.value.replace("_", " ").capitalize(),
            group="Turns" if aspect.level is Level.TURN else "Dialogue",
            level=aspect.level,
            low=aspect.low,
            high=aspect.high,
            needs=(Need.MODEL, Need.LOGPROBS) if logprobs else (Need.MODEL,),
        )
        for aspect in aspects
    )


def each_once(aspects: Iterable[Aspect]) -> tuple[Aspect, ...]:
    """`aspects` without repetitions."""
    return tuple(dict.fromkeys(aspects))


def pool(scores: Iterable[float]) -> float | None:
    """The mean, rounded to `DIGITS` decimals; None without scores."""
    given = list(scores)
    return round(math.fsum(given) / len(given), DIGITS) if given else None


def pool_places(
    turns: Mapping[ScoreTarget, Mapping[int, Mapping[str, float]]], level: Level
) -> dict[ScoreTarget, float]:
    """The score of each turn, or of each dialogue, over all its particles and instructions.

    `turns` has, per system turn, each particle's score by instruction. A turn or dialogue without
    any score is left out: it is unscored.
    """
    gathered: dict[ScoreTarget, list[float]] = {}
    for place, particles in turns.items():
        whole = place if level is Level.TURN else ScoreTarget(place.conversation)
        own = gathered.setdefault(whole, [])
        own.extend(score for scores in particles.values() for score in scores.values())
    pooled = {place: pool(scores) for place, scores in gathered.items()}
    return {place: score for place, score in pooled.items() if score is not None}
