"""Differences: what is paired, tested, decided, and how that is said."""

import numpy as np
import pytest
from scipy import stats

from recjury.errors import UserError
from recjury.results import Resampling, comparison, means, ratings, scores, summary
from recjury.results.compare import compare
from recjury.store import Store
from tests.results.filled import Scores, evaluator, fill

RNG = np.random.default_rng(0)
ONE = RNG.normal(60, 10, 12).round(1).tolist()
TWO = (np.array(ONE) - RNG.normal(8, 3, 12)).round(1).tolist()
FACTORS: Scores = {"novelty": [1.0] * 12, "rounds": [2.0] * 12}


def test_a_mean_is_rounded_alike_in_the_answer_and_in_the_table(store: Store) -> None:
    fill(store, {"a": {"success": [1.0] * 37 + [0.0] * 3}})
    found = summary(store)
    (cell,) = found.tables["Means, with 95 % intervals"]["a"]
    assert cell.startswith("0.93")
    assert "a with 0.93" in found.answer


def test_differences_are_those_of_scipy(store: Store) -> None:
    fill(store, {"one": {"overall": ONE}, "two": {"overall": TWO}})
    (row,) = compare(ratings(store, "films")).to_dict("records")
    gaps = np.array(ONE) - np.array(TWO)
    test = stats.permutation_test(
        (gaps,), np.mean, permutation_type="samples", n_resamples=10_000, rng=0
    )
    assert (row["a"], row["b"], row["metric"], row["n"]) == ("one", "two", "core.overall", 12)
    assert row["difference"] == pytest.approx(gaps.mean())
    assert row["p"] == pytest.approx(test.pvalue)
    assert row["decided"]
    assert (row["mean_a"], row["mean_b"]) == pytest.approx((np.mean(ONE), np.mean(TWO)))


def test_intervals_are_those_of_scipy_made_wider_for_few(store: Store) -> None:
    fill(store, {"one": {"overall": ONE}})
    (row,) = means(scores(ratings(store, "films"))).to_dict("records")
    level = 1 - 2 * stats.norm.cdf(np.sqrt(12 / 11) * stats.t.ppf(0.025, 11))
    other = stats.bootstrap((ONE,), np.mean, confidence_level=level, method="percentile", rng=0)
    ends = other.confidence_interval
    assert (row["low"], row["high"]) == pytest.approx((ends.low, ends.high), abs=0.5)


def test_who_is_ahead_is_said_first(store: Store) -> None:
    """Fewer rounds are better, so `two` is ahead there."""
    rounds = {"one": [5.0] * 12, "two": [3.0] * 12}
    scores = {"one": ONE, "two": TWO}
    fill(store, {name: {"overall": scores[name], "rounds": rounds[name]} for name in rounds})
    found = comparison(store)
    assert found.answer.startswith("one is ahead of two by ")
    assert "on core.overall: decided (p < .001)." in found.answer
    assert "Also decided: two is ahead on core.rounds." in found.answer
    assert summary(store).answer.splitlines()[1] == found.answer.splitlines()[0]


def test_too_few_scenarios_say_how_many_are_wanted(store: Store) -> None:
    """Newcomers' item 16. Of three scenarios no test can decide, whatever the difference is."""
    fill(store, {"one": {"overall": [90, 91, 92]}, "two": {"overall": [10, 12, 11]}})
    found = comparison(store)
    assert "not decided (p = .250). 3 scenarios are too few" in found.answer
    assert "play at least 8." in found.answer
    assert found.data["comparisons"][0]["more"] == 5
    fill(store, {"one": {"overall": [90] * 3}, "two": {"overall": [80] * 3}}, campaign="level")
    level = comparison(store, ["two", "one"], campaign="level", margins={"overall": 3})
    assert "is not decided: play more scenarios" in level.answer


def test_about_so_many_scenarios_would_decide() -> None:
    """In 8 of 10 sets of the size that a set not decided asks for, the difference is decided."""
    z = stats.norm.isf(0.025) + stats.norm.isf(0.2)
    wanted = round((z / 0.5) ** 2)
    x = np.random.default_rng(1).normal(0.5, 1, (wanted, 500))
    from recjury.stats import sign_flips

    assert np.mean(sign_flips(x, range(wanted)) < 0.05) == pytest.approx(0.8, abs=0.06)


