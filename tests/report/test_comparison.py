"""Two systems of a store against each other."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recjury.errors import StoreError
from recjury.records import Factor
from recjury.report import compare_systems
from recjury.report.comparison import compare_samples, corrected
from recjury.report.findings import walk
from recjury.store import Store
from tests.report.filling import CAMPAIGN, Played, fill


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path / 'runs.db'}") as opened:
        yield opened


def _flat(system: str, record: str, verdict: float, pair: str = "") -> Played:
    return Played(system, record, scores=[(verdict,) * 4], pair=pair)


def test_pairs_are_the_scenarios_that_both_met(store: Store) -> None:
    fill(
        store,
        [
            *(_flat("a", str(n), 50.0 + n) for n in range(8)),
            *(_flat("b", str(n), 40.0 + n) for n in range(2, 10)),
        ],
    )
    result = compare_systems(store, "a", "b", campaign=CAMPAIGN)
    gap = result.measures["Overall"]
    assert (result.pairs, result.is_paired) == (6, True)
    assert (gap.difference, gap.low, gap.high, gap.n) == (10.0, 10.0, 10.0, 6)
    assert result.measures["Novelty"].difference == 0.0
    # One of the fifteen differences is not zero: Holm multiplies its exact p by fifteen.
    assert gap.p == pytest.approx(min(1.0, 15 * 2 / 2**6))


def test_recorded_conversations_pair_by_less_than_their_record(store: Store) -> None:
    fill(
        store,
        [
            *(_flat("a", f"a_{n}", 60.0, pair=str(n)) for n in range(3)),
            *(_flat("b", f"b_{n}", 50.0, pair=str(n)) for n in range(3)),
        ],
    )
    assert compare_systems(store, "a", "b").pairs == 3


def test_without_a_common_scenario_the_comparison_says_so(store: Store) -> None:
    fill(
        store,
        [_flat("a", str(n), 60.0) for n in range(4)]
        + [_flat("b", str(n), 20.0) for n in range(10, 16)],
    )
    result = compare_systems(store, "a", "b")
    assert (result.pairs, result.is_paired) == (0, False)
    assert result.measures["Overall"].difference == 40.0
    assert result.measures["Overall"].n == 4


def test_a_measure_counts_only_where_both_are_scored(store: Store) -> None:
    fill(
        store,
        [
            Played("a", "1", [None, *[4.0] * 11]),
            Played("a", "2"),
            Played("b", "1", [1.0] * 12),
            Played("b", "2", [1.0] * 12),
        ],
    )
    measures = compare_systems(store, "a", "b").measures
    assert (measures["Coherence"].n, measures["Coherence"].difference) == (1, 2.0)
    assert (measures["Diversity"].n, measures["Diversity"].difference) == (2, 2.5)


def test_json_has_the_keys_that_scripts_rely_on(store: Store) -> None:
    fill(store, [Played("a", "1"), Played("a", "2"), Played("b", "1"), Played("b", "2")])
    shown = compare_systems(store, "a", "b").as_json()
    assert shown["pairs"] == 2
    assert isinstance(shown["factors"], dict)
    assert list(shown["factors"]) == [factor.value for factor in Factor]
    assert isinstance(shown["overall"], dict)
    assert {"difference", "low", "high", "p"} <= set(shown["overall"])


def test_unknown_and_unfinished_systems_are_named(store: Store) -> None:
    fill(store, [Played("a", "1"), Played("b", "1", failure="no answer")])
    with pytest.raises(StoreError, match="no system is called c: expected one of a, b"):
        compare_systems(store, "a", "c")
    with pytest.raises(StoreError, match="b has no score"):
        compare_systems(store, "a", "b")


def test_p_values_are_corrected_over_all_that_is_shown_together(store: Store) -> None:
    fill(
        store,
        [
            _flat(system, str(n), start + n)
            for system, start in (("a", 60.0), ("b", 50.0), ("c", 40.0))
            for n in range(12)
        ],
    )
    samples = walk(store, CAMPAIGN).samples
    raw = {name: compare_samples(samples["a"], samples[name]) for name in ("b", "c")}
    alone = corrected({"b": raw["b"]})["b"].measures["Overall"].p
    together = corrected(raw)["b"].measures["Overall"].p
    assert alone is not None
    assert together == pytest.approx(2 * alone)


def _rated(system: str, verdict: float, judge: str, records: range = range(6)) -> list[Played]:
    """Trials of a campaign whose settings name the judge."""
    settings = {
        "raters": {"model": [judge]},
        "debate": None,
        "models": {judge: {"name": f"{judge}-1"}, "user": {"name": system}},
    }
    return [
        Played(system, str(n), scores=[(verdict,) * 4], judge=judge, settings=settings)
        for n in records
    ]


def test_campaigns_with_other_raters_are_never_averaged(store: Store) -> None:
    fill(store, [*_rated("a", 10.0, "measured"), *_rated("b", 30.0, "measured")], campaign="one")
    fill(store, [*_rated("a", 80.0, "large"), *_rated("b", 50.0, "large")], campaign="two")
    fill(store, _rated("a", 0.0, "small"), campaign="three")
    newest = compare_systems(store, "a", "b").measures["Overall"]
    assert (newest.difference, newest.n) == (30.0, 6)
    older = compare_systems(store, "a", "b", campaign="one").measures["Overall"]
    assert older.difference == -20.0


def test_across_campaigns_only_what_was_rated_alike_is_compared(store: Store) -> None:
    fill(store, _rated("a", 10.0, "measured"), campaign="one")
    fill(store, _rated("b", 30.0, "measured"), campaign="two")
    gap = compare_systems(store, "a", "b").measures["Overall"]
    assert (gap.difference, gap.n) == (-20.0, 6)
    fill(store, _rated("b", 50.0, "large"), campaign="three")
    with pytest.raises(StoreError, match=r"a \(campaign one\) and b \(campaign three\) were not"):
        compare_systems(store, "a", "b")


def test_one_alias_for_two_models_is_not_rated_alike(store: Store) -> None:
    fill(store, _rated("a", 10.0, "main"), campaign="one")
    settings = {"raters": {"model": ["main"]}, "debate": None, "models": {"main": {"name": "x"}}}
    fill(store, [Played("b", "1", settings=settings)], campaign="two")
    with pytest.raises(StoreError, match="were not rated alike"):
        compare_systems(store, "a", "b")


def test_repeats_of_a_scenario_are_one_pair(store: Store) -> None:
    fill(
        store,
        [
            Played(system, str(n), scores=[(start + n + repeat,) * 4], repeat=repeat)
            for system, start in (("a", 60.0), ("b", 50.0))
            for n in range(5)
            for repeat in range(4)
        ],
    )
    result = compare_systems(store, "a", "b")
    gap = result.measures["Overall"]
    assert (result.pairs, gap.n, gap.difference) == (5, 5, 10.0)
    # All five signs agree: the exact p of five pairs, times the fifteen tests.
    assert gap.p == pytest.approx(min(1.0, 15 * 2 / 2**5))
