"""Calls and texts: recorded once, recalled, and read back byte for byte."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from recjury.errors import StoreError
from recjury.records import CallRecord, Reply
from recjury.store import Store
from tests.store import values
from tests.store.values import NASTY


def _record(store: Store, *calls: CallRecord) -> None:
    async def record() -> None:
        async with store.recorder() as recorder:
            await asyncio.gather(*map(recorder.record, calls))

    asyncio.run(record())


def _recall(store: Store, identity: str) -> Reply | None:
    async def recall() -> Reply | None:
        async with store.recorder() as recorder:
            return await recorder.recall(identity)

    return asyncio.run(recall())


def _count(store: Store, query: str) -> int:
    connection = sqlite3.connect(values.file_of(store))
    try:
        return int(connection.execute(query).fetchone()[0])
    finally:
        connection.close()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return Store.open(f"sqlite:///{tmp_path}/runs.db")


@pytest.mark.parametrize(
    "call", [values.call(4), values.call_of_several(4), values.call_with_reasoning(4)]
)
def test_a_call_comes_back_as_it_was_recorded(store: Store, call: CallRecord) -> None:
    with store:
        _record(store, call)
        assert store.call(call.identity) == call


@pytest.mark.parametrize("waited", [None, 0.0, 2.5])
def test_a_wait_of_no_time_differs_from_an_unknown_one(store: Store, waited: float | None) -> None:
    plain = values.call(4)
    call = plain._replace(reply=plain.reply._replace(waited=waited))
    with store:
        _record(store, call)
        assert store.call(call.identity) == call


@pytest.mark.parametrize(
    "text", ["", NASTY, "\ud83c half a pair", "ä" * 5000, "\x00", "x" * 1023, "x" * 1024]
)
def test_any_text_comes_back_byte_for_byte(store: Store, text: str) -> None:
    with store:
        call = values.call(1, parts=(text, "between", text), reply=text)
        _record(store, call)
        assert store.call(call.identity) == call


def test_a_recalled_reply_is_marked_as_reused(store: Store) -> None:
    with store:
        call = values.call(1)
        _record(store, call)
        reply = _recall(store, call.identity)
        assert reply is not None
        assert reply.reused
        assert (reply.text, reply.usage) == (call.reply.text, call.reply.usage)
        assert _recall(store, values.identity(2)) is None


def test_what_is_recorded_meanwhile_is_recalled_at_once(tmp_path: Path) -> None:
    own, others = values.call(4), values.call(5)
    url = f"sqlite:///{tmp_path}/runs.db"

    async def run(one: Store, other: Store) -> list[Reply | None]:
        async with one.recorder() as recorder, other.recorder() as second:
            found = [await recorder.recall(each.identity) for each in (own, others)]
            await recorder.record(own)
            found.append(await recorder.recall(own.identity))
            await second.record(others)
            found.append(await recorder.recall(others.identity))
            return found

    with Store.open(url) as one, Store.open(url) as other:
        *before, mine, theirs = asyncio.run(run(one, other))
    assert before == [None, None]
    assert mine == own.reply._replace(reused=True)
    assert theirs == others.reply._replace(reused=True)


def test_texts_that_recur_are_stored_once_across_batches_and_runs(tmp_path: Path) -> None:
    parts = ("the rubric " * 50, "the log " * 200)
    for run in range(2):
        with Store.open(f"sqlite:///{tmp_path}/runs.db") as store:
            for batch in range(3):
                numbers = range(100 * run + 10 * batch, 100 * run + 10 * batch + 10)
                _record(store, *(values.call(number, parts) for number in numbers))
    with Store.open(f"sqlite:///{tmp_path}/runs.db") as store:
        assert _count(store, "SELECT count(*) FROM call") == 60
        # system, two parts, parameters, reply, log-probabilities
        assert _count(store, "SELECT count(*) FROM text") == 6
        assert store.call(values.identity(125)) == values.call(125, parts)


def test_of_two_replies_to_one_identity_the_first_stays(store: Store) -> None:
    with store:
        _record(store, values.call(1, reply="first"))
        _record(store, values.call(1, reply="second"))
        assert store.call(values.identity(1)).reply.text == "first"


def test_long_texts_are_compressed_and_sqlite_tells_which(store: Store) -> None:
    with store:
        _record(store, values.call(1, parts=("long and dull " * 500, "short")))
        assert _count(store, "SELECT count(*) FROM text WHERE length(body) < size") == 1
        assert _count(store, "SELECT max(length(body)) FROM text") < 700


def test_the_twelve_prompts_of_a_dialogue_take_a_fraction_of_their_size(store: Store) -> None:
    log = " ".join(f"word{number * 7919 % 10007}" for number in range(400))
    rubrics = [f"rubric {factor}: " + "criteria " * 60 for factor in range(12)]

    def record(dialogue: int) -> None:
        parts = [(rubric, f"dialogue {dialogue}: {log}") for rubric in rubrics]
        numbers = range(12 * dialogue, 12 * dialogue + 12)
        _record(store, *(values.call(n, p) for n, p in zip(numbers, parts, strict=True)))

    def size() -> int:
        return _count(store, "SELECT page_count * 4096 FROM pragma_page_count")

    with store:
        record(0)
        before = size()
        for dialogue in range(1, 21):
            record(dialogue)
        written_out = 12 * (len(log) + len(rubrics[0]))
        assert (size() - before) / 20 < written_out / 8


def test_calls_are_listed_in_order_and_by_campaign(store: Store) -> None:
    with store:
        values.begun(store)
        stranger = values.call(3)._replace(unit="f" * 32)
        _record(store, values.call(1), values.call(2))
        _record(store, stranger)
        ours = [call.identity for call in store.calls(values.CAMPAIGN)]
        assert ours == [values.identity(1), values.identity(2)]
        assert [call.unit for call in store.calls()][-1] == "f" * 32
        assert store.spent(values.CAMPAIGN).cost == 0.5


def test_calls_for_a_campaign_itself_are_its_calls(store: Store) -> None:
    """As those of an optimisation of instructions are, which has no conversations."""
    own = values.CAMPAIGN
    with store:
        values.begun(store)
        _record(store, values.call(1), values.call(2)._replace(unit=own))
        _record(store, values.call(3)._replace(unit=None))
        assert [call.identity for call in store.calls(own)] == [
            values.identity(1),
            values.identity(2),
        ]
        assert store.spent(own)[0] == 2
        assert store.spent(own).cost == 0.5


def test_calls_for_evaluations_are_the_campaigns_from_their_first_on(store: Store) -> None:
    planned = values.evaluation()
    with store:
        (conversation,) = values.begun(store)
        _record(store, values.call(1)._replace(unit=planned.identity))
        assert store.spent(values.CAMPAIGN).calls == 0
        asyncio.run(store.save_log(conversation, values.log()))
        asyncio.run(store.get_or_create_evaluation(planned))
        assert store.spent(values.CAMPAIGN) == (1, 10, 2, 0.25, 0)
        assert [call.unit for call in store.calls(values.CAMPAIGN)] == [planned.identity]


def test_what_a_call_costs_is_unknown_where_the_price_is(store: Store) -> None:
    call = values.call(1)
    usage = call.reply.usage._replace(cost=None)
    free = call._replace(reply=call.reply._replace(usage=usage))
    with store:
        values.begun(store)
        _record(store, free, values.call(2))
        assert store.call(call.identity) == free
        assert store.spent(values.CAMPAIGN) == (2, 20, 4, None, 0)


def test_a_missing_call_is_said_to_be_missing(store: Store) -> None:
    with store, pytest.raises(StoreError, match=f"call {values.identity(9)} is not in the store"):
        store.call(values.identity(9))


def test_calls_whose_tokens_are_estimated_are_counted(store: Store) -> None:
    call = values.call(1)
    usage = call.reply.usage._replace(estimated=True)
    marked = call._replace(reply=call.reply._replace(usage=usage))
    with store:
        values.begun(store)
        _record(store, marked, values.call(2))
        assert store.spent(values.CAMPAIGN).estimated == 1


def test_a_call_with_several_replies_is_read_as_written(store: Store) -> None:
    async def keep() -> None:
        async with store.recorder() as recorder:
            await recorder.record(values.call_of_several())
            recalled = await recorder.recall(values.identity(2))
            assert recalled is not None
            assert [reply.text for reply in recalled.each()] == ["3", "4", "so", "3"]
            assert recalled.each()[2].finish_reason == "length"

    with store:
        asyncio.run(keep())
        assert store.call(values.identity(2)) == values.call_of_several()
