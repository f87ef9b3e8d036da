"""The aspects of FACE as metrics."""

from collections.abc import Iterable

from recjury.records import Aspect, Level, Metric, Need


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
    """`aspects` without those that were named before."""
    return tuple(dict.fromkeys(aspects))
