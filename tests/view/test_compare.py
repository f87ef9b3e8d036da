"""The page of a comparison: one p for one difference, scenarios by gap, from a real store."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from recjury.errors import UserError
from recjury.results import comparison
from recjury.results.sentences import Row, p_text
from recjury.store import Store
from recjury.view.compare import compare_page
from recjury.view.rendering import Page, render
from tests.results.filled import evaluator, fill

SCORES: Mapping[str, Mapping[str, list[float | None]]] = {
    "high": {"overall": [90, 80, 70, 95, 85, 75, 99], "rounds": [2, 3, 2, 3, 2, 3, 2]},
    "low": {"overall": [10, 20, 30, 15, 25, 35, 5], "rounds": [5, 5, 4, 5, 5, 4, 5]},
    "mid": {"overall": [50, 55, None, 45, 50, 55, 60], "rounds": [3, 3, 3, 3, 3, 3, 3]},
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "s.db") as opened:
        yield opened


def shown(store: Store, **query: str) -> dict[str, Any]:
    """The values of a page that can be rendered."""
    page = compare_page(store, query, store.campaign())
    assert render(page)
    return page.values


def differences(values: Mapping[str, Any]) -> dict[str, Row]:
    return {row["metric"]: row for _, rows in values["groups"] for row in rows}


def test_one_p_for_one_difference(store: Store) -> None:
    fill(store, SCORES)
    said = {
        frozenset((row["a"], row["b"])): p_text(row["p"])
        for row in comparison(store).data["comparisons"]
        if row["metric"] == "core.overall"
    }
    for a, b in (("high", "low"), ("low", "high"), ("mid", "high")):
        row = differences(shown(store, a=a, b=b))["core.overall"]
        assert p_text(row["p"]) == said[frozenset((a, b))]


def test_sides_can_be_turned(store: Store) -> None:
    fill(store, SCORES)
    one, other = (shown(store, a=a, b=b) for a, b in (("high", "low"), ("low", "high")))
    first, second = (differences(values)["core.overall"] for values in (one, other))
    assert round(first["difference"], 1) == -round(second["difference"], 1) == 64.9
    assert (first["mean_a"], first["mean_b"]) == (second["mean_b"], second["mean_a"])
    assert [gap.gap[1:] for gap in one["gaps"]] == [gap.gap[1:] for gap in other["gaps"]][::-1]
    assert one["answer"] == other["answer"]


def test_scenarios_stand_by_gap_with_both_conversations(store: Store) -> None:
    fill(store, SCORES)
    values = shown(store, a="high", b="mid")
    assert [gap.gap for gap in values["gaps"]] == [
        "+50.0",
        "+40.0",
        "+39.0",
        "+35.0",
        "+25.0",
        "+20.0",
    ]
    first = values["gaps"][0]
    systems = [store.conversation(id_).system for id_ in first.conversations]
    assert (first.scenario, systems, first.words) == ("s3", ["high", "mid"], "Hello.")
    values = shown(store, a="high", b="mid", metric="core.rounds")
    assert (values["metric"], values["gaps"][-1].gap) == ("core.rounds", "-1.00")


@pytest.mark.parametrize("metric", ["core.overall", "core.rounds"])
def test_nothing_leaves_its_axis(store: Store, metric: str) -> None:
    extreme = {"overall": [100.0, 100, 100], "rounds": [1.0, 1, 1]}
    fill(store, {"best": extreme, "worst": {"overall": [0, 0, 0], "rounds": [900, 800, 700]}})
    values = shown(store, metric=metric)
    places = [place for row in differences(values).values() for place in (row["plot"] or ())[:3]]
    places += [place for gap in values["gaps"] for place in gap.x or ()]
    assert places
    assert all(0 <= place <= 100.01 for place in places)
    drawn = render(Page("compare.j2", values))
    bars = re.findall(r'x="([^"]+)%" width="([^"]+)%" y="([^"]+)" height="([^"]+)"', drawn)
    assert len(bars) == 2 * 3
    for x, width, y, height in (map(float, bar) for bar in bars):
        assert x + width <= 100.01
        assert 0 <= y <= y + height <= 120


def test_users_evaluators_and_campaigns_are_compared(store: Store) -> None:
    evaluators = [evaluator("core"), evaluator("own")]
    fill(store, SCORES, evaluators=evaluators, user="patient")
    fill(store, {"high": SCORES["low"]}, campaign="later", version="2222bbbb")
    assert differences(shown(store, by="campaign", a="films", b="later"))["core.overall"]["n"] == 7
    values = compare_page(store, {"by": "evaluator"}, "films").values
    assert (values["sides"].a, values["sides"].b) == ("core", "own")
    assert differences(values)["overall"]["difference"] == 0
    fill(store, SCORES, evaluators=evaluators, user="hasty", version="1111aaaa")
    values = shown(store, by="user")
    assert {values["sides"].a, values["sides"].b} == {"patient", "hasty"}


def test_older_versions_are_compared(store: Store) -> None:
    fill(store, {"mine": SCORES["low"]})
    fill(store, {"mine": SCORES["high"]}, version="2222bbbb")
    values = shown(store)
    assert {values["sides"].a, values["sides"].b} == {"mine", "mine@1111aaaa"}
    assert round(differences(values)["core.overall"]["difference"], 1) == 64.9


def test_a_lost_score_can_count_as_the_worst(store: Store) -> None:
    fill(store, SCORES)
    left_out, worst = (shown(store, a="high", b="mid", missing=each) for each in ("", "worst"))
    first, second = (differences(values)["core.overall"] for values in (left_out, worst))
    assert (first["n"], second["n"]) == (6, 7)
    assert second["difference"] > first["difference"]
    assert "Lost scores count as the worst" in worst["answer"][-1]
    assert len(worst["gaps"]) == 7
    assert [each for each in worst["caveats"] if "mid" in each.claim] != []


def test_what_is_written_meanwhile_is_shown(store: Store) -> None:
    fill(store, SCORES)
    assert differences(shown(store, a="high", b="low"))["core.overall"]["n"] == 7
    fill(store, SCORES, first=7)
    assert differences(shown(store, a="high", b="low"))["core.overall"]["n"] == 14


def test_of_very_many_scenarios_the_ends_are_listed(store: Store) -> None:
    many = {
        name: {"overall": [base + n % 7 for n in range(130)]}
        for name, base in (("a", 50), ("b", 20))
    }
    fill(store, many)
    values = shown(store)
    assert (len(values["gaps"]), values["hidden"], len(values["bars"])) == (100, 30, 130)


@pytest.mark.parametrize(
    ("scores", "query", "message"),
    [
        (SCORES, {"a": "hihg"}, "there is no system 'hihg' (did you mean high?): high, low, mid"),
        (SCORES, {"a": "high", "b": "high"}, "two systems are wanted"),
        ({"high": SCORES["high"]}, {}, "two systems are wanted, there is high"),
        (SCORES, {"by": "user"}, "two users are wanted, there is llm"),
    ],
)
def test_what_cannot_be_compared_is_said(
    store: Store, scores: Mapping[str, Any], query: dict[str, str], message: str
) -> None:
    fill(store, scores)
    with pytest.raises(UserError) as error:
        shown(store, **query)
    assert message in str(error.value)
