"""A budget stops a run before it is exceeded, and only where nothing open may leave room."""

import asyncio
from dataclasses import replace

import pytest

from recjury.errors import Stop, UserError
from recjury.llm import Budget, Model, ScriptedModel
from recjury.llm.budget import Spent
from recjury.records import Completion, Message, Request, Unit
from tests.llm.doubles import gateway


def request(number: int) -> Request:
    return Request((Message("user", (f"Hello {number}.",)),), "user")


class Priced(ScriptedModel):
    """Each call costs 10 tokens, or says nothing of its cost."""

    def __init__(self, *, counts: bool = True):
        super().__init__(lambda request, code: "Hi.", delay=0.001)
        self._cost = {"tokens_in": 5, "tokens_out": 5, "cost": 0.1} if counts else {}

    async def ask(self, *values: object) -> list[Completion]:  # type: ignore[override]
        done = await super().ask(*values)  # type: ignore[arg-type]
        known = self._cost or {"tokens_in": None, "tokens_out": None}
        return [replace(each, **known) for each in done]  # type: ignore[arg-type]


async def spend(budget: Budget, model: ScriptedModel, calls: int, **prices: float) -> list[object]:
    async with gateway(model, budget=budget, **prices) as opened:
        asked = (opened.draws(request(n), "main", Unit()) for n in range(calls))
        return await asyncio.gather(*asked, return_exceptions=True)


@pytest.mark.parametrize(
    ("budget", "prices"),
    [
        (Budget(1.0, 0.5), {"price_in": 1000.0, "price_out": 1000.0}),
        (Budget(tokens=200, spent_tokens=150), {}),
    ],
)
@pytest.mark.parametrize("counts", [True, False])
def test_what_fits_is_sent_and_the_rest_stops(
    budget: Budget, prices: dict[str, float], counts: bool
) -> None:
    model = Priced(counts=counts)
    results = asyncio.run(spend(budget, model, 30, **prices))
    stops = [each for each in results if isinstance(each, Stop)]
    assert 1 <= len(model.requests) <= 10
    assert len(stops) == 30 - len(model.requests)
    assert "goes on" in str(stops[0])
    assert budget.spent.dollars <= 1.0
    assert budget.spent.tokens <= 200


def test_a_call_waits_while_an_open_one_may_leave_room() -> None:
    async def run() -> list[str]:
        budget, order = Budget(1.0), []

        async def call(name: str, cost: float) -> None:
            async with budget.reserve(Spent(0.9, 0)):
                order.append(name)
                await asyncio.sleep(0)
                budget.settle(Spent(cost, 0))

        await asyncio.gather(call("a", 0.05), call("b", 0.01))
        with pytest.raises(Stop):
            await call("c", 0.5)
            await call("d", 0.5)
        return order

    assert asyncio.run(run()) == ["a", "b", "c"]


def test_an_unknown_price_is_said_before_the_first_call() -> None:
    async def run() -> None:
        async with gateway(ScriptedModel([]), budget=Budget(1.0), base_url="http://x/v1") as opened:
            with pytest.raises(UserError, match="price_in"):
                opened.line("main")

    asyncio.run(run())


def test_prices_are_the_models_own_or_those_of_published_lists() -> None:
    assert Model(name="m", price_in=2, price_out=10).cost(1000, 100) == pytest.approx(0.003)
    listed = Model(name="gpt-4o-mini").cost(1_000_000, 1_000_000)
    assert listed is not None
    assert listed > 0
    assert Model(name="gpt-4o-mini", base_url="http://127.0.0.1:1/v1").cost(1, 1) is None
    assert Model(name="no such model").cost(1, 1) is None
    assert Model(name="m", price_in=2, price_out=10).cost(None, 5) is None
