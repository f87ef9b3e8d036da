"""Usage that an endpoint does not report is estimated, marked, and counted against the budget."""

import asyncio

import pytest

from recjury.errors import BudgetSpent
from recjury.llm import BudgetSpec, Completion, EndpointSpec, Gateway, ScriptedModel
from recjury.llm.call_tokens import estimated_tokens, with_missing_usage, worst_tokens
from recjury.records import Choice
from tests.endpoint import Body, ScriptedEndpoint, completion
from tests.llm.doubles import MemoryRecorder, request

SPEC = EndpointSpec(base_url="http://127.0.0.1:1/v1", name="m", max_tokens=50)


def test_a_token_is_three_bytes() -> None:
    assert estimated_tokens("abcdef", "g") == 3
    assert estimated_tokens("电影") == 2
    assert estimated_tokens("") == 0
    assert estimated_tokens("\ud83d") == 1


def test_no_estimate_exceeds_the_most_that_was_reserved() -> None:
    for text in ("x" * 1000, "电影" * 1000, "фильм" * 1000):
        asked = request(text)
        found, _ = with_missing_usage(Completion("好" * 900), asked, SPEC)
        worst = worst_tokens(asked, SPEC)
        assert (found.prompt_tokens, found.completion_tokens) <= worst
        assert found.completion_tokens == 50


@pytest.mark.parametrize(
    ("given", "counted", "estimated"),
    [
        (Completion("abc"), (2, 1), True),
        (Completion("abc", prompt_tokens=7), (7, 1), True),
        (Completion("abc", completion_tokens=7), (2, 7), True),
        (Completion("abc", prompt_tokens=7, completion_tokens=8), (7, 8), False),
        (Completion("", prompt_tokens=7), (7, 0), False),
        (Completion("a", reasoning="bcdef", prompt_tokens=7), (7, 2), True),
        (Completion("a", further=(Choice("bcd", "stop", "ef"),), prompt_tokens=7), (7, 2), True),
    ],
)
def test_only_what_is_missing_is_estimated(
    given: Completion, counted: tuple[int, int], estimated: bool
) -> None:
    found, marked = with_missing_usage(given, request("abcdef"), SPEC)
    assert (found.prompt_tokens, found.completion_tokens) == counted
    assert marked == estimated


def test_vectors_are_not_taken_for_text() -> None:
    embedder = SPEC.model_copy(update={"embedding": True})
    found, estimated = with_missing_usage(Completion("AAAA" * 99), request("abcdef"), embedder)
    assert (found.prompt_tokens, found.completion_tokens, estimated) == (2, 0, True)


@pytest.mark.parametrize("usage", ["absent", None, {}, {"prompt_tokens": None}, "0"])
def test_a_budget_holds_over_an_endpoint_that_reports_nothing(usage: object) -> None:
    def answer(body: Body) -> Body:
        found = completion("word " * 30)
        found["usage"] = usage
        if usage == "absent":
            del found["usage"]
        return found

    recorder = MemoryRecorder()

    async def run(url: str) -> int:
        spec = EndpointSpec(base_url=url, name="scripted", max_tokens=60)
        async with Gateway({"m": spec}, recorder, budget=BudgetSpec(tokens=1000)) as gateway:
            for number in range(100):
                try:
                    await gateway.complete(request(f"{number:03}" * 20))
                except BudgetSpent:
                    usage = gateway.usage
                    assert usage.estimated == usage.calls == number
                    return usage.prompt_tokens + usage.completion_tokens
        raise AssertionError("the budget did not end")

    with ScriptedEndpoint(answer) as endpoint:
        assert 900 < asyncio.run(run(endpoint.url)) <= 1000
    assert all(call.reply.usage.estimated for call in recorder.calls.values())


def test_what_is_reported_is_not_marked() -> None:
    said = Completion("x", prompt_tokens=10, completion_tokens=90)

    async def run() -> bool:
        providers = {"m": ScriptedModel([said])}
        async with Gateway({"m": SPEC}, MemoryRecorder(), providers=providers) as gateway:
            reply = await gateway.complete(request())
            return reply.usage.estimated or gateway.usage.estimated > 0

    assert not asyncio.run(run())
