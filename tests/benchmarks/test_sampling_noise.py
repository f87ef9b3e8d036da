"""Sampling noise of means of whole numbers, held against draws whose truth is known."""

from itertools import product

import numpy as np
import pytest

from benchmarks.sampling_noise import as_sums, fit_dirichlet, sampling_noise, spread_bounds


@pytest.mark.parametrize(("levels", "n"), [(2, 5), (3, 5), (5, 4)])
def test_bounds_are_those_of_all_possible_draws(levels: int, n: int) -> None:
    by_sum: dict[int, set[float]] = {}
    for draws in product(range(levels), repeat=n):
        by_sum.setdefault(sum(draws), set()).add(round(float(np.var(draws)), 9))
    sums = np.array(sorted(by_sum))
    least, most = spread_bounds(sums, levels, n)
    assert least.tolist() == pytest.approx([min(by_sum[s]) for s in sums])
    assert most.tolist() == pytest.approx([max(by_sum[s]) for s in sums])


@pytest.mark.parametrize(
    "truth", [(0.4, 0.3), (0.5, 0.3, 0.2), (0.2, 2.0, 1.0), (0.5, 0.4, 0.6, 0.3, 0.2)]
)
def test_it_finds_the_noise_of_known_raters(truth: tuple[float, ...]) -> None:
    rng = np.random.default_rng(5)
    levels, values = len(truth), np.arange(len(truth))
    raters = rng.dirichlet(truth, 20_000)
    scores = np.array([rng.multinomial(5, rater) for rater in raters]) @ values / 5
    real = float(np.mean(raters @ values**2 - (raters @ values) ** 2)) / 5
    noise = sampling_noise(scores.tolist(), levels)
    assert noise.modelled == pytest.approx(real, rel=0.08)
    assert noise.least - 1e-9 <= real * 1.05
    assert real * 0.95 <= noise.most
    assert noise.misfit < 0.02
    assert noise.variance == pytest.approx(scores.var())


def test_two_levels_need_no_model() -> None:
    rng = np.random.default_rng(6)
    scores = rng.binomial(5, rng.beta(0.5, 0.8, 5_000)) / 5
    noise = sampling_noise(scores.tolist(), 2)
    assert noise.least == pytest.approx(noise.most)
    assert noise.modelled == pytest.approx(noise.least, rel=0.05)


def test_a_decided_rater_has_no_noise_and_an_undecided_one_nothing_else() -> None:
    rng = np.random.default_rng(7)
    decided = sampling_noise(rng.integers(0, 3, 2_000).astype(float).tolist(), 3)
    assert decided.least == 0
    assert decided.share(decided.modelled) == pytest.approx(0, abs=0.02)
    coin = sampling_noise((rng.binomial(5, 0.5, 5_000) / 5).tolist(), 2)
    assert coin.share(coin.modelled) == pytest.approx(1, abs=0.05)


def test_all_scores_equal() -> None:
    noise = sampling_noise([1.0] * 10, 3)
    assert noise.share(noise.modelled) is None
    assert fit_dirichlet(np.array([0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0]), 3, 5).shape == (3,)


@pytest.mark.parametrize("score", [0.3, -0.2, 2.2, float("nan")])
def test_what_is_no_mean_is_refused(score: float) -> None:
    with pytest.raises(ValueError, match="is not a mean of 5 whole numbers from 0 to 2"):
        as_sums([0.2, score], 3, 5)


def test_rounding_is_forgiven() -> None:
    assert as_sums([0.6000000000000001, 1.9999999999999998], 3, 5).tolist() == [3, 10]
