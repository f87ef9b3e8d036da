"""Noise floors and pass^k, from repeats and from judgings."""

import math

import pytest

from recjury.records import Metric
from recjury.results import summarise
from recjury.results.noise import NoiseFloor, pass_rates
from recjury.store import Store
from tests.report.filling import CAMPAIGN, Played, evaluator, fill

CORE = (evaluator("core"),)
OVERALL = Metric(id="overall", title="Overall", high=100)


def _fill(store: Store, verdicts: dict[str, tuple[float, ...]], judgings: int = 1) -> None:
    played = [
        Played("a", record, scores=[(verdict,) * 4], repeat=repeat)
        for record, several in verdicts.items()
        for repeat, verdict in enumerate(several)
    ]
    fill(store, played, evaluators=(evaluator("core", judgings=judgings),))


def test_the_noise_floor_is_the_spread_between_repeats(store: Store) -> None:
    _fill(store, {"1": (10.0, 14.0), "2": (50.0, 50.0), "3": (70.0, 70.0, 76.0), "4": (1.0,)})
    found = summarise(store, CAMPAIGN).noise()["core.overall"]
    # Squared deviations within scenarios: 8, 0 and 24, over 1 + 1 + 2 degrees of freedom.
    assert found.repeat_sd == pytest.approx(math.sqrt(32 / 4))
    assert found[1:] == (4, None, 0, 1.0)
    assert found.floor(25, 2.0) == pytest.approx(1.96 * math.sqrt(8 * 2 / 50))
    assert found.floor(0, 1.0) is None


def test_judgings_of_one_conversation_give_the_judges_part(store: Store) -> None:
    _fill(store, {"1": (10.0,), "2": (50.0,)}, judgings=3)
    found = summarise(store, CAMPAIGN).noise()["core.overall"]
    assert found == NoiseFloor(None, 0, 0.0, 4, 3.0)
    assert found.floor(9, 1.0) == 0.0
    # A score is the mean of three judgings, so its spread is smaller by their root.
    apart = NoiseFloor(None, 0, 6.0, 4, 3.0)
    assert apart.floor(9, 1.0) == pytest.approx(1.96 * 6 / math.sqrt(3) * math.sqrt(2 / 9))


def test_without_repeats_there_is_no_noise_floor(store: Store) -> None:
    _fill(store, {"1": (10.0,), "2": (50.0,)})
    assert summarise(store, CAMPAIGN).noise() == {}


def test_a_conversation_counts_only_if_all_its_repeats_are_good(store: Store) -> None:
    _fill(store, {"1": (80.0, 90.0, 85.0), "2": (80.0, 10.0, 90.0), "3": (0.0, 1.0, 2.0)})
    rates = pass_rates(store.results(CAMPAIGN), "core.overall", OVERALL, 80.0)["a"]
    assert [each.k for each in rates] == [1, 2, 3]
    # The second scenario is good in 2 of 3: C(2, 2) / C(3, 2) = 1/3 of its pairs.
    expected = [(1 + 2 / 3) / 3, (1 + 1 / 3) / 3, 1 / 3]
    assert [each.rate for each in rates] == pytest.approx(expected)
    assert {each.scenarios for each in rates} == {3}


def test_what_failed_is_not_good(store: Store) -> None:
    fill(
        store,
        [
            Played("a", "1", scores=[(90.0,) * 4]),
            Played("a", "1", failure="no answer", repeat=1, pair="1"),
            Played("a", "2", scores=[(90.0,) * 4], repeat=0),
            Played("a", "2", scores=[], repeat=1),
        ],
        evaluators=CORE,
    )
    rates = pass_rates(store.results(CAMPAIGN), "core.overall", OVERALL, 80.0)["a"]
    assert rates[0].rate == 0.5
    lower = OVERALL.model_copy(update={"higher_is_better": False})
    assert pass_rates(store.results(CAMPAIGN), "core.overall", lower, 95.0)["a"][0].rate == 0.5
