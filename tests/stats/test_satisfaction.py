"""The figures of table 2 of Jia et al. (2024), computed by hand and against the definition."""

import numpy as np
import pytest

from recjury.stats.satisfaction import mean_figures, satisfaction_figures


def test_both_classes_and_their_means() -> None:
    # 4 defects, of which 3 are found; 2 of 6 others are taken for defects.
    labels = [1.0, 2.0, 3.0, 2.5, 3.5, 4.0, 4.0, 5.0, 4.5, 3.25]
    scores = [1.0, 2.0, 3.0, 4.0, 2.0, 3.0, 4.0, 5.0, 4.0, 4.0]
    found = satisfaction_figures(scores, labels)
    assert (found.n, found.defect_rate) == (10, 0.4)
    assert found.accuracy == pytest.approx(0.7)
    assert found.defect == pytest.approx((3 / 5, 3 / 4, 2 / 3))
    assert found.non_defect == pytest.approx((4 / 5, 4 / 6, 8 / 11))
    assert found.macro == pytest.approx((0.7, (3 / 4 + 4 / 6) / 2, (2 / 3 + 8 / 11) / 2))
    assert found.weighted.f1 == pytest.approx(0.4 * 2 / 3 + 0.6 * 8 / 11)
    assert found.weighted.recall == pytest.approx(found.accuracy)  # always so
    assert found.micro_f1 == found.accuracy


def test_a_row_of_the_published_table_is_consistent_with_the_definition() -> None:
    """ReDial, BERT-1: 100 dialogues, 44 % defects, recall .32 and .82 (rounded)."""
    labels = np.array([2.0] * 44 + [4.0] * 56)
    scores = np.array([2.0] * 14 + [4.0] * 30 + [2.0] * 10 + [4.0] * 46)
    found = satisfaction_figures(scores, labels)
    assert tuple(round(each or 0, 2) for each in found.defect) == (0.58, 0.32, 0.41)
    assert tuple(round(each or 0, 2) for each in found.non_defect) == (0.61, 0.82, 0.7)
    assert tuple(round(each or 0, 2) for each in found.weighted) == (0.6, 0.6, 0.57)
    assert round(found.macro.f1 or 0, 2) == 0.55


def test_what_was_never_predicted_has_no_precision() -> None:
    found = satisfaction_figures([4.0, 5.0], [2.0, 4.0])
    assert found.defect == (None, 0.0, 0.0)
    assert found.non_defect == pytest.approx((0.5, 1.0, 2 / 3))
    assert found.macro.precision == pytest.approx(0.25)


def test_a_class_that_is_nowhere_is_left_out() -> None:
    found = satisfaction_figures([4.0, 5.0], [4.0, 5.0])
    assert found.defect == (None, None, None)
    assert found.macro == found.weighted == (1.0, 1.0, 1.0)


def test_constant_scores_have_no_correlation() -> None:
    found = satisfaction_figures([3.0, 3.0, 3.0], [2.0, 3.0, 4.0])
    assert (found.spearman, found.pearson) == (None, None)


def test_the_json_has_the_figures_of_both_classes() -> None:
    found = satisfaction_figures([1.0, 4.0, 2.0], [2.0, 4.0, 5.0]).as_json()
    assert found["defect"] == {"precision": 0.5, "recall": 1.0, "f1": pytest.approx(2 / 3)}
    assert found["micro_f1"] == found["accuracy"] == pytest.approx(2 / 3)
    assert set(found) == {
        *("n", "spearman", "pearson", "defect_rate", "accuracy", "defect", "non_defect"),
        *("weighted", "macro", "weighted_f1", "macro_f1", "micro_f1"),
    }


def test_nothing_to_compare_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one"):
        satisfaction_figures([], [])


def test_the_mean_of_several_runs() -> None:
    one = satisfaction_figures([1.0, 4.0, 2.0], [2.0, 4.0, 5.0])
    two = satisfaction_figures([1.0, 4.0, 5.0], [2.0, 4.0, 5.0])
    found = mean_figures([one, two])
    assert found.accuracy == pytest.approx((2 / 3 + 1) / 2)
    assert found.defect.precision == pytest.approx(0.75)
    assert found.n == 3
    assert found.defect_rate == pytest.approx(1 / 3)
    constant = satisfaction_figures([4.0, 4.0, 4.0], [2.0, 4.0, 5.0])
    assert mean_figures([one, constant]).spearman is None
    assert mean_figures([one]) == one