def test_all_systems_two_by_two(store: Store) -> None:
    better = [score + 20 for score in ONE]
    fill(store, {"low": {"overall": TWO}, "high": {"overall": better}, "mid": {"overall": ONE}})
    found = comparison(store)
    assert found.answer.startswith("On core.overall high is ahead of low by ")
    assert any("high was chosen as best of 3" in note for note in found.notes)
    assert any("high was chosen as best of 3" in note for note in summary(store).notes)
    pairs = [(row["a"], row["b"]) for row in found.data["comparisons"]]
    assert pairs == [("low", "high"), ("low", "mid"), ("high", "mid")]
    one = comparison(store, ["mid"]).data["comparisons"]
    assert [(row["a"], row["b"]) for row in one] == [("mid", "low"), ("mid", "high")]


def test_seed_and_draws_are_obeyed_by_every_interval(store: Store) -> None:
    fill(store, {"one": {"overall": ONE}, "two": {"overall": TWO}})
    frame = ratings(store, "films")

    def ends(resampling: Resampling) -> list[float]:
        of_means = means(scores(frame), resampling)[["low", "high"]].to_numpy().ravel().tolist()
        found = summary(store, resampling=resampling).data["comparisons"][0]
        assert str(found) == str(comparison(store, resampling=resampling).data["comparisons"][0])
        return [*of_means, found["low"], found["high"]]

    assert ends(Resampling()) == ends(Resampling(2000, 0))
    for other in (Resampling(500, 0), Resampling(2000, 1)):
        assert not {*ends(Resampling())} & {*ends(other)}
        assert ends(other) == pytest.approx(ends(Resampling()), abs=1.5)


@pytest.mark.parametrize(
    ("names", "metric", "margin", "outcome"),
    [
        (("two", "one"), "core.overall", 4.0, "worse"),
        (("two", "one"), "overall", 12.0, "not worse"),
        (("two", "one"), "core.overall", 8.0, "not decided"),
        (("one", "two"), "core.overall", 0.0, "not worse"),
        (("one", "two"), "rounds", 1.0, "worse"),
    ],
)
def test_margins(
    store: Store, names: tuple[str, str], metric: str, margin: float, outcome: str
) -> None:
    """Newcomers' item 18. `two` is worse by about 8 of 100, and better by 2 rounds."""
    rounds = {"one": [5.0, 4.0] * 6, "two": [3.0, 2.0] * 6}
    scores = {"one": ONE, "two": TWO}
    fill(store, {name: {"overall": scores[name], "rounds": rounds[name]} for name in rounds})
    found = comparison(store, names, margins={metric: margin})
    assert [each["outcome"] for each in found.data["margins"]] == [outcome]
    assert outcome in found.answer
    with pytest.raises(UserError, match="name both"):
        comparison(store, names[:1], margins={metric: margin})


def test_a_scenario_that_one_lacks_does_not_count(store: Store) -> None:
    fill(store, {"one": {"overall": [None, *ONE[1:]]}, "two": {"overall": TWO}})
    (row,) = comparison(store).data["comparisons"]
    assert row["n"] == 11
    assert row["mean_b"] == pytest.approx(np.mean(TWO[1:]))


def test_systems_without_a_scenario_in_common_are_groups(store: Store) -> None:
    fill(store, {"one": {"overall": ONE}})
    fill(store, {"two": {"overall": TWO}}, first=100)
    found = comparison(store)
    (row,) = found.data["comparisons"]
    test = stats.permutation_test(
        (ONE, TWO), lambda x, y: np.mean(x) - np.mean(y), n_resamples=9_999, rng=3
    )
    assert not row["paired"]
    assert row["p"] == pytest.approx(test.pvalue, abs=0.01)
    assert any("no scenario in common" in note for note in found.notes)
    fill(store, {"near": {"overall": [score - 5 for score in ONE]}}, first=200)
    (row,) = comparison(store, ["one", "near"]).data["comparisons"]
    assert not row["decided"]
    assert (
        0 < row["more"] < 5 * row["n"]
    )  # as the spread tells; no scenario is equal in both groups


