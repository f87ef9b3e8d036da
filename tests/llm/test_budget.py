"""Budgets, in dollars and in tokens: what they refuse, and what they let wait."""

import asyncio
import time
from collections.abc import Callable

import pytest
from pydantic import ValidationError

from recjury.errors import BudgetSpent, CallFailed, ConfigError
from recjury.llm import (
    BudgetSpec,
    Completion,
    EndpointSpec,
    Gateway,
    ScriptedModel,
    SpentBefore,
    parse_budget,
)
from recjury.llm.budget import Account, Budget, charged_to
from recjury.llm.call_tokens import ASSUMED_MAX_TOKENS, worst_tokens
from recjury.records import Elsewhere
from tests.llm.doubles import MemoryRecorder, request

SPEC = EndpointSpec(base_url="http://127.0.0.1:1/v1", name="m")
PRICED = SPEC.model_copy(update={"price_in": 1.0, "price_out": 10.0, "max_tokens": 100})
SHORT = SPEC.model_copy(update={"max_tokens": 100})
DOLLARS = BudgetSpec(dollars=10.0)


def gateway_of(
    model: ScriptedModel, spec: EndpointSpec, budget: BudgetSpec | float | None, **spent: float
) -> Gateway:
    """A gateway over one scripted model."""
    before = SpentBefore(**{k.removeprefix("spent_"): v for k, v in spent.items()})  # type: ignore[arg-type]
    return Gateway(
        {"m": spec}, MemoryRecorder(), budget=budget, spent=before, providers={"m": model}
    )


def test_the_worst_is_a_dense_prompt_and_the_longest_replies() -> None:
    assert worst_tokens(request("x" * 2001), SHORT) == (1001, 100)
    assert worst_tokens(request("x", max_tokens=7), SPEC) == (1, 7)
    assert worst_tokens(request("x", n=3), SPEC) == (1, 3 * ASSUMED_MAX_TOKENS)
    assert worst_tokens(request("x"), SHORT.model_copy(update={"embedding": True})) == (1, 0)


def test_the_worst_is_in_the_budgets_unit_at_the_dearer_price() -> None:
    asked = request("x" * 2000)
    expected = (1000 * 1 + 100 * 10) / 1e6
    assert Budget(DOLLARS).upper_bound(asked, PRICED) == pytest.approx(expected)
    dear = PRICED.model_copy(update={"price_cached": 3.0})
    assert Budget(DOLLARS).upper_bound(asked, dear) == pytest.approx(expected + 2000 / 1e6)
    assert Budget(BudgetSpec(tokens=1)).upper_bound(asked, SHORT) == 1100


def test_a_spent_budget_refuses_calls_but_not_reuse() -> None:
    reply = Completion("x", prompt_tokens=10, completion_tokens=90)
    cost = (10 + 900) / 1e6
    model = ScriptedModel(lambda r: reply)

    async def run() -> Gateway:
        gateway = gateway_of(model, PRICED, 0.002)
        for text in ("one", "two"):
            await gateway.complete(request(text))
        with pytest.raises(BudgetSpent, match=r"budget of 0\.002 USD: .* raise the budget"):
            await gateway.complete(request("three"))
        assert (await gateway.complete(request("one"))).reused
        return gateway

    gateway = asyncio.run(run())
    assert gateway.usage.cost <= 0.002
    assert gateway.usage.cost == pytest.approx(cost * len(model.requests))
    assert len(model.requests) == 2


def test_a_budget_in_tokens_needs_no_prices_and_counts_prompts_and_replies() -> None:
    model = ScriptedModel(lambda r: Completion("x", prompt_tokens=400, completion_tokens=100))

    async def run() -> Gateway:
        gateway = gateway_of(model, SHORT, BudgetSpec(tokens=1101))
        for text in ("1", "2"):
            await gateway.complete(request(text))
        await gateway.complete(request("3"))  # 1,000 spent, and 101 at most
        said = "budget of 1,101 tokens: 1,500 tokens spent, and this call may take 101 tokens"
        with pytest.raises(BudgetSpent, match=said):
            await gateway.complete(request("4"))
        return gateway

    gateway = asyncio.run(run())
    assert len(model.requests) == 3
    assert (gateway.usage.cost, gateway.usage.unpriced) == (0, 3)


