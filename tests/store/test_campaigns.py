from pathlib import Path

import pytest

from recjury.errors import UserError
from recjury.records import Rating, Status
from recjury.store import Store, TodoEvaluation
from tests.store.samples import (
    CORE,
    OUTCOME,
    PLAN,
    debate,
    planned,
    play,
    rating,
    started,
    talk,
)

pytestmark = pytest.mark.anyio

ALL = (("e-core", 0), ("e-core", 1), ("e-outcome", 0))


def left(store: Store, run: int, *, retry_failed: bool = True) -> dict[str, list[tuple[str, int]]]:
    return {
        todo.conversation: [(each.evaluator, each.judging) for each in todo.evaluations]
        for todo in store.todo(run, retry_failed=retry_failed)
    }


async def rate(store: Store, conversation: str, *, tries: int = 0, score: float | None = 1) -> None:
    for evaluator, judging in ALL:
        await store.save_evaluation(
            conversation, evaluator, judging, [rating(score=score)], tries=tries
        )


async def test_all_of_a_new_plan_is_left_in_its_order(store: Store) -> None:
    run = started(store)
    assert list(left(store, run).items()) == [(each.conversation, list(ALL)) for each in PLAN]
    assert {todo.state for todo in store.todo(run)} == {"planned"}


async def test_what_is_finished_is_not_left(store: Store) -> None:
    run = started(store)
    await play(store, "a1", "b1")
    await rate(store, "a1")
    await store.save_evaluation("b1", "e-core", 1, [rating()], tries=0)
    assert left(store, run) == {
        "b1": [("e-core", 0), ("e-outcome", 0)],
        "a2": list(ALL),
        "b2": list(ALL),
    }


async def test_a_campaign_without_evaluators_only_plays(store: Store) -> None:
    run = started(store, evaluators=())
    await play(store, "a1", "b1", "a2")
    assert left(store, run) == {"b2": []}


async def test_a_conversation_that_the_system_failed_is_played_again(store: Store) -> None:
    run = started(store, PLAN[:1])
    failed = talk(ending="system failed", failure="HTTP 500")
    await store.save_log("a1", failed, play="p1", seconds=[])
    assert await store.log("a1") is None
    assert [todo.state for todo in store.todo(run)] == ["failed"]
    assert [*store.todo(run, retry_failed=False)] == []
    assert store.conversation("a1").reason == "HTTP 500"
    await play(store, "a1")
    assert await store.log("a1") == talk()


async def test_the_first_finished_log_of_a_conversation_stays(store: Store) -> None:
    started(store)
    await play(store, "a1")
    await store.save_log("a1", talk("Another."), play="later", seconds=[])
    assert await store.log("a1") == talk()
    assert store.conversation("a1").play == "play of a1"


async def test_a_conversation_whose_user_could_not_speak_stays_planned(store: Store) -> None:
    run = started(store, PLAN[:1])
    await store.save_failure("a1", "it says nothing", tries=1)
    (todo,) = store.todo(run, retry_failed=False)
    assert (todo.state, todo.tries, store.conversation("a1").reason) == (
        "planned",
        1,
        "it says nothing",
    )


@pytest.mark.parametrize(
    ("status", "tries"), [(Status.UNREADABLE, 3), (Status.CALL_FAILED, 2)], ids=str
)
async def test_only_what_was_unreadable_is_given_more_attempts(
    store: Store, status: Status, tries: int
) -> None:
    run = started(store, PLAN[:1], [OUTCOME])
    await play(store, "a1")
    open_ = Rating(metric="success", rater="judge", status=status, reason="r")
    await store.save_evaluation("a1", "e-outcome", 0, [rating("other"), open_], tries=2)
    (todo,) = store.todo(run)
    assert todo.evaluations == (TodoEvaluation("e-outcome", 0, tries),)
    assert [*store.todo(run, retry_failed=False)] == []


@pytest.mark.parametrize("status", [Status.REFUSED, Status.NOT_APPLICABLE], ids=str)
async def test_what_would_end_the_same_again_is_done(store: Store, status: Status) -> None:
    run = started(store, PLAN[:1], [OUTCOME])
    await play(store, "a1")
    over = Rating(metric="success", rater="judge", status=status, reason="r")
    await store.save_evaluation("a1", "e-outcome", 0, [over], tries=0)
    assert [*store.todo(run)] == []


async def test_a_statement_without_a_reply_leaves_the_evaluation_incomplete(store: Store) -> None:
    run = started(store, PLAN[:1], [OUTCOME])
    await play(store, "a1")
    await store.save_evaluation("a1", "e-outcome", 0, [debate()], tries=0)
    assert next(store.todo(run)).evaluations == (TodoEvaluation("e-outcome", 0, 0),)