def test_equal_logs_are_one_observation(store: Store) -> None:
    """A system that always says the same does not gain certainty by repeats."""
    both = {"one": {"overall": ONE}, "two": {"overall": TWO}}
    fill(store, both)
    once = str(comparison(store).data["comparisons"])
    fill(store, both, repeats=3)
    assert str(comparison(store).data["comparisons"]) == once
    assert set(means(scores(ratings(store, "films")))["n"]) == {12}


def test_versions_are_compared_by_how_they_begin(store: Store) -> None:
    """Newcomers' item 3: before and after a change."""
    fill(store, {"mine": {"overall": TWO}}, version="1111aaaa2222")
    fill(store, {"mine": {"overall": ONE}}, version="3333bbbb4444")
    (row,) = comparison(store, ["mine", "mine@11"]).data["comparisons"]
    assert (row["a"], row["b"]) == ("mine", "mine@1111aaaa")
    assert row["difference"] == pytest.approx(np.mean(ONE) - np.mean(TWO))
    named = comparison(store, ["mine@3333bbbb44", "mine@1111aaaa2"])
    assert str(named.data["comparisons"]) == str([row])
    with pytest.raises(UserError, match=r"mine@1111aaaa; .* no label"):
        comparison(store, ["mine", "mine@99"])


def test_users_evaluators_and_campaigns(store: Store) -> None:
    both = [evaluator("core"), evaluator("strict")]
    fill(store, {"mine": {"overall": ONE}}, user="calm", evaluators=both)
    fill(store, {"mine": {"overall": TWO}}, user="rude", evaluators=both)
    fill(store, {"mine": {"overall": TWO}}, user="calm", campaign="books", version="2")
    users = comparison(store, by="user", campaign="films").data["comparisons"]
    assert (users[0]["a"], users[0]["b"], users[0]["metric"]) == ("calm", "rude", "core.overall")
    assert users[0]["difference"] == pytest.approx(np.mean(ONE) - np.mean(TWO))
    (row,) = comparison(store, by="evaluator", campaign="films").data["comparisons"]
    assert (row["a"], row["b"], row["metric"]) == ("core", "strict", "overall")
    assert (row["difference"], row["p"], row["n"]) == (0, 1, 12)
    fill(store, {"one": {"overall": ONE}}, campaign="apart", evaluators=both[:1])
    fill(store, {"two": {"overall": ONE}}, campaign="apart", evaluators=both[1:])
    assert comparison(store, by="evaluator", campaign="apart").tables == {}
    rows = comparison(store, ["films", "books"], by="campaign").data["comparisons"]
    assert rows[0]["difference"] == pytest.approx(np.mean(ONE) - np.mean(TWO))


def test_metrics_are_named_whole_or_without_evaluator(store: Store) -> None:
    scores = {"overall": ONE, "novelty": [2.0] * 12}
    fill(store, {"one": scores, "two": scores | {"overall": TWO}})
    rows = comparison(store, metrics=["novelty"]).data["comparisons"]
    assert [row["metric"] for row in rows] == ["core.novelty"]
    with pytest.raises(UserError, match=r"did you mean core\.novelty"):
        comparison(store, metrics=["core.novelti"])


def test_the_mean_of_factors_stands_beside_the_verdict(store: Store) -> None:
    """CoRE, 4.2: computed, and never stored."""
    scores = {"overall": ONE, "novelty": [1.0] * 12, "rounds": [4.0] * 11 + [None]}
    fill(store, {"one": scores, "two": scores}, evaluators=[evaluator(kind="core")])
    rows = {row["metric"]: row for row in comparison(store).data["comparisons"]}
    assert list(rows)[:2] == ["core.overall", "core.mean"]
    assert rows["core.mean"]["mean_a"] == pytest.approx(2.5)  # the twelfth has a failed factor
    found = summary(store)
    assert any("core.mean rest on 1.92 of 2 factors" in note for note in found.notes)
    with pytest.raises(KeyError, match=r"did you mean core\.mean"):
        found.data["systems"]["one"]["core.maen"]
    assert set(found.data["systems"]["one"]["core.mean"]) == {
        "mean",
        "low",
        "high",
        "n",
        "coverage",
    }


