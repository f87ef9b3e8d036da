"""The counts that are kept of campaigns are those of its rows, whatever is written, and when."""

import asyncio
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from recjury.errors import StoreError
from recjury.records import StageResult, digest
from recjury.results import summarise
from recjury.store import Store, kept_counts
from recjury.store.kept_counts import check_counts, count_page, forget_counts
from recjury.store.merging import merge_stores
from tests.postgres_server import PostgresServer
from tests.store import values

CORE = values.evaluator()
OTHER = values.evaluator(version=2, name="strict", stages=("rate",))
ALL = tuple(map(values.conversation, range(4)))
FIRST, SECOND = values.CAMPAIGN, digest("second")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Two campaigns that share four conversations, of which none was held."""
    with Store.open(str(tmp_path / "runs.db")) as kept:
        _begin(kept)
        yield kept


def _begin(store: Store) -> None:
    for name, evaluators in (("first", (CORE,)), ("second", (CORE, OTHER))):
        store.begin(values.campaign(name))
        store.join(digest(name), evaluators)
        store.plan(digest(name), ALL)


async def _hold(store: Store, number: int, said: int | None = None) -> None:
    """Hold a conversation; `said` is the number of its log, if it is that of another one."""
    await store.save_log(ALL[number].id, values.log(number if said is None else said))


async def _judge(store: Store, number: int, *stages: str, again: bool = False) -> None:
    planned, result = values.evaluation(number=number), StageResult(values.ratings())
    if again:
        await store.save_attempt(planned, dict.fromkeys(stages, result))
        return
    for stage in stages:
        await store.save_stage(planned, stage, result)


async def _written(store: Store) -> None:
    """Every kind of write, one after the other; the counts are right after each."""
    evaluation = values.evaluation(number=1).identity
    for write in (
        store.save_failure(ALL[0].id, "converse", "it broke"),
        _hold(store, 0),
        store.save_failure(ALL[1].id, "converse", "it broke"),
        store.save_failure(ALL[1].id, "converse", "it broke again"),
        _judge(store, 0, "rate"),
        _judge(store, 0, "rate", "debate"),
        _hold(store, 3, said=0),  # what judged the log counts for this conversation, too
        _judge(store, 0, "rate", again=True),
        _judge(store, 0, "rate", "debate", again=True),
        _hold(store, 1),
        _judge(store, 1, "rate"),
        store.save_failure(evaluation, "debate", "it broke"),
        _judge(store, 1, "debate"),
        store.get_or_create_evaluation(values.evaluation(OTHER, 1)),
        store.save_stage(values.evaluation(OTHER, 1), "rate", StageResult(values.ratings())),
    ):
        await write
        _check(store)


def _check(store: Store) -> None:
    problems: list[StoreError] = []
    store.read(lambda connection: check_counts(connection, problems.append))
    assert problems == []
    for campaign in (FIRST, SECOND):
        assert store.counts(campaign) == summarise(store, campaign).counts


def test_counts_follow_every_write(store: Store) -> None:
    asyncio.run(_written(store))
    assert store.counts(FIRST).conversations == (4, 3, 0)
    assert store.counts(FIRST).evaluations == {"core": (4, 3, 0)}


@pytest.mark.slow
def test_counts_follow_every_write_in_postgresql(postgres: PostgresServer) -> None:
    with Store.open(postgres.create("counts")) as kept:
        _begin(kept)
        asyncio.run(_written(kept))


def test_other_evaluators_and_another_plan_are_counted(store: Store) -> None:
    asyncio.run(_written(store))
    store.join(SECOND, (CORE.model_copy(update={"judgings": 2}),))
    _check(store)
    assert store.counts(SECOND).evaluations == {"core": (8, 3, 0), "strict": (4, 1, 0)}
    replaced = ALL[0].model_copy(update={"id": digest("new version"), "seed": 7})
    assert store.plan(FIRST, (replaced, *ALL[1:])) == 1
    _check(store)
    assert store.counts(FIRST).conversations == (4, 2, 0)
    assert store.counts(SECOND).conversations == (4, 3, 0)


def test_counts_are_right_while_they_are_made_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_counts, "_PAGE", 1)
    store.write(forget_counts)
    for number in range(len(ALL)):
        for campaign in (FIRST, SECOND):
            assert store.write(partial(count_page, campaign=campaign))
        asyncio.run(_hold(store, number))
        asyncio.run(_judge(store, number, "rate", "debate"))
        _check(store)
    store.count()
    _check(store)
    assert store.counts(FIRST).evaluations == {"core": (4, 4, 0)}


def test_a_merge_counts_again_even_if_it_was_killed(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(_hold(store, 1))
    with Store.open(str(tmp_path / "other.db")) as other:
        _begin(other)
        asyncio.run(_written(other))

    def killed(_: Store) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Store, "count", killed)
    with pytest.raises(KeyboardInterrupt):
        merge_stores([str(tmp_path / "other.db")], str(values.file_of(store)))
    monkeypatch.undo()
    _check(store)
    merge_stores([str(tmp_path / "other.db")], str(values.file_of(store)))
    _check(store)
    assert store.counts(FIRST).conversations == (4, 3, 0)


def test_two_processes_that_write_at_once_are_counted(store: Store) -> None:
    def write() -> None:
        with Store.open(str(values.file_of(store))) as own:
            for number in range(len(ALL)):
                asyncio.run(_hold(own, number))
                asyncio.run(_judge(own, number, "rate", "debate"))

    writers = [threading.Thread(target=write) for _ in range(2)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    _check(store)
    assert store.counts(FIRST) == ((4, 4, 0), {"core": (4, 4, 0)})


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE unit_count SET done = done + 1 WHERE part = 'converse'",
        "UPDATE unit_count SET upto = 'f' WHERE part = 'converse'",
        "DELETE FROM unit_count WHERE part = 'converse'",
        "DELETE FROM failure",
    ],
)
def test_a_false_count_is_found_and_made_again(store: Store, change: str) -> None:
    asyncio.run(store.save_failure(ALL[1].id, "converse", "it broke"))
    values.alter(store, change)
    found = store.verify().problems
    assert found
    assert all("what is counted of campaign" in each for each in found)
    store.summarise()
    assert store.verify().problems == ()
    _check(store)
