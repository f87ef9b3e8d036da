"""How much of a score's variance is sampling noise, if a score is a mean of n whole numbers.

Only the means are known, not the draws. Two facts still follow from them. A mean bounds the
variance of its draws: 0.4 of five draws from 0 to 2 is (1, 1, 0, 0, 0) or (2, 0, 0, 0, 0). And the
distribution of all means shows how certain the rater is: if draws mostly agree, most means are
whole numbers. For the estimate, the rater's distribution over the levels is assumed to vary between
rated items as a Dirichlet, so that the sum of the draws is Dirichlet-multinomial; its parameters
are fitted to the observed sums by maximum likelihood. With two levels the bounds and the estimate
are equal.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]


class Noise(NamedTuple):
    """The variance of scores, and how much of it is sampling, as a mean over the scores.

    `variance` is the variance of the scores. `least` and `most` bound the mean sampling variance
    of a score, and `modelled` is the fitted estimate; all three are variances of a score, which
    is a mean of `n` draws. `misfit` is the total variation distance between the fitted and the
    observed distribution of scores, from 0 to 1.
    """

    variance: float
    least: float
    modelled: float
    most: float
    misfit: float
    n: int

    def share(self, sampling: float) -> float | None:
        """`sampling` as a share (0 to 1) of the scores' variance; None if the scores do not
        vary."""
        return sampling / self.variance if self.variance > 0 else None


def sampling_noise(scores: Sequence[float], levels: int, *, n: int = 5) -> Noise:
    """The noise of `scores`, each a mean of `n` draws from 0 to `levels` - 1.

    Raises ValueError for no scores, fewer than two levels or draws, and a score that is not a
    mean of n such draws.
    """
    if levels < 2 or n < 2 or not len(scores):
        raise ValueError("expected at least one score, two levels and two draws")
    sums = as_sums(scores, levels, n)
    least, most = spread_bounds(sums, levels, n)
    counts = np.bincount(sums, minlength=(levels - 1) * n + 1)
    concentration = fit_dirichlet(counts, levels, n)
    fitted = np.exp(_log_sums(concentration, n))
    return Noise(
        variance=float(np.var(np.asarray(scores, dtype=float))),
        # The unbiased variance of a draw is n / (n - 1) of the draws' variance; that of the mean
        # of n draws is 1 / n of it.
        least=float(least.mean()) / (n - 1),
        modelled=_variance_of_a_draw(concentration) / n,
        most=float(most.mean()) / (n - 1),
        misfit=float(np.abs(fitted - counts / counts.sum()).sum() / 2),
        n=n,
    )


def as_sums(scores: Sequence[float], levels: int, n: int) -> NDArray[np.int64]:
    """The sum of the draws behind each mean. Raises ValueError if no sum gives the score."""
    sums = np.asarray(scores, dtype=float) * n
    whole = np.rint(sums)
    right = (np.abs(sums - whole) <= 1e-6) & (whole >= 0) & (whole <= (levels - 1) * n)
    if not right.all():
        score = float(np.asarray(scores)[~right][0])
        raise ValueError(f"{score} is not a mean of {n} whole numbers from 0 to {levels - 1}")
    found: NDArray[np.int64] = whole.astype(np.int64)
    return found


def spread_bounds(sums: NDArray[np.int64], levels: int, n: int) -> tuple[_Floats, _Floats]:
    """The smallest and the largest variance of n draws with each of `sums`: two arrays
    [len(sums)]."""
    mean = sums / n
    top = levels - 1
    low = np.floor(mean)
    least = (mean - low) * (low + 1 - mean)
    # Largest variance: as many draws at the top as the sum allows, one in between, the rest at 0.
    full, rest = np.divmod(sums, top)
    most = (full * top**2 + rest**2) / n - mean**2
    return least, most


def fit_dirichlet(counts: Sequence[int] | NDArray[np.int64], levels: int, n: int) -> _Floats:
    """The Dirichlet parameters [levels] with the highest likelihood.

    `counts` has how often each sum occurs, from 0 to (levels - 1) * n.
    """
    from scipy.optimize import minimize

    observed = np.asarray(counts, dtype=float)
    observed = observed / observed.sum()

    def loss(logs: _Floats) -> float:
        return -float(observed @ _log_sums(np.exp(logs), n))

    starts = [np.full(levels, value) for value in (-2.0, 0.0)]
    found = [
        minimize(loss, start, method="L-BFGS-B", bounds=[(-7.0, 5.0)] * levels) for start in starts
    ]
    parameters: _Floats = np.exp(min(found, key=lambda one: float(one.fun)).x)
    return parameters


def _variance_of_a_draw(parameters: _Floats) -> float:
    """The variance of a draw, averaged over the Dirichlet."""
    total = parameters.sum()
    share = parameters / total
    values = np.arange(len(parameters))
    marginal = share @ values**2 - (share @ values) ** 2
    return float(marginal * total / (total + 1))


def _log_sums(parameters: _Floats, n: int) -> _Floats:
    """The log-probability of each sum of n draws, Dirichlet-multinomial: [(levels - 1) n + 1]."""
    from scipy.stats import dirichlet_multinomial

    draws, sums = _compositions(len(parameters), n)
    logs = dirichlet_multinomial.logpmf(draws, parameters, np.array(n))
    found = np.full((len(parameters) - 1) * n + 1, -np.inf)
    np.logaddexp.at(found, sums, logs)
    return found


@cache
def _compositions(levels: int, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All ways to divide n draws among the levels: counts [ways, levels], and their sums [ways]."""
    rows = [row for row in np.ndindex(*(n + 1,) * levels) if sum(row) == n]
    draws = np.array(rows, dtype=np.int64)
    return draws, draws @ np.arange(levels)
