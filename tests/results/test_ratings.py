"""The frame of ratings and its means, against a computation by hand."""

import asyncio
import math
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from recjury.records import (
    ConversationLog,
    ItemRef,
    Rating,
    Scenario,
    Status,
    Turn,
)
from recjury.results import means, ratings, scores, summary
from recjury.store import PlannedConversation, PlannedEvaluator, Store
from tests.results.filled import fill

FACTOR = {"name": "coherence", "title": "Coherence", "low": 0, "high": 4}


def evaluator(id_: str, name: str = "rubric") -> PlannedEvaluator:
    return PlannedEvaluator(id_, "rubric", name, {}, [FACTOR], 1)


def conversation(number: int, system: str, version: str, scenario: str) -> PlannedConversation:
    return PlannedConversation(
        f"{system}{version}{scenario}", number, system, version, "llm", "u", "c", scenario, 0
    )


def log(ending: str = "round limit", text: str = "Hello.") -> ConversationLog:
    return ConversationLog.model_validate(
        {
            "scenario": Scenario(id="s", targets=(ItemRef(id="1", name="Heat"),)),
            "interaction": (Turn(speaker="system", text=text),),
            "ending": ending,
        }
    )


def rate(store: Store, conversation: str, *ratings: Rating, evaluator: str = "e1") -> None:
    asyncio.run(store.save_log(conversation, log(), play="p", seconds=(0.5,)))
    asyncio.run(store.save_evaluation(conversation, evaluator, 0, ratings, tries=0))


def rating(score: float | None, rater: str = "main", turn: int | None = None) -> Rating:
    status = Status.OK if score is not None else Status.UNREADABLE
    return Rating(metric="coherence", rater=rater, score=score, status=status, turn=turn)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "s.db") as opened:
        yield opened


def start(store: Store, *rows: PlannedConversation, evaluators: str = "e1") -> int:
    run = store.start("c", {}, {})
    store.plan(run, rows, [evaluator(evaluators)])
    store.end(run, "finished")
    return run


def test_means_with_coverage(store: Store) -> None:
    """Two judges: a trial where one has no score has none, and a failed one counts as lacking."""
    rows = [conversation(n, "a", "1", f"s{n}") for n in range(4)]
    start(store, *rows)
    rate(store, rows[0].conversation, rating(4), rating(2, "other"))
    rate(store, rows[1].conversation, rating(1), rating(1, "other"))
    rate(store, rows[2].conversation, rating(None), rating(4, "other"))
    failed = store.save_log(rows[3].conversation, log("system failed"), play="p", seconds=())
    asyncio.run(failed)
    frame = ratings(store, "c")
    assert set(frame["status"]) == {"ok", "unreadable", "system failed"}
    (row,) = means(scores(frame)).to_dict("records")
    assert row["metric"] == "rubric.coherence"
    assert row["mean"] == pytest.approx((3 + 1) / 2)
    assert row["n"] == 2
    assert row["coverage"] == 0.5
    assert 1 <= row["low"] <= row["mean"] <= row["high"] <= 3


def test_a_turn_metric_is_the_mean_of_its_turns(store: Store) -> None:
    row = conversation(0, "a", "1", "s0")
    start(store, row)
    rate(store, row.conversation, rating(4, turn=1), rating(1, turn=3))
    assert scores(ratings(store, "c"))["rubric.coherence"].to_list() == [2.5]


def test_tables_show_the_newest_version(store: Store) -> None:
    """A changed system is a new version; one that the last run left out stays."""
    old, same = conversation(0, "a", "1", "s0"), conversation(1, "b", "1", "s0")
    start(store, old, same)
    rate(store, old.conversation, rating(1))
    rate(store, same.conversation, rating(2))
    new = conversation(0, "a", "2", "s0")
    start(store, new)
    rate(store, new.conversation, rating(3))
    by_system = means(scores(ratings(store, "c"))).set_index("system")["mean"]
    assert by_system.to_dict() == {"a": 3.0, "b": 2.0}
    assert len(ratings(store, "c", all_versions=True)) == 3


def test_a_changed_evaluator_replaces_the_old_one(store: Store) -> None:
    row = conversation(0, "a", "1", "s0")
    start(store, row)
    rate(store, row.conversation, rating(1))
    start(store, row, evaluators="e2")
    asyncio.run(store.save_evaluation(row.conversation, "e2", 0, [rating(4)], tries=0))
    assert means(scores(ratings(store, "c")))["mean"].to_list() == [4.0]


def test_a_campaign_without_scores(store: Store) -> None:
    start(store, conversation(0, "a", "1", "s0"))
    frame = ratings(store, "c")
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == 0
    assert len(means(scores(frame))) == 0


def test_nothing_is_scored(store: Store) -> None:
    row = conversation(0, "a", "1", "s0")
    start(store, row)
    rate(store, row.conversation, rating(None))
    (found,) = means(scores(ratings(store, "c"))).to_dict("records")
    assert math.isnan(found["mean"])
    assert found["n"] == 0


def test_a_new_version_is_not_mixed_with_what_it_has_not_played_yet(store: Store) -> None:
    old = [conversation(n, "a", "1", f"s{n}") for n in range(2)]
    start(store, *old)
    for row in old:
        rate(store, row.conversation, rating(1))
    new = [conversation(n, "a", "2", f"s{n}") for n in range(2)]
    start(store, *new)
    rate(store, new[0].conversation, rating(4))
    assert means(scores(ratings(store, "c"))).set_index("metric")["mean"]["rubric.coherence"] == 4.0


def test_the_mean_of_factors_is_none_where_one_failed(store: Store) -> None:
    row = conversation(0, "a", "1", "s0")
    core = PlannedEvaluator("e1", "core", "core", {}, [FACTOR], 1)
    store.plan(store.start("c", {}, {}), [row], [core])
    failed = Rating(metric="novelty", rater="main", status=Status.UNREADABLE, reason="no number")
    rate(store, row.conversation, rating(4), failed)
    assert means(scores(ratings(store, "c"))).set_index("metric")["n"]["core.mean"] == 0


def test_status_counts_the_newest_versions(store: Store) -> None:
    """A new version that met two of six scenarios has two conversations, as in the means."""
    fill(store, {"mine": {"overall": [1.0] * 6}}, version="one")
    fill(store, {"mine": {"overall": [2.0] * 2}}, version="two")
    counts = store.counts("films")
    assert counts.conversations == {"done": 2}
    assert counts.evaluations == {"core": {"planned": 0, "done": 2}}
    assert summary(store).data["systems"]["mine"]["core.overall"]["n"] == 2
    assert len(store.played("films")) == 2
