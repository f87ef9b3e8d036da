"""Means of people's labels, from few labels and many scores of a judge.

The judge's scores are known for every conversation, people's labels for some. Where scores and
labels go together, the mean label is known more exactly than from the labels alone, and a judge
that is biased biases nothing: the labels correct it. This is prediction-powered inference with the
weight that makes the interval shortest (PPI++, Angelopoulos, Duchi and Zrnic 2023).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.stats.correlation import correlate

LEAST_LABELS = 15
LEAST_APART = 10
"""Labels that differ from the most frequent one; with fewer, intervals are too short."""

_CONFIDENCE = 0.95
_Floats = NDArray[np.float64]


class CorrectedMean(NamedTuple):
    """The mean label with its 95 % interval, beside that of the labels alone.

    `weight` is what the judge's scores count, at 1 as if they were labels. `clusters` counts the
    independent units that have labels.
    """

    value: float
    low: float
    high: float
    labels_low: float
    labels_high: float
    weight: float
    clusters: int


class NotCorrected(NamedTuple):
    """Why there is no corrected mean."""

    reason: str


def mean_of_these(
    labels: Sequence[float] | _Floats,
    scores: Sequence[float] | _Floats,
    all_scores: Sequence[float] | _Floats,
    *,
    clusters: Sequence[str] | None = None,
) -> CorrectedMean | NotCorrected:
    """The mean label that people would give to exactly the units of `all_scores` [N].

    `labels` [n] and `scores` [n] are of the labelled ones, which were drawn at random, each with
    the same chance. `clusters` [n] names the conversation of each; by default each is its own.
    The interval is the jackknife's of the regression on the scores, by cluster.
    """
    y, f = _columns(labels, scores)
    groups = _groups(clusters, len(y))
    refused = _refusal(y, f, groups)
    if refused is not None:
        return refused
    gap = float(np.mean(all_scores) - f.mean())
    apart = f - f.mean()
    spread = float(apart @ apart)
    weight = float(apart @ (y - y.mean())) / spread
    left = y - y.mean() - weight * apart
    own = 1 / len(y) + apart**2 / spread
    errors = (1 / len(y) + gap * apart / spread) * left / (1 - own)
    jackknife = np.sqrt(1 - 1 / _count(groups))
    half = _half_width(jackknife * np.bincount(groups, weights=errors), lost=2)
    value = float(y.mean() + weight * gap)
    return _corrected(value, half, weight, y, groups)


def mean_of_more(
    labels: Sequence[float] | _Floats,
    scores: Sequence[float] | _Floats,
    unlabelled: Sequence[float] | _Floats,
    *,
    clusters: Sequence[str] | None = None,
    unlabelled_clusters: Sequence[str] | None = None,
) -> CorrectedMean | NotCorrected:
    """The mean label of all the units from which both groups were drawn at random.

    `unlabelled` [N] has the scores of units without a label. `clusters` [n] and
    `unlabelled_clusters` [N] name the conversations; by default each unit is its own. The weight
    is that of PPI++, cov(labels, scores) / var(scores) / (1 + n / N), between 0 and 1.
    """
    y, f = _columns(labels, scores)
    groups = _groups(clusters, len(y))
    refused = _refusal(y, f, groups)
    more = np.asarray(unlabelled, dtype=float)
    if refused is not None:
        return refused
    if len(more) < 2:
        return NotCorrected("fewer than two units have scores and no label")
    both = np.concatenate([f, more])
    ratio = float(np.cov(y, f)[0, 1] / both.var(ddof=1))
    weight = min(1.0, max(0.0, ratio / (1 + len(y) / len(more))))
    value = float(weight * more.mean() + (y - weight * f).mean())
    errors = _errors_by_cluster(y - weight * f, groups)
    further = weight * _errors_by_cluster(more, _groups(unlabelled_clusters, len(more)))
    half = _half_width(errors, lost=1, more=float(further @ further))
    return _corrected(value, half, weight, y, groups)


def labels_needed(found: CorrectedMean, width: float) -> int:
    """About how many labelled clusters an interval of `width` would take; ValueError below 0."""
    if width <= 0:
        raise ValueError(f"expected a width above 0, got {width}")
    return int(np.ceil(found.clusters * ((found.high - found.low) / width) ** 2))


def _corrected(
    value: float, half: float, weight: float, y: _Floats, groups: NDArray[np.int64]
) -> CorrectedMean:
    alone = _half_width(_errors_by_cluster(y, groups), lost=1)
    mean = float(y.mean())
    return CorrectedMean(
        value, value - half, value + half, mean - alone, mean + alone, weight, _count(groups)
    )


def _refusal(y: _Floats, f: _Floats, groups: NDArray[np.int64]) -> NotCorrected | None:
    clusters = _count(groups)
    if clusters < LEAST_LABELS:
        return NotCorrected(f"{clusters} units have labels, at least {LEAST_LABELS} are needed")
    _, counts = np.unique(y, return_counts=True)
    apart = len(y) - int(counts.max())
    if apart < LEAST_APART:
        return NotCorrected(
            f"the labels hardly vary: {apart} of {len(y)} differ from the most frequent one, "
            f"at least {LEAST_APART} are needed"
        )
    r = correlate(f, y).pearson
    if r is None:
        return NotCorrected("the scores do not vary")
    if r <= 2 / np.sqrt(clusters):
        return NotCorrected(
            f"the scores tell too little of the labels (r = {r:.2f} over {clusters}): "
            "the labels alone are as good"
        )
    return None


def _errors_by_cluster(values: _Floats, groups: NDArray[np.int64]) -> _Floats:
    """What each cluster contributes to the error of the mean of `values`."""
    many = _count(groups)
    shares = np.bincount(groups, weights=(values - values.mean()) / len(values))
    found: _Floats = shares * np.sqrt(many / (many - 1))
    return found


def _half_width(errors: _Floats, *, lost: int, more: float = 0.0) -> float:
    """Half the interval, from each cluster's share in the estimate's error."""
    from scipy.stats import t

    quantile = float(t.ppf((1 + _CONFIDENCE) / 2, len(errors) - lost))
    return quantile * float(np.sqrt(float(errors @ errors) + more))


def _columns(
    labels: Sequence[float] | _Floats, scores: Sequence[float] | _Floats
) -> tuple[_Floats, _Floats]:
    y, f = np.asarray(labels, dtype=float), np.asarray(scores, dtype=float)
    if y.shape != f.shape:
        raise ValueError(f"expected a score for each label, got {y.size} and {f.size}")
    return y, f


def _groups(clusters: Sequence[str] | None, n: int) -> NDArray[np.int64]:
    if clusters is None:
        return np.arange(n)
    if len(clusters) != n:
        raise ValueError(f"expected a cluster for each label, got {len(clusters)} and {n}")
    return np.unique(np.asarray(clusters), return_inverse=True)[1].astype(np.int64)


def _count(groups: NDArray[np.int64]) -> int:
    return int(groups.max(initial=-1)) + 1