async def test_a_longer_plan_keeps_what_is_there(store: Store) -> None:
    first = started(store, PLAN[2:], [OUTCOME])
    await play(store, "a2")
    store.end(first, "finished")
    second = started(store)
    assert list(left(store, second)) == ["a1", "b1", "a2", "b2"]
    assert [*store.todo(second)][2].state == "done"
    assert [*store.todo(first)] == []


async def test_a_run_of_fewer_scenarios_has_only_those_to_do(store: Store) -> None:
    store.end(started(store), "finished")
    run = started(store, PLAN[:2])
    assert list(left(store, run)) == ["a1", "b1"]


async def test_names_are_those_of_the_last_run(store: Store) -> None:
    store.end(started(store), "finished")
    started(store, [PLAN[0]._replace(system="renamed")], [CORE._replace(name="jury")])
    assert store.conversation("a1").system == "renamed"
    await play(store, "a1")
    await store.save_evaluation("a1", "e-core", 0, [rating()], tries=0)
    assert [row.name for row in store.evaluations("films")] == ["jury"]


async def test_a_dry_run_has_to_do_what_the_real_store_lacks(store: Store) -> None:
    started(store, PLAN[:3])
    await play(store, "a1", "b1")
    await rate(store, "a1")
    await rate(store, "b1", score=None)
    await store.save_log("a2", talk(ending="system failed"), play="p", seconds=[])
    with Store(below=store) as memory:
        todo = [*memory.todo(started(memory))]
        found = {each.conversation: (each.state, each.evaluations) for each in todo}
        assert {state for state, _ in found.values()} == {"planned"}
        real = {each.conversation: each for each in store.without_done(todo)}
        kept = store.without_done(todo, retry_failed=False)
        assert await memory.log("a1") == talk()
    assert [(id_, each.state) for id_, each in real.items()] == [
        ("b1", "done"),
        ("a2", "failed"),
        ("b2", "planned"),
    ]
    assert {each.tries for each in real["b1"].evaluations} == {1}
    assert [each.conversation for each in kept] == ["b2"]


async def test_a_campaign_is_run_once_at_a_time(store: Store) -> None:
    first = started(store)
    with pytest.raises(UserError, match="films is being run by process"):
        store.start("films", {}, {})
    started(store, campaign="other")
    store.end(first, "stopped", "the budget is used up")
    second = store.start("films", {"name": "films", "repeats": 2}, {"recjury": "2"})
    third = store.start("films", {}, {}, take_over=True)
    runs = {run.id: run for run in store.runs("films")}
    assert list(runs) == [third, second, first]
    assert (runs[first].state, runs[first].reason) == ("stopped", "the budget is used up")
    assert (runs[second].state, runs[third].state) == ("interrupted", "running")
    store.end(second, "finished")
    assert store.runs("films")[1].state == "interrupted"


async def test_labels_of_fresh_systems_outlast_runs(store: Store) -> None:
    assert store.fresh("films") == {}
    store.set_fresh("films", {"a": "2026-01-01"})
    store.end(started(store), "finished")
    store.set_fresh("films", {"b": "2026-01-02"})
    assert store.fresh("films") == {"a": "2026-01-01", "b": "2026-01-02"}
    assert store.config("films") == {"name": "films"}


async def test_times_carry_their_offset(store: Store) -> None:
    run = started(store)
    await play(store, "a1")
    store.end(run, "finished")
    (row,) = store.runs("films")
    for time in (row.started_at, row.ended_at, store.conversation("a1").finished_at):
        assert time is not None
        assert time.endswith("+00:00")


async def test_the_newest_versions_are_counted(store: Store) -> None:
    """An older version of a system is not counted, even where the newer one was not planned."""
    store.end(started(store), "finished")
    await play(store, "a1", "b1")
    await rate(store, "a1", score=None)
    store.end(started(store, [planned("a9", 0, "v2")._replace(scenario="1")]), "finished")
    counts = store.counts("films")
    assert counts.conversations == {"done": 1, "planned": 2}
    assert counts.evaluations == {
        "core": {"planned": 2},
        "outcome": {"planned": 1},
    }


async def test_the_campaign_that_was_run_last_is_the_default(tmp_path: Path) -> None:
    with Store(tmp_path / "x.db") as store:
        with pytest.raises(UserError, match="no campaign"):
            store.campaign()
        store.end(started(store, campaign="films"), "finished")
        store.end(started(store, campaign="books"), "finished")
        store.end(started(store, campaign="films"), "finished")
        assert store.campaigns() == ["films", "books"]
        assert (store.campaign(), store.campaign("books")) == ("films", "books")
        with pytest.raises(UserError, match="did you mean films"):
            store.config("film")
