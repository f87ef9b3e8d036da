"""How an evaluator's correlation depends on the number of instructions, particles and samples."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.sampling_noise import Noise, sampling_noise
from recjury.corpora.crsarena_runs import ParticleScores
from recjury.records import Aspect, Level, ScoreTarget
from recjury.stats.correlation import correlate, correlate_rows

_Floats = NDArray[np.float64]


class Effort(NamedTuple):
    """Correlations with `used` instructions or particles per place: mean, and 95 % of the draws."""

    used: int
    pearson: tuple[float, float, float]
    spearman: tuple[float, float, float]


class Columns(NamedTuple):
    """The labelled places' scores by particle and instruction: each [particles, instructions]."""

    scores: tuple[_Floats, ...]
    labels: _Floats


class PooledNoise(NamedTuple):
    """Sampling noise of one aspect: of single scores, and of the pooled scores.

    `pooled_share` is the part of the pooled scores' variance that comes from sampling: as
    modelled, and its bounds. `pearson` is the observed correlation. `without_noise` and
    `one_sample` are what the model predicts for infinitely many samples, and for one sample per
    particle and instruction.
    """

    single: Noise
    pooled_share: float
    pooled_least: float
    pooled_most: float
    scores_per_place: float
    pearson: float
    without_noise: float
    one_sample: float


def columns(
    turns: Mapping[ScoreTarget, ParticleScores], labels: Mapping[ScoreTarget, int], level: Level
) -> Columns:
    """Gather the scores of labelled places; a missing score is nan."""
    names = sorted({name for own in turns.values() for scores in own.values() for name in scores})
    rows: dict[ScoreTarget, list[list[float]]] = {}
    for place, particles in turns.items():
        whole = place if level is Level.TURN else ScoreTarget(place.conversation)
        rows.setdefault(whole, []).extend(
            [scores.get(name, np.nan) for name in names] for scores in particles.values()
        )
    places = [place for place in labels if rows.get(place)]
    return Columns(
        tuple(np.array(rows[place], dtype=float) for place in places),
        np.array([labels[place] for place in places], dtype=float),
    )


def by_instructions(
    given: Columns, counts: Sequence[int], *, draws: int = 500, seed: int = 0
) -> tuple[Effort, ...]:
    """Correlations with so many of the instructions; each random draw is used for all places."""
    rng = np.random.default_rng(seed)
    means = np.array([np.nanmean(own, axis=0) for own in given.scores])
    total = means.shape[1]
    return tuple(
        _effort(
            count,
            [
                np.nanmean(means[:, rng.choice(total, count, replace=False)], axis=1)
                for _ in range(1 if count == total else draws)
            ],
            given.labels,
        )
        for count in counts
        if count <= total
    )


def by_particles(
    given: Columns, counts: Sequence[int], *, draws: int = 500, seed: int = 0
) -> tuple[Effort, ...]:
    """Correlations with at most so many particles per place, drawn at random for each place."""
    rng = np.random.default_rng(seed)
    means = [np.nanmean(own, axis=1) for own in given.scores]
    return tuple(
        _effort(
            count,
            [
                np.array(
                    [rng.choice(own, min(count, own.size), replace=False).mean() for own in means]
                )
                for _ in range(draws)
            ],
            given.labels,
        )
        for count in counts
    )


def pooled_noise(given: Columns, aspect: Aspect, *, samples: int = 5) -> PooledNoise:
    """Split the variance of single and pooled scores; raises ValueError as `sampling_noise`."""
    singles = np.concatenate([own.ravel() for own in given.scores])
    noise = sampling_noise(singles[~np.isnan(singles)].tolist(), aspect.high + 1, n=samples)
    pooled = np.array([np.nanmean(own) for own in given.scores])
    counts = np.array([np.count_nonzero(~np.isnan(own)) for own in given.scores])
    variance, thinned = float(pooled.var()), float((1 / counts).mean())
    share = noise.modelled * thinned / variance
    r = correlate(pooled.round(9), given.labels).pearson or 0.0
    return PooledNoise(
        single=noise,
        pooled_share=share,
        pooled_least=noise.least * thinned / variance,
        pooled_most=noise.most * thinned / variance,
        scores_per_place=float(counts.mean()),
        pearson=r,
        without_noise=r / (1 - share) ** 0.5,
        one_sample=r / (1 + (samples - 1) * share) ** 0.5,
    )


def _effort(used: int, scores: Sequence[_Floats], labels: _Floats) -> Effort:
    found = correlate_rows(np.array(scores).round(9), labels)
    return Effort(used, _mean_and_range(found.pearson), _mean_and_range(found.spearman))


def _mean_and_range(coefficients: _Floats) -> tuple[float, float, float]:
    # A constant score says nothing about the labels: its correlation counts as 0.
    known = np.nan_to_num(coefficients)
    low, high = np.quantile(known, [0.025, 0.975])
    return float(known.mean()), float(low), float(high)