def test_calls_in_flight_together_cannot_overspend_and_none_is_refused_too_early() -> None:
    async def run() -> None:
        budget = Budget(DOLLARS)
        await budget.reserve(6.0)
        second = asyncio.create_task(budget.reserve(6.0))
        await asyncio.sleep(0)
        assert not second.done()
        budget.settle(6.0, 1.0)
        await second
        third = asyncio.create_task(budget.reserve(6.0))
        await asyncio.sleep(0)
        budget.settle(6.0, 5.0)
        with pytest.raises(BudgetSpent):
            await third
        assert budget.spent == 6.0

    asyncio.run(run())


@pytest.mark.parametrize(
    ("spec", "budget"),
    [
        (PRICED, Budget(DOLLARS).upper_bound(request("a"), PRICED)),
        (SHORT, BudgetSpec(tokens=sum(worst_tokens(request("a"), SHORT)))),
    ],
)
def test_a_failed_call_gives_back_what_was_reserve(
    spec: EndpointSpec, budget: BudgetSpec | float
) -> None:
    async def run() -> None:
        gateway = gateway_of(ScriptedModel([CallFailed("no"), "x"]), spec, budget)
        with pytest.raises(CallFailed):
            await gateway.complete(request("a"))
        assert (await gateway.complete(request("a"))).text == "x"

    asyncio.run(run())


@pytest.mark.parametrize(
    ("spec", "budget", "spent"),
    [
        (PRICED, 0.01, {"spent_cost": 0.0095, "spent_tokens": 1}),
        (SHORT, BudgetSpec(tokens=1000), {"spent_cost": None, "spent_tokens": 950}),
    ],
)
def test_what_earlier_runs_spent_counts(
    spec: EndpointSpec, budget: BudgetSpec | float, spent: dict[str, float]
) -> None:
    model = ScriptedModel(["x"])

    async def run() -> None:
        with pytest.raises(BudgetSpent):
            await gateway_of(model, spec, budget, **spent).complete(request())

    asyncio.run(run())
    assert model.requests == []


def test_dollars_cannot_go_on_from_an_unknown_cost() -> None:
    unknown = SpentBefore(None, 10)
    with pytest.raises(ConfigError, match=r"unknown in dollars.*budget: {tokens: 1000000}"):
        Gateway({"m": PRICED}, MemoryRecorder(), budget=1.0, spent=unknown)
    Gateway({"m": SPEC}, MemoryRecorder(), spent=unknown)


def test_dollars_over_a_model_without_prices_are_refused_before_anything_is_sent() -> None:
    embedder = SPEC.model_copy(update={"embedding": True, "price_in": 0.1})
    Gateway({"main": PRICED, "embedder": embedder}, MemoryRecorder(), budget=1.0)
    Gateway({"main": SPEC}, MemoryRecorder(), budget=BudgetSpec(tokens=1000))
    both = r"add `price_in` and `price_out` .* model 'judge'"
    with pytest.raises(ConfigError, match=both) as raised:
        Gateway({"main": PRICED, "judge": SPEC}, MemoryRecorder(), budget=1.0)
    assert "\n" not in str(raised.value)
    half = SPEC.model_copy(update={"price_in": 1.0})
    with pytest.raises(ConfigError, match="add `price_out` "):
        Gateway({"main": half}, MemoryRecorder(), budget=BudgetSpec(dollars=1))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (2, BudgetSpec(dollars=2)),
        (2.5, BudgetSpec(dollars=2.5)),
        ("2.50", BudgetSpec(dollars=2.5)),
        ({"dollars": 2}, BudgetSpec(dollars=2)),
        ({"tokens": 1000000}, BudgetSpec(tokens=1000000)),
        ("1,000,000 tokens", BudgetSpec(tokens=1000000)),
        (BudgetSpec(tokens=5), BudgetSpec(tokens=5)),
    ],
)
def test_how_a_budget_may_be_written(written: object, read: BudgetSpec) -> None:
    assert BudgetSpec.model_validate(parse_budget(written)) == read


