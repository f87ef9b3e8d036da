"""Rows of systems against numbers worked out by hand."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recjury.records import PERSUASIVENESS, Factor, Level, Rating, Status
from recjury.report import summarise_by_corpus, summarise_systems
from recjury.report.headline import headline
from recjury.store import Store
from tests.report.filling import CAMPAIGN, Played, fill


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path / 'runs.db'}") as opened:
        yield opened


def test_means_and_coverage_are_those_worked_out_by_hand(store: Store) -> None:
    fill(
        store,
        [
            Played("a", "1", [4.0, *[2.0] * 11], hit_at=1, persuasiveness=2.0, leaks=(2, 0)),
            Played("a", "2", [1.0, None, *[2.0] * 10], [(20.0, 40.0, 30.0, 10.0)], hit_at=5),
            Played("a", "3", failure="a: no answer"),
            Played("a", "4", persuasiveness=None, scores=[(None,) * 4], leaks=(0, 1)),
        ],
    )
    row = summarise_systems(store.outcomes(CAMPAIGN))["a"]
    assert (row.trials, row.failed) == (4, 1)
    assert row.factors["Coherence"] == pytest.approx(((4 + 1 + 3) / 3, 3 / 4, 4))
    assert row.factors["Recoverability"] == pytest.approx(((2 + 3) / 2, 2 / 4, 4))
    assert row.overall == pytest.approx(((60 + 25) / 2, 2 / 4, 4))
    assert row.persuasiveness == pytest.approx((1.5, 2 / 4, 4))
    assert [row.recall[k].mean for k in (1, 5, 10)] == pytest.approx([1 / 3, 2 / 3, 2 / 3])
    assert row.recall[1].coverage == 3 / 4
    shown = row.as_json()
    assert shown["recall"] == {str(k): row.recall[k].mean for k in (1, 5, 10)}
    assert shown["recall_coverage"] == {"n": 3, "coverage": 3 / 4}
    assert row.rounds.mean == 2
    assert (row.leaks_caught, row.leaks_through) == (2, 1)


def test_recall_of_new_targets_says_over_how_many(store: Store) -> None:
    trials = [Played("a", str(n), hit_at=1, target_seen=n > 2) for n in range(5)]
    fill(store, [*trials, Played("a", "9", failure="a: no answer")])
    shown = summarise_systems(store.outcomes())["a"].as_json()
    assert shown["recall_coverage"] == {"n": 5, "coverage": 5 / 6}
    assert shown["new_target_recall_coverage"] == {"n": 3, "coverage": 1 / 2}


def test_no_score_is_no_mean_rather_than_zero(store: Store) -> None:
    fill(store, [Played("a", "1", [None] * 12, [])])
    row = summarise_systems(store.outcomes())["a"]
    assert row.factors["Novelty"] == (None, 0.0, 1)
    assert row.overall == (None, 0.0, 1)
    shown = row.as_json()["overall"]
    assert shown == {"mean": None, "coverage": 0.0}


def test_corpora_apart_add_up_to_the_whole(store: Store) -> None:
    fill(
        store,
        [
            Played("a", "1", corpus="x/test", hit_at=1),
            Played("a", "2", corpus="x/test"),
            Played("a", "1", corpus="y/test", hit_at=1),
            Played("b", "1", corpus="y/test", failure="gone"),
        ],
    )
    apart = summarise_by_corpus(store.outcomes())
    assert {corpus: list(rows) for corpus, rows in apart.items()} == {
        "x/test": ["a"],
        "y/test": ["a", "b"],
    }
    assert apart["x/test"]["a"].recall[1].mean == 0.5
    assert apart["y/test"]["a"].recall[1].mean == 1.0
    whole = summarise_systems(store.outcomes())
    assert whole["a"].recall[1].mean == pytest.approx(2 / 3)
    assert whole["b"].overall == (None, 0.0, 1)


def test_tables_show_the_mean_of_several_judges_and_only_whole_dialogues() -> None:
    def rating(evaluator: str, score: float, level: Level = Level.DIALOGUE) -> Rating:
        return Rating(evaluator=evaluator, factor=Factor.NOVELTY, score=score, level=level)

    persuasive = Rating(
        evaluator="none", factor=PERSUASIVENESS, score=None, status=Status.NOT_APPLICABLE, high=2
    )
    given = [rating("x", 0, Level.TURN), rating("x", 4), rating("y", 1), rating("mean", 2.5)]
    shown = headline([persuasive, *given])
    assert list(shown) == [Factor.NOVELTY, PERSUASIVENESS]
    assert shown[Factor.NOVELTY].score == 2.5
    assert headline(given[:3])[Factor.NOVELTY].score == 4
