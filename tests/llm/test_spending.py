"""What calls cost, how it is told, and what of a model can change a reply."""

import asyncio

import pytest

from recjury.llm import Completion, EndpointSpec, Gateway, GatewayUsage, ScriptedModel, cost_text
from recjury.records import JSON, Reply
from tests.llm.doubles import MemoryRecorder, request

SPEC = EndpointSpec(base_url="http://127.0.0.1:1/v1", name="m")


def spec(**fields: object) -> EndpointSpec:
    """SPEC with other fields."""
    return EndpointSpec.model_validate({**SPEC.model_dump(), **fields})


def test_cached_tokens_cost_what_fresh_ones_do_unless_it_is_said() -> None:
    plain = spec(price_in=2, price_out=10)
    assert plain.cost(100, 20, 60) == pytest.approx((100 * 2 + 20 * 10) / 1e6)
    cheaper = spec(price_in=2, price_out=10, price_cached=1)
    assert cheaper.cost(100, 20, 60) == pytest.approx((40 * 2 + 60 * 1 + 20 * 10) / 1e6)
    free = spec(price_in=2, price_out=10, price_cached=0)
    assert free.cost(100, 20, 60) == pytest.approx((40 * 2 + 20 * 10) / 1e6)


@pytest.mark.parametrize(
    ("fields", "missing"),
    [
        ({}, ("price_in", "price_out")),
        ({"price_cached": 1}, ("price_in", "price_out")),
        ({"price_in": 1}, ("price_out",)),
        ({"price_out": 1, "price_cached": 1}, ("price_in",)),
        ({"embedding": True}, ("price_in",)),
        ({"embedding": True, "price_in": 1}, ()),
        ({"price_in": 0, "price_out": 0}, ()),
    ],
)
def test_a_cost_is_unknown_where_a_price_that_the_call_needs_is(
    fields: dict[str, object], missing: tuple[str, ...]
) -> None:
    model = spec(**fields)
    assert model.missing_prices == missing
    assert model.is_priced == (not missing)
    assert (model.cost(10, 10, 5) is None) == bool(missing)


@pytest.mark.parametrize("price", ["nan", "inf", -1])
def test_a_price_is_a_number(price: object) -> None:
    with pytest.raises(ValueError, match="price_in"):
        spec(price_in=price)


def test_an_embedding_costs_its_prompt_only() -> None:
    assert spec(embedding=True, price_in=2, price_out=10).cost(100, 20) == pytest.approx(2e-4)


def test_an_unknown_cost_is_kept_as_such_and_counted_apart() -> None:
    said = Completion("x", prompt_tokens=10, completion_tokens=90)

    async def run() -> tuple[Reply, Reply, GatewayUsage]:
        models = {"m": SPEC, "priced": spec(name="other", price_in=1, price_out=10)}
        providers = {alias: ScriptedModel(lambda r: said) for alias in models}
        async with Gateway(models, MemoryRecorder(), providers=providers) as gateway:
            unknown = await gateway.complete(request())
            known = await gateway.complete(request(model="priced"))
            return unknown, known, gateway.usage

    unknown, known, usage = asyncio.run(run())
    assert unknown.usage.cost is None
    assert known.usage.cost == usage.cost == pytest.approx((10 + 900) / 1e6)
    assert (usage.calls, usage.unpriced) == (2, 1)


@pytest.mark.parametrize(
    ("cost", "unpriced", "text"),
    [
        (0.01234, 0, "$0.0123"),
        (1234.5, 0, "$1,234.5000"),
        (0.0, 0, "$0.0000"),
        (None, 0, "cost unknown"),
        (None, 40, "cost unknown"),
        (0.0, 40, "cost unknown"),
        (0.01234, 1, "$0.0123 + 1 call without a price"),
        (0.01234, 40, "$0.0123 + 40 calls without a price"),
    ],
)
def test_an_unknown_cost_is_never_told_as_zero(
    cost: float | None, unpriced: int, text: str
) -> None:
    assert cost_text(cost, unpriced) == text


def test_reply_settings_are_what_can_change_a_reply() -> None:
    reached = spec(
        key_env="SOME_KEY", timeout=1, retries=0, patience=1, concurrency=1,
        requests_per_minute=1, price_in=1, price_out=1, price_cached=1,
    )  # fmt: skip
    expected: dict[str, JSON] = {
        "base_url": "http://127.0.0.1:1/v1",
        "name": "m",
        "temperature": None,
        "max_tokens": None,
        "json_mode": "off",
        "extra": {},
        "embedding": False,
    }
    assert reached.reply_settings() == SPEC.reply_settings() == expected
    other = spec(temperature=0.5, max_tokens=9, json_mode="object", extra={"a": 1}, embedding=True)
    assert all(other.reply_settings()[name] != expected[name] for name in (*expected,)[2:])
