"""What tables hide: one score for everything, ties, systems without lists, no catalogue."""

import asyncio

import pytest

from recjury.records import Rating, StageResult, Status
from recjury.results import ComparisonOptions, compare_all, summarise
from recjury.results.caveats import about_campaign, about_training
from recjury.store import Store
from tests.report.filling import CAMPAIGN, Played, evaluation, evaluator, fill

CORE = (evaluator("core"),)


def _headings(store: Store) -> str:
    return "\n".join(each.heading for each in about_campaign(summarise(store, CAMPAIGN)))


def _spread(system: str, n: int, first: float, *, rise: float = 0.0) -> Played:
    """A conversation whose factors vary, except for the first, Coherence."""
    others = [(n + factor + rise) % 5 for factor in range(11)]
    return Played(system, str(n), [first, *others], [(40.0 + n + rise,) * 4])


@pytest.mark.parametrize(("odd", "named"), [(1, True), (2, False)])
def test_a_judge_that_gives_one_score_to_everything_is_named(
    store: Store, odd: int, named: bool
) -> None:
    fill(store, [_spread("a", n, 2.0 if n < odd else 4.0) for n in range(20)], evaluators=CORE)
    said = "Nearly one score for everything by core, rated by measured: Coherence 4 (19 of 20)"
    assert (_headings(store) == said) == named


def test_nineteen_scores_are_too_few_to_call_a_judge_constant(store: Store) -> None:
    fill(store, [_spread("a", n, 4.0) for n in range(19)], evaluators=CORE)
    assert _headings(store) == ""


def test_systems_that_tie_throughout_are_named_together(store: Store) -> None:
    played = [
        _spread(system, n, float(n % 4), rise=rise)
        for system, rise in (("a", 0.0), ("b", 1.0), ("c", 2.0))
        for n in range(6)
    ]
    fill(store, played, evaluators=CORE)
    assert _headings(store) == "a, b and c tie throughout on Coherence"
    compared = compare_all(store, "ab", options=ComparisonOptions())["a", "b"]
    assert compared.gaps["core.coherence"].difference.p is None
    assert "a and b tie throughout on Coherence" in [each.heading for each in compared.caveats]


def test_one_common_scenario_is_no_tie_throughout(store: Store) -> None:
    fill(store, [Played("a", "1"), Played("b", "1")])
    assert _headings(store) == ""


def test_a_system_that_never_lists_has_no_recall(store: Store) -> None:
    fill(
        store,
        [
            *(Played("silent", str(n), items=()) for n in range(3)),
            Played("sometimes", "0", items=()),
            *(Played("sometimes", str(n), hit_at=1) for n in (1, 2)),
        ],
    )
    summary = summarise(store, CAMPAIGN)
    silent, sometimes = summary.systems["silent"], summary.systems["sometimes"]
    assert silent.summary("outcome.recall@10") == (None, 0, None)
    assert silent.summary("outcome.persuasiveness") == (1.0, 3, 1.0)
    assert sometimes.summary("outcome.recall@10") == pytest.approx((2 / 3, 3, 1.0))
    assert summary.systems_json()["silent"]["outcome.recall@1"]["mean"] is None
    assert "silent never listed an item" in _headings(store)
    gaps = compare_all(store, ("silent", "sometimes"))["silent", "sometimes"].gaps
    assert gaps["outcome.recall@10"].difference.difference is None


def test_what_could_not_be_seen_without_a_catalogue_is_counted(store: Store) -> None:
    core, played = evaluator("core"), [Played("a", str(n)) for n in range(2)]
    fill(store, played, evaluators=[])
    store.join(CAMPAIGN, [core])
    reason = "no catalogue: nothing is known of the items"
    lost = Rating(
        evaluator="measured",
        factor="Novelty",
        score=None,
        status=Status.NOT_MEASURED,
        reason=reason,
    )
    for one in played:
        asyncio.run(store.save_stage(evaluation(one, core), "rate", StageResult((lost,))))
    caveat = about_campaign(summarise(store, CAMPAIGN))[-1]
    assert caveat.heading == "2 ratings have no score for lack of a catalogue: Novelty 2"
    assert '"catalogue": "redial"' in caveat.text


TOO_FEW = "pairs, less ties, are too few for any p-value below .05"


@pytest.mark.parametrize(
    ("scenarios", "expected"),
    [
        (5, [f"5 {TOO_FEW}"]),
        (8, [f"8 {TOO_FEW} on the other metrics in 11 tests together"]),
        (9, []),
    ],
)
def test_too_few_scenarios_for_any_p_value_are_said(
    store: Store, scenarios: int, expected: list[str]
) -> None:
    played = [
        _spread(system, n, 4.0, rise=rise)
        for system, rise in (("a", 0.0), ("b", 1.0))
        for n in range(scenarios)
    ]
    fill(store, played, evaluators=CORE)
    caveats = compare_all(store, "ab")["a", "b"].caveats
    said = [each.heading for each in caveats if "too few" in each.heading]
    assert said == expected


def test_conversations_that_failed_are_counted_by_system(store: Store) -> None:
    failed = [Played("a", str(n), failure="no answer") for n in (2, 3)]
    fill(store, [Played("a", "1"), *failed, Played("b", "1"), Played("b", "2")])
    said = "2 of 5 conversations failed: 2 of 3 of a"
    assert said in _headings(store)
    compared = compare_all(store, "ab", options=ComparisonOptions())["a", "b"]
    assert said in [each.heading for each in compared.caveats]


def test_one_scenario_is_said_to_be_too_few_for_a_test(store: Store) -> None:
    played = [
        Played(system, "1", [level] * 12)
        for system, level in zip("abc", (1.0, 2.0, 3.0), strict=True)
    ]
    fill(store, played)
    for each in compare_all(store, "abc", options=ComparisonOptions()).values():
        assert [caveat.heading for caveat in each.caveats] == ["One scenario is too few for a test"]


def test_corpora_without_a_training_split_are_no_published_protocol() -> None:
    (caveat,) = about_training(["redial/test", "opendialkg/test", "redial/test"])
    assert caveat.heading == (
        "Not the published protocol: no training split of redial/test is here"
    )
    assert not [*about_training(["opendialkg/test", "sample/test"])]
