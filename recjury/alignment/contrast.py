"""Two systems compared by an evaluator's scores: by aspect and by turn (FACE, 5.3)."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from recjury.alignment.annotation import Scores
from recjury.corpora.crsarena import Labels, system_of
from recjury.corpora.crsarena_runs import ParticleScores
from recjury.judges.face.aspects import pool
from recjury.records import Aspect, ScoreTarget
from recjury.stats.resampling import interval_of_mean


class Mean(NamedTuple):
    """A mean with its 95 % interval over conversations; bounds None for fewer than two."""

    value: float
    low: float | None
    high: float | None
    n: int


class AspectContrast(NamedTuple):
    """An aspect's mean scores and labels of one system, as shares of the scale from 0 to 1."""

    scores: Mean
    labels: Mean


def by_aspect(
    system: str, scores: Scores, labels: Labels, *, subset: str | None = None
) -> dict[Aspect, AspectContrast]:
    """The radar's rays of `system` ("barcor"), over both subsets or in one.

    A turn-level aspect is first averaged within each conversation.
    """
    found: dict[Aspect, AspectContrast] = {}
    for aspect, scored in scores.items():
        mine = _mean(_conversations(scored, system, subset), aspect)
        theirs = _mean(_conversations(labels[aspect], system, subset), aspect)
        if mine is not None and theirs is not None:
            found[aspect] = AspectContrast(mine, theirs)
    return found


def by_turn(
    system: str,
    turns: Mapping[ScoreTarget, ParticleScores],
    aspect: Aspect,
    *,
    subset: str | None = None,
    fewest: int = 5,
) -> tuple[Mean, ...]:
    """The mean score of the first, second, ... system turn, as shares of the scale.

    Ends when fewer than `fewest` conversations have a scored turn of that number. A turn without
    a score keeps its number.
    """
    numbered: dict[int, list[float]] = {}
    for place, particles in turns.items():
        if place.turn is None or not _is_of(place, system, subset):
            continue
        score = pool(value for scores in particles.values() for value in scores.values())
        if score is not None:
            # Turns alternate, and the user opens: system turns have the odd indices.
            numbered.setdefault(place.turn // 2, []).append(score)
    means: list[Mean] = []
    while len(values := numbered.get(len(means), [])) >= fewest:
        mean = _mean(values, aspect)
        assert mean is not None
        means.append(mean)
    return tuple(means)


def _conversations(
    values: Mapping[ScoreTarget, float], system: str, subset: str | None
) -> Iterable[float]:
    grouped: dict[str, list[float]] = {}
    for place, value in values.items():
        if _is_of(place, system, subset):
            grouped.setdefault(place.conversation, []).append(value)
    return [sum(own) / len(own) for own in grouped.values()]


def _is_of(place: ScoreTarget, system: str, subset: str | None) -> bool:
    name, _, own = system_of(place.conversation).rpartition("_")
    return name == system and subset in (None, own)


def _mean(values: Iterable[float], aspect: Aspect) -> Mean | None:
    width = aspect.high - aspect.low
    shares = [(value - aspect.low) / width for value in values]
    if not shares:
        return None
    low, high = interval_of_mean(shares) or (None, None)
    return Mean(sum(shares) / len(shares), low, high, len(shares))
