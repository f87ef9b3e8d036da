"""A budget stops a run before it is exceeded, and only where nothing open may leave room."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from recjury.errors import Stop
from recjury.llm import Budget, Dialect, Model, ScriptedModel
from recjury.llm.budget import Spent
from recjury.records import Completion, Message, Request, Unit
from tests.llm.doubles import gateway


def request(number: int) -> Request:
    return Request((Message("user", (f"Hello {number}.",)),), "user")


class Priced(ScriptedModel):
    """Each call costs 10 tokens and 10 cents, or says nothing of its cost."""

    def __init__(self, *, counts: bool = True):
        super().__init__(lambda request, code: "Hi.", delay=0.001)
        self._counts = counts

    async def ask(
        self, calls: Sequence[str], request: Request, code: str, dialect: Dialect
    ) -> list[Completion]:
        done = await super().ask(calls, request, code, dialect)
        if self._counts:
            return [replace(each, tokens_in=5, tokens_out=5, cost=0.1) for each in done]
        return [replace(each, tokens_in=None, tokens_out=None) for each in done]


@pytest.mark.parametrize("limits", [{"dollars": 1.0, "spent": 0.5}, {"tokens": 200}])
@pytest.mark.parametrize("counts", [True, False])
def test_what_fits_is_sent_and_the_rest_stops(limits: dict[str, Any], counts: bool) -> None:
    model, budget = Priced(counts=counts), Budget(**limits)

    async def run() -> list[object]:
        async with gateway(model, budget=budget, price_in=3000.0, price_out=3000.0) as opened:
            asked = (opened.draws(request(n), "main", Unit()) for n in range(30))
            return await asyncio.gather(*asked, return_exceptions=True)

    stops = [each for each in asyncio.run(run()) if isinstance(each, Stop)]
    assert 1 <= len(model.requests) < 30
    assert len(stops) == 30 - len(model.requests)
    assert "goes on" in str(stops[0])
    assert budget.spent.dollars <= 1.0 or "tokens" in limits
    assert budget.spent.tokens <= 200 or "dollars" in limits


def test_a_call_waits_while_an_open_one_may_leave_room() -> None:
    async def run() -> list[str]:
        budget, order = Budget(1.0), list[str]()

        async def call(name: str, cost: float) -> None:
            async with budget.reserve(Spent(0.9, 0)):
                order.append(name)
                await asyncio.sleep(0)
                budget.settle(Spent(cost, 0))

        await asyncio.gather(call("a", 0.05), call("b", 0.01))
        await call("c", 0.5)
        with pytest.raises(Stop):
            await call("d", 0.5)
        return order

    assert asyncio.run(run()) == ["a", "b", "c"]


def test_prices_are_the_models_own_or_those_of_published_lists() -> None:
    assert Model(name="m", price_in=2, price_out=10).cost(1000, 100) == pytest.approx(0.003)
    listed = Model(name="gpt-4o-mini").cost(1_000_000, 1_000_000)
    assert listed is not None
    assert listed > 0
    assert Model(name="gpt-4o-mini", base_url="http://127.0.0.1:1/v1").cost(1, 1) is None
    assert Model(name="no such model").cost(1, 1) is None
    assert Model(name="m", price_in=2, price_out=10).cost(None, 5) is None
