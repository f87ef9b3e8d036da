"""Two systems of a store against each other."""

import pytest

from recjury.errors import StoreError
from recjury.results import Comparison, ComparisonOptions, compare_all, compare_systems
from recjury.results.comparison import newest_measures
from recjury.results.differences import Compared, compare_tallies, corrected
from recjury.results.scores import scores_of
from recjury.results.tally import Tally
from recjury.store import Selection, Store
from tests.report.filling import CAMPAIGN, Played, evaluator, fill

CORE = (evaluator("core"),)


def _flat(system: str, record: str, verdict: float, pair: str = "") -> Played:
    return Played(system, record, scores=[(verdict,) * 4], pair=pair)


def _tally(store: Store, system: str) -> Tally:
    tally = Tally()
    for result in store.results(CAMPAIGN, system):
        tally.add(scores_of(result))
    return tally


def _measures(store: Store) -> tuple[Compared, ...]:
    return newest_measures(store.evaluators(CAMPAIGN))


def _gap(result: Comparison, measure: str) -> tuple[float | None, int]:
    found = result.gaps[measure].difference
    return (found.difference, found.n)


def test_pairs_are_the_scenarios_that_both_met(store: Store) -> None:
    several = [
        *(_flat("a", str(n), 50.0 + n) for n in range(8)),
        *(_flat("b", str(n), 40.0 + n) for n in range(2, 10)),
    ]
    fill(store, several, evaluators=CORE)
    result = compare_systems(store, "a", "b", campaign=CAMPAIGN)
    gap = result.gaps["core.overall"].difference
    assert (result.pairs, result.is_paired) == (6, True)
    assert (gap.difference, gap.low, gap.high, gap.n) == (10.0, 10.0, 10.0, 6)
    assert _gap(result, "core.novelty") == (0.0, 6)
    # The twelve other differences are ties, which are not tested: there is nothing to correct.
    assert (gap.p, gap.smallest_p) == pytest.approx((2 / 2**6, 2 / 2**6))
    assert result.gaps["core.novelty"].difference.is_tie
    assert next(iter(result.gaps)) == "core.overall"


def test_details_are_compared_and_not_tested(store: Store) -> None:
    fill(store, [Played(system, str(n)) for system in "ab" for n in range(3)])
    shown = compare_systems(store, "a", "b").as_json()["metrics"]
    assert isinstance(shown, dict)
    assert shown["outcome.leaks_caught"] == {
        "difference": 0.0,
        "low": 0.0,
        "high": 0.0,
        "p": None,
        "n": 3,
        "effect_size": None,
        "sd": 0.0,
        "smallest_p": None,
    }
    assert isinstance(shown["outcome.recall@10"], dict)
    assert shown["outcome.recall@10"]["p"] is None  # a tie


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
    with pytest.raises(StoreError, match=r"no scenario in common.*--force"):
        compare_systems(store, "a", "b")
    result = compare_systems(store, "a", "b", options=ComparisonOptions(force=True))
    assert (result.pairs, result.is_paired) == (0, False)
    assert _gap(result, "core.overall") == (40.0, 4)


def test_a_metric_counts_only_where_both_are_scored(store: Store) -> None:
    fill(
        store,
        [
            Played("a", "1", [None, *[4.0] * 11]),
            Played("a", "2"),
            Played("b", "1", [1.0] * 12),
            Played("b", "2", [1.0] * 12),
        ],
    )
    result = compare_systems(store, "a", "b")
    assert _gap(result, "core.coherence") == (2.0, 1)
    assert _gap(result, "core.diversity") == (2.5, 2)
    only = compare_systems(store, "a", "b", options=ComparisonOptions(["core.diversity"]))
    assert list(only.gaps) == ["core.diversity"]


