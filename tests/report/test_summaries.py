"""What tables add up is the same from summaries, from rows, and counted by the database."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from recjury.errors import StoreError
from recjury.records import Status
from recjury.results import summarise
from recjury.store import Store
from tests.report.filling import CAMPAIGN, Played, evaluation, evaluator, fill
from tests.store import values
from tests.store.values import file_of

CORE = evaluator("core")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with every kind of unit: done, failed, lost, twice judged, waiting."""
    kept = Store.open(str(tmp_path / "kept.db"))
    several = [
        Played("a", "1", [1.0] * 12, scores=[(40.0,) * 4, (50.0, None, 50.0, 50.0)]),
        Played("a", "2", [None, *[2.0] * 11], unscored=Status.UNREADABLE),
        Played("a", "3", failure="no answer"),
        Played("b", "1", hit_at=1),
        Played("b", "2", persuasiveness=None),
    ]
    fill(kept, several, evaluators=(CORE, evaluator("outcome", judgings=2)))
    waiting = [Played("b", "3").planned, *(each.planned for each in several)]
    kept.plan(CAMPAIGN, waiting)
    strict = evaluator("core", name="strict", version=2)
    kept.join(CAMPAIGN, (CORE, evaluator("outcome", judgings=2), strict))
    asyncio.run(kept.save_failure(evaluation(several[0], CORE, 0).identity, "rate", "once"))
    begun = evaluation(several[3], strict, 0)
    asyncio.run(kept.get_or_create_evaluation(begun))
    asyncio.run(kept.save_failure(begun.identity, "rate", "the endpoint is down"))
    return kept


def test_summaries_say_what_the_rows_say(store: Store) -> None:
    whole = [
        each._replace(
            evaluations=tuple(own._replace(evidence=(), ratings=()) for own in each.evaluations)
        )
        for each in store.results(CAMPAIGN)
    ]
    assert any(own.scores.said for each in whole for own in each.evaluations)
    assert list(store.results(CAMPAIGN, whole=False)) == whole


def test_the_database_counts_what_the_results_count(store: Store) -> None:
    summary = summarise(store, CAMPAIGN)
    counted = store.counts(CAMPAIGN)
    assert counted == summary.counts
    assert counted.conversations == (6, 4, 1)
    assert counted.evaluations["strict"] == (6, 0, 1)


def test_summaries_are_made_again_to_the_digit(store: Store) -> None:
    assert store.summarise()._replace(summaries=0) == (0, 0, 0)
    before = summarise(store, CAMPAIGN).systems_json()
    with sqlite3.connect(file_of(store)) as connection:
        connection.execute("DELETE FROM summary WHERE stage = 'rate'")
        connection.execute("UPDATE summary SET body = '[]' WHERE stage = 'converse'")
    assert store.summarise()[1:] == (4, 4)
    assert summarise(store, CAMPAIGN).systems_json() == before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE summary SET body = replace(body, '50.0', '99.0')", "was changed"),
        ("UPDATE summary SET seal = x'00'", "was changed"),
        ("UPDATE summary SET stage_seal = x'00'", "has no summary that fits it: .* summarise"),
        ("DELETE FROM summary", "has no summary that fits it: .* summarise"),
    ],
)
def test_an_altered_summary_is_named(store: Store, change: str, said: str) -> None:
    with sqlite3.connect(file_of(store)) as connection:
        connection.execute(f"{change} WHERE stage = 'debate'")
    with pytest.raises(StoreError, match=f"stage debate of .* {said}"):
        summarise(store, CAMPAIGN)
    found = store.verify().problems
    assert found
    assert all("stage debate of" in each for each in found)


def test_conversations_of_another_system_are_named(store: Store) -> None:
    with sqlite3.connect(file_of(store)) as connection:
        connection.execute("UPDATE conversation SET system = 'other'")
    with pytest.raises(StoreError, match=r"conversation \w+ in the store was changed"):
        summarise(store, CAMPAIGN)


def test_the_summary_of_a_stage_that_was_removed_gives_way(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "runs.db")) as store:
        (conversation,) = values.begun(store)
        for _ in range(2):
            values.alter(store, "DELETE FROM log")
            values.alter(store, "DELETE FROM stage")
            asyncio.run(store.save_log(conversation, values.log()))
        assert [each.log for each in store.results(values.CAMPAIGN, whole=False)] == [
            values.log().id
        ]
