"""Rows of systems against numbers worked out by hand."""

import asyncio

import pytest

from recjury.records import Rating, StageResult, Status
from recjury.results import compare_systems, summarise
from recjury.results.tally import Tally
from recjury.stats.resampling import interval_of_mean
from recjury.store import Store
from tests.report.filling import CAMPAIGN, Played, evaluation, evaluator, fill


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
    summary = summarise(store, CAMPAIGN)
    row = summary.systems["a"]
    assert (row.conversations, row.failed) == (4, 1)
    assert row.summary("core.coherence") == pytest.approx(((4 + 1 + 3) / 3, 3, 3 / 4))
    assert row.summary("core.recoverability") == pytest.approx(((2 + 3) / 2, 2, 2 / 4))
    assert row.summary("core.overall") == pytest.approx(((60 + 25) / 2, 2, 2 / 4))
    assert row.summary("outcome.persuasiveness") == pytest.approx((1.5, 2, 2 / 4))
    recalls = [row.summary(f"outcome.recall@{k}").mean for k in (1, 5, 10)]
    assert recalls == pytest.approx([1 / 3, 2 / 3, 2 / 3])
    assert row.summary("outcome.leaks_caught").mean == pytest.approx(2 / 3)
    assert summary.conversations.as_json() == {"planned": 4, "done": 3, "failed": 1, "waiting": 0}
    assert summary.evaluations["core"].as_json() == {
        "planned": 4,
        "done": 3,
        "failed": 0,
        "waiting": 1,
    }
    assert summary.failures == {"converse: a: no answer": 1}


def test_json_has_a_mean_its_interval_and_its_coverage(store: Store) -> None:
    fill(store, [Played("a", str(n), [float(n), *[2.0] * 11]) for n in range(4)])
    shown = summarise(store, CAMPAIGN).systems_json()["a"]
    assert isinstance(shown, dict)
    interval = interval_of_mean([0.0, 1.0, 2.0, 3.0])
    assert interval is not None
    assert shown["core.coherence"] == {
        "mean": 1.5,
        "low": interval.low,
        "high": interval.high,
        "n": 4,
        "coverage": 1.0,
    }
    assert list(shown)[:2] == ["outcome.recall@1", "outcome.recall@5"]


def test_repeats_of_a_scenario_are_no_further_scenarios(store: Store) -> None:
    repeated = [Played("a", "1", [float(n), *[2.0] * 11], repeat=n) for n in range(4)]
    fill(store, repeated)
    row = summarise(store, CAMPAIGN).systems["a"]
    assert row.summary("core.coherence") == (1.5, 4, 1.0)
    assert row.interval("core.coherence") is None


def test_the_difference_of_two_means_is_the_difference_that_is_compared(store: Store) -> None:
    fill(
        store,
        [
            *(Played("a", "1", [4.0, *[2.0] * 11], repeat=n) for n in range(3)),
            Played("a", "2", [1.0, *[2.0] * 11]),
            *(Played("b", str(n), [float(n), *[2.0] * 11]) for n in (1, 2)),
        ],
    )
    a, b = summarise(store, CAMPAIGN).systems.values()
    assert a.summary("core.coherence") == (2.5, 4, 1.0)
    assert b.summary("core.coherence") == (1.5, 2, 1.0)
    gap = compare_systems(store, "a", "b").gaps["core.coherence"].difference
    assert gap.difference == 1.0


def test_no_score_is_no_mean_rather_than_zero(store: Store) -> None:
    fill(store, [Played("a", "1", [None] * 12, []), Played("a", "2", target_seen=True)])
    row = summarise(store, CAMPAIGN).systems["a"]
    assert row.summary("core.novelty") == (3.0, 1, 1 / 2)
    row = Tally()
    assert row.summary("core.novelty") == (None, 0, 0.0)


def test_what_applies_to_no_conversation_has_no_coverage(store: Store) -> None:
    seen = [Played("a", str(n), target_seen=True) for n in range(2)]
    fill(store, [*seen, Played("a", "9", failure="gone"), Played("b", "1")])
    systems = summarise(store, CAMPAIGN).systems
    assert systems["a"].summary("outcome.new_recall@10") == (None, 0, None)
    assert systems["b"].summary("outcome.new_recall@10") == (0.0, 1, 1.0)


def test_evaluations_that_failed_and_that_wait_are_counted(store: Store) -> None:
    core = evaluator("core", judgings=2)
    whole, lost = Played("a", "1"), Played("a", "2", said="Another film.", scores=[])
    fill(store, [whole, lost, Played("a", "3", failure="gone")], evaluators=[core])
    asyncio.run(store.save_failure(evaluation(lost, core).identity, "debate", "too dear"))
    summary = summarise(store, CAMPAIGN)
    assert summary.evaluations["core"].as_json() == {
        "planned": 6,
        "done": 2,
        "failed": 1,
        "waiting": 3,
    }
    assert summary.failures["core debate: too dear"] == 1


def test_of_two_versions_the_older_one_stays_under_its_own_label(store: Store) -> None:
    played = [Played("a", "1"), Played("a", "2", said="Another film.")]
    old, new = evaluator("core"), evaluator("core", version=1)
    fill(store, played, evaluators=[old])
    fill(store, [Played("a", "1", [1.0] * 12)], evaluators=[new])
    summary = summarise(store, CAMPAIGN)
    row, label = summary.systems["a"], f"core@{old.id[:4]}"
    assert list(summary.evaluations) == ["core", label]
    assert row.summary("core.coherence") == (1.0, 1, 1 / 2)
    assert row.summary(f"{label}.coherence") == (3.0, 2, 1.0)
    assert (summary.evaluations["core"].planned, summary.evaluations["core"].waiting) == (2, 1)
    assert summary.evaluations[label].as_json() == {
        "planned": 2,
        "done": 2,
        "failed": 0,
        "waiting": 0,
    }


def test_turns_are_averaged_by_conversation_first(store: Store) -> None:
    core = evaluator("core")
    fill(store, [Played("a", "1")], evaluators=[])
    store.join(CAMPAIGN, [core])
    given = [
        Rating(evaluator="x", factor="Novelty", score=score, turn=turn, status=Status.SCORED)
        for turn, score in ((0, 1.0), (2, 4.0))
    ]
    planned = evaluation(Played("a", "1"), core)
    asyncio.run(store.save_stage(planned, "rate", StageResult(tuple(given))))
    row = summarise(store, CAMPAIGN).systems["a"]
    assert row.summary("core.novelty") == (2.5, 1, 1.0)


def test_only_the_conversations_of_a_run_are_counted_where_they_are_named(store: Store) -> None:
    fill(store, [Played("a", "1"), Played("a", "2")])
    first = store.conversations(CAMPAIGN)[0].id
    assert summarise(store, CAMPAIGN, conversations={first}).conversations.planned == 1
