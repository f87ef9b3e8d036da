"""The two lines with which terminal and report begin."""

import pytest

from recjury.results import ComparisonOptions, compare_all, summarise
from recjury.results.answer import CampaignAnswer, answer
from recjury.results.comparison import newest_measures
from recjury.results.differences import compare_campaign
from recjury.results.scores import headline
from recjury.store import Store
from tests.report.filling import CAMPAIGN, Played, evaluator, fill

CORE = (evaluator("core"),)


def _answer(store: Store, verdicts: dict[str, list[float]]) -> CampaignAnswer:
    played = [
        Played(system, str(n), scores=[(verdict,) * 4])
        for system, own in verdicts.items()
        for n, verdict in enumerate(own)
    ]
    fill(store, played, evaluators=CORE)
    return answer(summarise(store, CAMPAIGN))


def test_the_best_system_is_named_with_its_lead(store: Store) -> None:
    scores = {"low": [40.0 + n for n in range(12)], "top": [60.0 + n % 3 for n in range(12)]}
    found = _answer(store, scores)
    first, second = found.lines
    assert (found.best, found.decided) == ("top", True)
    assert first.startswith(
        "top is best: 61.0 by Rule verdict (core.overall), ahead of low by 15.5 ["
    )
    assert first.endswith("]. This is decided (p < 0.001).")
    assert second == "Every metric was scored."


def test_a_lead_that_is_not_decided_says_against_whom(store: Store) -> None:
    own = [float(40 + 7 * n % 13) for n in range(12)]
    found = _answer(store, {"a": own, "b": [n - 1 for n in own[::-1]], "c": [n - 30 for n in own]})
    assert not found.decided
    assert "This is not decided against b (p = " in found.lines[0]
    assert found.lines[0].endswith(", corrected over 3 pairs).")


def test_few_scenarios_decide_nothing(store: Store) -> None:
    found = _answer(store, {"a": [80.0, 90.0, 85.0], "b": [10.0, 20.0, 30.0]})
    assert not found.decided
    said = "not decided: 3 pairs, less ties, are too few for any p-value below .05"
    assert said in found.lines[0]


def _failing_on_hard_ones(store: Store, of_b: float) -> CampaignAnswer:
    """A has scores of 80 and fails in the hard half, where B has 40; elsewhere B has `of_b`."""
    played = [Played("a", str(n), scores=[(80.0 + n % 2,) * 4]) for n in range(10)]
    played += [Played("a", str(n), failure="no answer") for n in range(10, 20)]
    played += [Played("b", str(n), scores=[(of_b if n < 10 else 40.0,) * 4]) for n in range(20)]
    fill(store, played, evaluators=CORE)
    return answer(summarise(store, CAMPAIGN))


def test_the_system_that_is_worse_where_both_have_scores_is_not_best(store: Store) -> None:
    found = _failing_on_hard_ones(store, 90.0)
    assert (found.best, found.decided) == (None, False)
    assert found.lines[0] == (
        "a has the best mean, 80.5 by Rule verdict (core.overall), but b is better on the "
        "scenarios of both; none is best."
    )


def test_a_lead_is_that_on_the_scenarios_of_both(store: Store) -> None:
    found = _failing_on_hard_ones(store, 70.0)
    assert (found.best, found.decided) == ("a", True)
    assert "ahead of b by 10.5 [" in found.lines[0]


def test_systems_without_a_scenario_in_common_are_not_decided(store: Store) -> None:
    played = [Played("a", f"a{n}", scores=[(80.0 + n,) * 4]) for n in range(10)]
    played += [Played("b", f"b{n}", scores=[(60.0 + n,) * 4]) for n in range(10)]
    fill(store, played, evaluators=CORE)
    found = answer(summarise(store, CAMPAIGN))
    assert (found.best, found.decided) == ("a", False)
    assert found.lines[0].endswith("This is not decided: no scenario in common with b.")


def test_the_answer_has_the_p_value_of_the_comparison_with_all_metrics(store: Store) -> None:
    means = {"c": 61.0, "a": 70.0, "b": 66.0}
    played = [
        Played(name, str(n), [float((n * (rise + 1)) % 5) for rise in range(12)], [(score,) * 4])
        for name, mean in means.items()
        for n in range(12)
        for score in [mean + (n * len(name) * int(mean)) % 7]
    ]
    fill(store, played, evaluators=CORE)
    summary = summarise(store, CAMPAIGN)
    lead = headline(summary.shown)
    compared = compare_campaign(summary.systems, lead, newest_measures(summary.evaluators))
    assert answer(summary, compared) == answer(summary)
    assert answer(summary).best == "a"
    two = compare_all(store, ("a", "b"))["a", "b"].gaps["core.overall"].difference
    assert (
        two
        == compare_all(store, ("a", "b"), options=ComparisonOptions(["core.overall"]))["a", "b"]
        .gaps["core.overall"]
        .difference
    )


def test_a_tie_is_no_lead(store: Store) -> None:
    found = _answer(store, {"a": [50.0, 60.0], "b": [50.0, 60.0]})
    assert found.best is None
    assert found.lines[0] == "a and b are level: 55.0 by Rule verdict (core.overall); none is best."


@pytest.mark.parametrize("systems", [0, 1])
def test_nothing_to_compare_is_said(store: Store, systems: int) -> None:
    failed = Played("b", "1", failure="no answer")
    fill(store, [*[Played("a", "1")] * systems, failed], evaluators=CORE)
    first, second = answer(summarise(store, CAMPAIGN)).lines
    expected = "no other system with a score" if systems else "No system has a score yet"
    assert expected in first
    assert f"Rule verdict in 1 of {systems + 1} conversations" in second


def test_what_has_no_score_is_in_the_second_line(store: Store) -> None:
    factors = [None, *[3.0] * 11]
    fill(store, [Played(s, str(n), factors) for s in "ab" for n in range(2)], evaluators=CORE)
    assert answer(summarise(store, CAMPAIGN)).lines[1] == (
        "Not scored: Coherence in all conversations."
    )


def test_one_scenario_is_too_few(store: Store) -> None:
    found = _answer(store, {"a": [80.0], "b": [10.0]})
    assert found.lines[0].endswith("This is not decided: one scenario is too few for a test.")


def test_metrics_of_one_title_are_told_apart(store: Store) -> None:
    both = (evaluator("core"), evaluator("core", name="strict", version=1))
    fill(store, [Played("a", "1", [None, *[3.0] * 11])], evaluators=both)
    second = answer(summarise(store, CAMPAIGN)).lines[1]
    assert "Coherence of core and Coherence of strict in all conversations" in second