CORE = [evaluator(kind="core")]


def test_verdicts_on_different_factors_are_not_compared(store: Store) -> None:
    """A system that lacks a factor everywhere may only look better; a third one has it, too."""
    some: Scores = {"overall": [score + 30 for score in ONE], "novelty": [3.0] * 12}
    fill(store, {"some": some, "all": {"overall": ONE, **FACTORS}}, evaluators=CORE)
    found = comparison(store)
    assert found.answer.startswith("core.overall does not compare some with all")
    rows = {row["metric"]: row for row in found.data["comparisons"]}
    for id_ in ("core.overall", "core.mean"):
        assert not rows[id_]["comparable"]
        assert (rows[id_]["n"], rows[id_]["decided"]) == (0, False)
    assert rows["core.novelty"]["decided"]
    assert "Highest" not in summary(store).answer
    margins = comparison(store, ["some", "all"], margins={"overall": 3})
    assert "two scores that compare" in margins.answer
    fill(store, {"third": {"overall": TWO, **FACTORS}}, evaluators=CORE)
    said = comparison(store).answer.splitlines()[0]
    assert "1 of 1 differences are decided: all over third" in said
    assert "does not compare some with third and some with all" in said


def test_scenarios_count_in_which_verdicts_rest_on_the_same_factors(store: Store) -> None:
    fill(store, {"one": {"overall": ONE, **FACTORS}}, evaluators=CORE)
    fill(store, {"two": {"overall": TWO[:8], "novelty": [2.0] * 8}}, evaluators=CORE)
    rest = {"overall": TWO[8:], "novelty": [2.0] * 4, "rounds": [2.0] * 4}
    fill(store, {"two": rest}, evaluators=CORE, first=8)
    rows = {row["metric"]: row["n"] for row in comparison(store).data["comparisons"]}
    assert (rows["core.overall"], rows["core.mean"], rows["core.novelty"]) == (4, 4, 12)


def test_all_repeats_of_a_scenario_rest_on_the_same_factors(store: Store) -> None:
    """Means over repeats do not compare if one system lacks a factor in one of its repeats."""
    both = {"one": {"overall": ONE, **FACTORS}, "two": {"overall": TWO, **FACTORS}}
    fill(store, both, evaluators=CORE, repeats=2)
    frame = ratings(store, "films")
    frame = frame.assign(log=frame["conversation"])  # each repeat went another way
    lacks = (frame["system"] == "two") & (frame["repeat"] == 1) & (frame["metric"] == "rounds")
    for own, known in ((frame, True), (frame[~lacks], False)):
        rows = {row["metric"]: row for row in compare(own).to_dict("records")}
        assert [rows[id_]["comparable"] for id_ in ("core.overall", "core.mean")] == [known] * 2
        assert rows["core.novelty"]["n"] == 12


def test_a_lost_verdict_that_counts_as_the_worst_is_worst_on_any_factors(store: Store) -> None:
    fill(store, {"one": {"overall": [None] * 12, "novelty": [None] * 12}}, evaluators=CORE)
    fill(store, {"two": {"overall": TWO, **FACTORS}}, evaluators=CORE)
    rows = comparison(store, missing="worst").data["comparisons"]
    assert (rows[0]["metric"], rows[0]["n"], rows[0]["mean_a"]) == ("core.overall", 12, 0)


@pytest.mark.parametrize("names", [["one"], ["one", "oen"], []])
def test_what_cannot_be_compared_is_said(store: Store, names: list[str]) -> None:
    fill(store, {"one": {"overall": ONE}})
    with pytest.raises(UserError, match="one"):
        comparison(store, names)


def test_a_leading_metric_without_scores_does_not_lead(store: Store) -> None:
    """Recordings without lists have no success: the next metric answers."""
    none = {"overall": [None] * 12}
    fill(store, {"one": none | {"novelty": ONE}, "two": none | {"novelty": TWO}})
    assert "on core.novelty: decided" in comparison(store).answer.splitlines()[0]
    fill(store, {"one": none, "two": none}, campaign="empty")
    with pytest.raises(UserError, match="no scores"):
        comparison(store)
