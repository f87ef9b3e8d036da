"""Two evaluators on the same conversations."""

import pytest

from recjury.errors import StoreError
from recjury.results import compare_evaluators
from recjury.stats import MeanDifference
from recjury.store import Store
from tests.report.filling import CAMPAIGN, Played, evaluator, fill

STRICT = evaluator("core", name="strict")
LENIENT = evaluator("core", name="lenient", version=1)


def _both(store: Store) -> None:
    # One conversation each, whatever an evaluator makes of it.
    for version, rise in ((STRICT, 0.0), (LENIENT, 1.0)):
        played = [
            Played("a", str(n), [n / 2 + rise, *[2.0] * 11], scores=[(10.0 * n + rise,) * 4])
            for n in range(6)
        ]
        fill(store, played, evaluators=[version])


def test_evaluators_are_compared_on_what_both_rated(store: Store) -> None:
    _both(store)
    result = compare_evaluators(store, "strict", "lenient", campaign=CAMPAIGN)
    assert result.pairs == 6
    first = result.agreements["coherence"]
    assert first.difference[:3] == (-1.0, -1.0, -1.0)
    assert first.difference.n == 6
    assert first.apart == 1.0
    assert first.spearman == pytest.approx(1.0)
    assert first.pearson == pytest.approx(1.0)
    assert result.agreements["novelty"].pearson is None
    shown = result.as_json()["metrics"]
    assert isinstance(shown, dict)
    assert isinstance(shown["overall"], dict)
    assert {"difference", "low", "high", "p", "n", "spearman"} <= set(shown["overall"])


def test_two_versions_of_one_name_are_compared_by_their_labels(store: Store) -> None:
    old, new = evaluator("core"), evaluator("core", version=1)
    fill(store, [Played("a", "1")], evaluators=[old])
    fill(store, [Played("a", "1", [1.0] * 12)], evaluators=[new])
    label = f"core@{old.id[:4]}"
    result = compare_evaluators(store, "core", label, metrics=["coherence"])
    assert list(result.agreements) == ["coherence"]
    assert result.agreements["coherence"].difference.difference == -2.0


def test_unknown_evaluators_and_metrics_are_named(store: Store) -> None:
    _both(store)
    fill(store, [Played("a", "0")], evaluators=[evaluator("outcome")])
    with pytest.raises(StoreError, match="no evaluator is called strikt; did you mean 'strict'"):
        compare_evaluators(store, "strikt", "lenient")
    with pytest.raises(StoreError, match="no metric is called novely; did you mean 'novelty'"):
        compare_evaluators(store, "strict", "lenient", metrics=["novely"])
    with pytest.raises(StoreError, match="no metric in common"):
        compare_evaluators(store, "strict", "outcome")


def test_repeats_of_a_scenario_are_averaged_and_systems_are_kept_apart(store: Store) -> None:
    for version, rise in ((STRICT, 0.0), (LENIENT, 1.0)):
        played = [
            Played(system, "1", [n + (n + 1) * rise, *[2.0] * 11], repeat=n)
            for system in "ab"
            for n in range(2)
        ]
        fill(store, played, evaluators=[version])
    result = compare_evaluators(store, "strict", "lenient")
    first = result.agreements["coherence"]
    assert result.pairs == 4
    assert (first.difference.difference, first.difference.n) == (-1.5, 2)
    assert first.apart == 1.5


def test_metrics_on_different_scales_have_correlations_alone(store: Store) -> None:
    wider, *others = sorted(STRICT.metrics, key=lambda metric: metric.id != "coherence")
    wider = wider.model_copy(update={"high": 10.0})
    played = [Played("a", str(n), [float(n), *[2.0] * 11]) for n in range(4)]
    fill(store, played, evaluators=[STRICT])
    fill(store, played, evaluators=[LENIENT.model_copy(update={"metrics": (wider, *others)})])
    result = compare_evaluators(store, "strict", "lenient")
    changed = result.agreements[wider.id]
    assert changed.difference == MeanDifference(None, None, None, None, 4)
    assert changed.apart is None
    assert changed.spearman == pytest.approx(1.0)
    assert result.agreements[others[0].id].apart == 0.0
