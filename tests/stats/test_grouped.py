"""Correlation inside groups: what groups explain is gone, what they do not is left."""

import numpy as np
import pytest

from recjury.stats.grouped import correlate_within, group_means, means_of_others


def test_what_only_groups_explain_is_gone() -> None:
    groups = ["a"] * 3 + ["b"] * 3
    x = [1.0, 2.0, 3.0, 11.0, 12.0, 13.0]
    flat = [1.0, 1.0, 1.0, 5.0, 5.0, 5.0]
    assert correlate_within(x, flat, groups)[:2] == (None, None)
    found = correlate_within(x, [3.0, 2.0, 1.0, 9.0, 8.0, 7.0], groups)
    assert found.pearson == pytest.approx(-1)
    assert found.spearman == pytest.approx(-1)
    assert found.n == 6


def test_one_group_is_the_usual_correlation() -> None:
    from scipy.stats import pearsonr, spearmanr

    rng = np.random.default_rng(1)
    x = rng.integers(0, 4, 200).astype(float)
    y = x + rng.integers(0, 4, 200).astype(float)
    found = correlate_within(x, y, ["a"] * 200)
    assert found.pearson == pytest.approx(pearsonr(x, y).statistic)
    assert found.spearman == pytest.approx(spearmanr(x, y).statistic)


def test_it_is_the_partial_correlation_given_the_group() -> None:
    rng = np.random.default_rng(2)
    group = rng.integers(0, 3, 300)
    x, y = rng.normal(size=300) + group, rng.normal(size=300) + 2 * group
    y += 0.5 * x
    dummies = np.eye(3)[group]
    left = [v - dummies @ np.linalg.lstsq(dummies, v, rcond=None)[0] for v in (x, y)]
    expected = float(np.corrcoef(left[0], left[1])[0, 1])
    assert correlate_within(x, y, group.astype(str).tolist()).pearson == pytest.approx(expected)


def test_equal_means_are_no_spread() -> None:
    values = [0.1 + 0.2, 0.3, 0.1 + 0.2, 0.7, 0.7, 0.7]
    groups = ["a", "a", "a", "b", "b", "b"]
    assert correlate_within(values, [1.0, 2, 3, 4, 5, 6], groups).pearson is None


def test_means_of_groups_and_of_others() -> None:
    values, groups = [1.0, 3.0, 5.0, 10.0], ["a", "a", "a", "b"]
    assert group_means(values, groups).tolist() == [3, 3, 3, 10]
    others = means_of_others(values, groups, ["1", "1", "2", "3"])
    assert others[:3].tolist() == [5, 5, 2]
    assert np.isnan(others[3])
    assert group_means([], []).tolist() == []


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="2 and 2 values, 1 groups"):
        correlate_within([1.0, 2.0], [1.0, 2.0], ["a"])
