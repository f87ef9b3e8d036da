import asyncio

import pytest

from recjury.records import Completion, Unit
from recjury.store import Store
from tests.store.samples import UNIT, reply, request

pytestmark = pytest.mark.anyio

FULL = Completion(
    "text",
    call="k1",
    code="a1b2",
    finish="length",
    thoughts="hm",
    logprobs=({"token": "3", "logprob": -0.1},),
    tokens_in=5,
    tokens_out=1,
    cost=0.01,
    served="gpt-x",
    dialect="no-temperature",
)


async def test_a_recorded_completion_is_recalled_with_all_that_is_known(store: Store) -> None:
    assert await store.record([FULL], request("Rate this."), "main", UNIT) == {"k1": FULL}
    found = await store.recall(["k1", "k2"])
    assert found.keys() == {"k1"}
    assert found["k1"].reused
    assert {**vars_of(found["k1"]), "reused": False} == vars_of(FULL)


def vars_of(completion: Completion) -> dict[str, object]:
    return {name: getattr(completion, name) for name in Completion.__slots__}


async def test_the_first_completion_of_a_call_stays(store: Store) -> None:
    await store.record([reply("k1", "first")], request("?"), "main", UNIT)
    stored = await store.record(
        [reply("k1", "second"), reply("k2", "new")], request("?"), "main", UNIT
    )
    assert {call: each.text for call, each in stored.items()} == {"k1": "first", "k2": "new"}


async def test_many_calls_at_once_are_all_there(store: Store) -> None:
    await asyncio.gather(
        *(store.record([reply(f"k{n}", f"r{n}")], request("?"), "main", UNIT) for n in range(500))
    )
    found = await store.recall([f"k{n}" for n in range(500)])
    assert [found[f"k{n}"].text for n in range(500)] == [f"r{n}" for n in range(500)]


@pytest.mark.parametrize(
    "text",
    ["", "é\u2028ü", "a\0b", "half \ud83d", "\U0010ffff000000", "\x1f<rating>", "x" * 100_000],
    ids=["empty", "separators", "nul", "surrogate", "mark", "control", "long"],
)
async def test_any_text_comes_back_as_it_was_said(store: Store, text: str) -> None:
    given = Completion(text, call="k1", thoughts=text, served=text)
    await store.record([given], request(text, "b"), "main", Unit("films", text))
    found = (await store.recall(["k1"]))["k1"]
    assert (found.text, found.thoughts, found.served) == (text, text, text)
    (row,) = store.calls(["k1"])
    assert (row.prompt[1].parts, row.conversation) == ((text, "b"), text)
    assert row.completion == found
    assert store.check() == []


async def test_a_store_below_is_read_and_not_written() -> None:
    with Store() as below, Store(below=below) as above:
        await below.record([reply("k1", "below")], request("?"), "main", UNIT)
        await above.record([reply("k2", "above")], request("?"), "main", UNIT)
        found = await above.recall(["k1", "k2", "k3"])
        assert {call: each.text for call, each in found.items()} == {"k1": "below", "k2": "above"}
        assert (await below.recall(["k2"])) == {}


async def test_calls_are_shown_in_the_order_asked_for(store: Store) -> None:
    for call in ("k1", "k2"):
        await store.record([reply(call)], request("Rate", " this."), "main", UNIT)
    rows = store.calls(["k2", "missing", "k1"])
    assert [row.completion.call for row in rows] == ["k2", "k1"]
    assert [message.text for message in rows[0].prompt] == ["You are a judge.", "Rate this."]
    assert (rows[0].model, rows[0].purpose, rows[0].campaign) == ("main", "judge", "films")


async def test_what_calls_cost_is_summed_by_campaign(store: Store) -> None:
    await store.record([reply("k1"), reply("k2", cost=None)], request("?"), "main", UNIT)
    await store.record([reply("k3")], request("?"), "main", Unit("other"))
    spent = store.spent("films")
    assert (spent.dollars, spent.tokens_in, spent.tokens_out) == (0.25, 80, 18)
    assert (spent.calls, spent.unpriced) == (2, 1)
    assert store.spent("nothing").calls == 0


async def test_prompts_are_measured_in_characters(store: Store) -> None:
    await store.record([reply("k1")], request("Rate", " thís."), "main", UNIT)
    (size,) = store.call_sizes("films")
    assert (size.call, size.model, size.tokens_in, size.characters) == ("k1", "main", 40, 26)