def test_json_has_the_keys_that_scripts_rely_on(store: Store) -> None:
    fill(store, [Played("a", "1"), Played("a", "2"), Played("b", "1"), Played("b", "2")])
    shown = compare_systems(store, "a", "b").as_json()
    assert set(shown) == {"pairs", "paired", "alone", "metrics", "caveats"}
    assert shown["pairs"] == 2
    metrics = shown["metrics"]
    assert isinstance(metrics, dict)
    assert {"core.overall", "core.grammatical_correctness", "outcome.recall@10"} <= set(metrics)
    own = {"difference", "low", "high", "p", "smallest_p", "n", "effect_size", "sd"}
    assert all(set(each) == own for each in metrics.values())


def test_unknown_and_unfinished_systems_are_named(store: Store) -> None:
    fill(store, [Played("alpha", "1"), Played("beta", "1", failure="no answer")])
    expected = r"no system is called alpa; did you mean 'alpha'\? \(systems: alpha, beta\)"
    with pytest.raises(StoreError, match=expected):
        compare_systems(store, "alpha", "alpa")
    with pytest.raises(StoreError, match="beta has no score"):
        compare_systems(store, "alpha", "beta")


def test_an_unknown_metric_is_answered_with_the_nearest(store: Store) -> None:
    fill(store, [Played("a", "1"), Played("b", "1")])
    expected = r"no metric is called core.novety; did you mean 'core.novelty'\?"
    with pytest.raises(StoreError, match=expected):
        compare_systems(store, "a", "b", options=ComparisonOptions(["core.novety"]))


def test_p_values_are_corrected_over_all_that_is_shown_together(store: Store) -> None:
    scores = {"a": 50.0, "b": 40.0, "c": 30.0}
    fill(
        store,
        [
            Played(system, str(n), [(verdict + n) / 20, *[3.0] * 11], [(verdict + n,) * 4])
            for system, verdict in scores.items()
            for n in range(9)
        ],
        evaluators=CORE,
    )
    tallies = {name: _tally(store, name) for name in scores}
    measures = _measures(store)
    pairs = {
        pair: compare_tallies(tallies[pair[0]], tallies[pair[1]], measures)
        for pair in ("ab", "bc", "ac")
    }
    together = corrected(pairs)
    by_the_verdict = corrected(pairs, {"core.overall"})
    for pair in pairs:
        raw, joint, alone = (
            found[pair].gaps["core.overall"].difference.p
            for found in (pairs, together, by_the_verdict)
        )
        assert raw is not None
        assert joint == pytest.approx(6 * raw)  # the verdict and one factor of three pairs
        assert alone == pytest.approx(3 * raw)  # the verdict of three pairs


def test_repeats_of_a_scenario_are_averaged_and_no_further_pairs(store: Store) -> None:
    fill(
        store,
        [
            *(Played("a", "1", scores=[(s,) * 4], repeat=n) for n, s in enumerate((40.0, 60.0))),
            *(Played("b", "1", scores=[(s,) * 4], repeat=n) for n, s in enumerate((10.0, 20.0))),
        ],
    )
    result = compare_systems(store, "a", "b")
    assert result.pairs == 1
    assert _gap(result, "core.overall") == (35.0, 1)


def test_campaigns_without_a_common_one_are_compared_where_evaluated_alike(store: Store) -> None:
    other = (evaluator("core", version=1),)
    fill(store, [_flat("a", "1", 60.0)], campaign="one", evaluators=CORE)
    fill(store, [_flat("b", "1", 20.0)], campaign="two", evaluators=CORE)
    fill(store, [_flat("c", "1", 20.0)], campaign="three", evaluators=other)
    assert _gap(compare_systems(store, "a", "b"), "core.overall") == (40.0, 1)
    with pytest.raises(StoreError, match=r"a \(campaign one\) and c \(campaign three\) were not"):
        compare_systems(store, "a", "c")


def test_a_newer_campaign_by_another_evaluator_does_not_stand_in_the_way(store: Store) -> None:
    both = [_flat("a", "1", 60.0), _flat("b", "1", 20.0)]
    fill(store, both, campaign="one", evaluators=CORE)
    fill(store, [Played("a", "2"), Played("b", "2", failure="gone")], campaign="two")
    assert _gap(compare_systems(store, "a", "b"), "core.overall") == (40.0, 1)
    fill(store, both, campaign="three", evaluators=(evaluator("outcome"),))
    assert "outcome.recall@10" in compare_systems(store, "a", "b").gaps