@pytest.mark.parametrize("written", [True, "much", [2], 10**400, "1 dollar"])
def test_what_is_no_budget_is_told_with_what_is_one(written: object) -> None:
    with pytest.raises(ValueError, match=r"expected US dollars, such as 2\.50, or tokens"):
        parse_budget(written)


@pytest.mark.parametrize(
    "fields",
    [{}, {"dollars": 1, "tokens": 1}, {"dollars": 0}, {"dollars": "nan"}, {"tokens": 0},
     {"tokens": 1.5}, {"euros": 1}],
)  # fmt: skip
def test_a_budget_is_one_positive_amount(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        BudgetSpec.model_validate(fields)


class _Shared:
    """A ledger of processes, in memory: their entries of `spent` and `reserved`."""

    def __init__(self) -> None:
        self.entries: dict[str, tuple[float, float]] = {}

    def of(self, name: str) -> "_Entry":
        self.entries[name] = (0.0, 0.0)
        return _Entry(self, name)


class _Entry:
    def __init__(self, shared: _Shared, name: str):
        self._shared, self._name = shared, name

    async def write(
        self, spent: float, limit: float, reserve: Callable[[Elsewhere], float]
    ) -> Elsewhere:
        await asyncio.sleep(0)
        entries = self._shared.entries
        others = [each for name, each in entries.items() if name != self._name]
        there = Elsewhere(sum(e[0] for e in others), sum(e[1] for e in others), len(others))
        reserved = reserve(there)
        entries[self._name] = (spent, reserved if others else limit - spent)
        return there


def test_a_process_that_is_alone_holds_all_until_it_says_otherwise() -> None:
    async def both() -> None:
        shared = _Shared()
        first, second = Budget(DOLLARS), Budget(DOLLARS)
        first.share(shared.of("first"))
        await first.reserve(2.0)
        assert shared.entries["first"] == (0.0, 10.0)
        second.share(shared.of("second"))
        waiting = asyncio.create_task(second.reserve(6.0))
        await asyncio.sleep(0.01)
        assert not waiting.done()
        await first.publish()
        assert shared.entries["first"] == (0.0, 2.0)
        await asyncio.wait_for(waiting, 60)
        with pytest.raises(BudgetSpent):  # 6 of 10 are reserved elsewhere, but 11 never fit
            await first.reserve(11.0)
        second.settle(6.0, 6.0)
        await second.publish()
        first.settle(2.0, 2.0)
        with pytest.raises(BudgetSpent, match="8 USD spent"):
            await first.reserve(3.0)
        await first.reserve(2.0)
        assert first.rest == 1.0  # half of what is left: the other one may need the rest

    asyncio.run(both())


def test_a_process_that_was_suspended_does_not_take_itself_to_be_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def run() -> None:
        shared, budget = _Shared(), Budget(DOLLARS)
        budget.share(shared.of("suspended"))
        await budget.reserve(2.0)
        shared.entries["another"] = (9.0, 0.0)
        now = time.time() + 3600
        monkeypatch.setattr(time, "time", lambda: now)
        with pytest.raises(BudgetSpent):
            await budget.reserve(2.0)

    asyncio.run(run())


def test_calls_that_wait_have_nothing_reserved() -> None:
    async def call(of: Budget, taken: float) -> None:
        with charged_to(Account()):
            await of.reserve(6.0)
            of.settle(6.0, taken)

    async def both() -> None:
        shared = _Shared()
        first, second = Budget(DOLLARS), Budget(DOLLARS)
        first.share(shared.of("first"))
        second.share(shared.of("second"))
        await first.reserve(10.0)
        waiting = asyncio.gather(*(call(second, taken) for taken in (1.0, 1.0, 1.0)))
        await asyncio.sleep(0.01)
        assert shared.entries == {"first": (0.0, 10.0), "second": (0.0, 0.0)}
        first.settle(10.0, 7.0)
        await first.publish()
        await asyncio.wait_for(waiting, 60)
        await second.publish()
        assert shared.entries == {"first": (7.0, 0.0), "second": (3.0, 0.0)}

    asyncio.run(both())
