"""How far columns move together, against NumPy and planted truths."""

import numpy as np
import pytest

from recjury.stats.coupling import coupling


def _planted(rng: np.random.Generator, n: int, k: int, general: float) -> np.ndarray:
    """Columns whose correlations are all `general` in truth."""
    shared = rng.normal(size=(n, 1)) * np.sqrt(general)
    return np.asarray(shared + rng.normal(size=(n, k)) * np.sqrt(1 - general))


def _names(n: int) -> list[str]:
    return [str(number) for number in range(n)]


def test_it_is_numpys_matrix_and_counts_its_pairs() -> None:
    columns = np.random.default_rng(1).integers(0, 5, (40, 12)).astype(float)
    columns[:, 1] = columns[:, 0]
    columns[:, 2] = columns[:, 0] * -1 + columns[:, 5] / 9
    found = coupling(columns, _names(40), resamples=50)
    expected = np.corrcoef(columns.T)
    assert found.matrix == pytest.approx(expected)
    upper = np.abs(expected[np.triu_indices(12, 1)])
    assert (found.pairs, found.n) == (66, 40)
    assert found.low == (upper < 0.2).sum()
    assert found.high == (upper >= 0.5).sum() >= 3
    assert found.mean.value == pytest.approx(expected[np.triu_indices(12, 1)].mean())
    assert found.halo == pytest.approx(np.linalg.eigvalsh(expected)[-1] / 12)


def test_missing_values_and_constants_are_left_out_of_their_pairs_only() -> None:
    columns = np.random.default_rng(2).normal(size=(30, 4))
    columns[:10, 0] = np.nan
    columns[:, 3] = 2.0
    found = coupling(columns, _names(30), resamples=50)
    assert found.matrix[0, 1] == pytest.approx(np.corrcoef(columns[10:, 0], columns[10:, 1])[0, 1])
    assert found.matrix[1, 2] == pytest.approx(np.corrcoef(columns[:, 1], columns[:, 2])[0, 1])
    assert np.isnan(found.matrix[3, 1])
    assert found.pairs == 3
    assert found.halo is None


def test_a_general_impression_is_found() -> None:
    rng = np.random.default_rng(3)
    halo = coupling(_planted(rng, 4_000, 12, 0.6), _names(4_000), resamples=2)
    free = coupling(_planted(rng, 4_000, 12, 0.0), _names(4_000), resamples=2)
    assert halo.halo == pytest.approx((1 + 11 * 0.6) / 12, abs=0.03)
    assert free.halo == pytest.approx(1 / 12, abs=0.02)
    assert (halo.high, free.low) == (66, 66)


def test_the_interval_of_the_mean_covers_the_truth() -> None:
    rng = np.random.default_rng(4)
    covered = 0
    for number in range(200):
        found = coupling(_planted(rng, 80, 6, 0.3), _names(80), resamples=300, seed=number).mean
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.3 <= found.high
    assert 0.90 <= covered / 200 <= 0.99


def test_a_whole_conversation_is_drawn() -> None:
    columns = np.repeat(np.random.default_rng(5).normal(size=(15, 3)), 8, axis=0)
    apart = coupling(columns, _names(120), resamples=300).mean
    together = coupling(columns, [str(n // 8) for n in range(120)], resamples=300).mean
    assert None not in (apart.low, apart.high, together.low, together.high)
    assert apart.high - apart.low < (together.high - together.low) / 2  # type: ignore[operator]


def test_what_cannot_be_coupled_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least two columns"):
        coupling(np.zeros((3, 1)), _names(3))