def test_the_newest_version_is_compared(store: Store) -> None:
    both = [_flat("a", "1", 60.0), _flat("b", "1", 20.0)]
    fill(store, both, evaluators=CORE)
    fill(store, both, evaluators=(evaluator("core", version=1),))
    gaps = compare_systems(store, "a", "b").gaps
    assert {measure.partition(".")[0] for measure in gaps} == {"core"}


def test_a_score_by_an_older_version_is_not_enough_to_compare(store: Store) -> None:
    both = [_flat("a", "1", 60.0), _flat("b", "1", 20.0)]
    new = (evaluator("core", version=1),)
    fill(store, both, campaign="one", evaluators=new)
    other = [_flat(name, "2", 50.0) for name in "ab"]
    fill(store, other, campaign="two", evaluators=CORE)
    fill(store, other[:1], campaign="two", evaluators=new)
    assert _gap(compare_systems(store, "a", "b"), "core.overall") == (40.0, 1)
    with pytest.raises(StoreError, match="were not evaluated alike"):
        compare_systems(store, "a", "b", campaign="two")


def test_many_systems_are_compared_two_by_two_and_corrected_together(store: Store) -> None:
    scores = {"a": 50.0, "b": 40.0, "c": 30.0}
    played = [_flat(name, str(n), v + n % 3) for name, v in scores.items() for n in range(9)]
    fill(store, played, evaluators=CORE)
    options = ComparisonOptions(["core.overall"])
    found = compare_all(store, "abc", options=options)
    assert list(found) == [("a", "b"), ("a", "c"), ("b", "c")]
    alone = compare_systems(store, "a", "b", options=options).gaps["core.overall"].difference.p
    together = found["a", "b"].gaps["core.overall"].difference.p
    assert alone is not None
    assert together == pytest.approx(3 * alone)


def test_equivalence_is_tested_with_a_margin(store: Store) -> None:
    played = [
        *(_flat("a", str(n), 50.0 + n % 4) for n in range(20)),
        *(_flat("b", str(n), 50.0 + (n + 1) % 4) for n in range(20)),
        *(_flat("c", str(n), 20.0) for n in range(25)),
    ]
    fill(store, played, evaluators=CORE)
    options = ComparisonOptions(["core.overall"], margin=5.0)
    found = compare_all(store, "abc", options=options)
    near, far = (found["a", name].gaps["core.overall"].equivalence for name in "bc")
    assert near is not None
    assert far is not None
    assert near < 0.01
    assert far > 0.99
    assert (found["a", "b"].alone, found["a", "c"].alone) == (0, 5)
    assert compare_systems(store, "a", "b").as_json().get("margin") is None


def test_other_versions_of_evaluators_are_compared_only_if_forced(store: Store) -> None:
    fill(store, [_flat("a", "1", 60.0)], campaign="one", evaluators=CORE)
    other = (evaluator("core", version=1),)
    fill(store, [_flat("b", "1", 20.0)], campaign="two", evaluators=other)
    with pytest.raises(StoreError, match=r"were not evaluated alike.*--force"):
        compare_systems(store, "a", "b")
    forced = compare_systems(store, "a", "b", options=ComparisonOptions(force=True))
    assert _gap(forced, "core.overall") == (40.0, 1)


def test_a_system_that_is_not_selected_is_not_said_to_have_no_score(store: Store) -> None:
    fill(store, [_flat("a", "1", 60.0), _flat("b", "1", 20.0)], evaluators=CORE)
    only_a = ComparisonOptions(selection=Selection(systems=("a",)))
    with pytest.raises(StoreError, match="b has no score among the selected conversations"):
        compare_systems(store, "a", "b", options=only_a)
