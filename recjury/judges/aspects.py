"""FACE's aspects: who rates them, and their scores from those of particles (FACE, section 2.2)."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from pydantic import Field, field_validator

from recjury.judges.evaluator import OneModelEvaluator
from recjury.records import Aspect, Level, Metric, Need, RatingSubject, ScoreTarget, Stage

DIGITS = 9
"""The decimals of a pooled score; rounding keeps equal means equal."""


class AspectEvaluator(OneModelEvaluator):
    """An evaluator that asks one model about FACE's aspects, each in a stage."""

    rates_only: ClassVar = "conversations"

    aspects: tuple[Aspect, ...] = Field(default=tuple(Aspect), min_length=1)

    @field_validator("aspects")
    @classmethod
    def _without_repetitions(cls, aspects: tuple[Aspect, ...]) -> tuple[Aspect, ...]:
        return tuple(dict.fromkeys(aspects))

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The chosen aspects."""
        needs_odds = "logprobs" in {use for _, use in self.call_uses}
        return tuple(
            Metric(
                id=aspect.value,
                title=aspect.value.replace("_", " ").capitalize(),
                group="Turns" if aspect.level is Level.TURN else "Dialogue",
                level=aspect.level,
                low=aspect.low,
                high=aspect.high,
                needs=(Need.MODEL, Need.LOGPROBS) if needs_odds else (Need.MODEL,),
            )
            for aspect in self.aspects
        )

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The aspects."""
        return tuple(Stage(name=aspect) for aspect in self.aspects)

    @property
    def without_effect(self) -> Mapping[str, Any]:
        """Which aspects are rated."""
        return {"aspects": True}


def aspect_subject(
    aspect: Aspect, *, evaluator: str, rubric: str, turn: int | None
) -> RatingSubject:
    """A turn or a dialogue under an aspect, as rated by `evaluator`."""
    return RatingSubject(
        evaluator=evaluator,
        factor=aspect,
        low=aspect.low,
        high=aspect.high,
        rubric=rubric,
        turn=turn,
    )


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
