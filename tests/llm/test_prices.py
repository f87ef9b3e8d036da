"""Prices from the table of genai-prices: only where host and name belong together."""

from datetime import date
from importlib import metadata

import pytest
from genai_prices import Usage, calc_price

from recjury.llm import EndpointSpec
from recjury.llm.prices import table_price

OPENAI = "https://api.openai.com/v1"
GOOGLE = "https://generativelanguage.googleapis.com/v1beta/openai"
OPENROUTER = "https://openrouter.ai/api/v1"


def spec(base_url: str, name: str, **fields: object) -> EndpointSpec:
    return EndpointSpec.model_validate({"base_url": base_url, "name": name, **fields})


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        ("http://127.0.0.1:8000/v1", "gpt-4o"),
        ("http://localhost:8000/v1", "gpt-4o"),
        ("http://gpubox/v1", "gpt-4o"),
        ("https://llm.example.org/v1", "gpt-4o"),
        ("https://api.openai.com.example.org/v1", "gpt-4o"),
        ("https://example.org/api.openai.com/v1", "gpt-4o"),
        ("https://mine.openai.azure.com/openai/v1", "gpt-4o"),
        ("https://someone--app.modal.run/v1", "deepseek-ai/DeepSeek-V3.1"),
        (OPENAI, "gpt-4o-of-mine"),
        (OPENAI, "ft:gpt-4o-2024-08-06:me::x"),
        (OPENAI, "claude-3-5-sonnet-latest"),
        (OPENAI, "gpt-4o-search-preview"),
        ("https://api.perplexity.ai", "sonar"),
    ],
)
def test_what_is_not_known_has_no_price(base_url: str, name: str) -> None:
    model = spec(base_url, name)
    assert model.table_price is None
    assert (model.is_priced, model.price_source, model.cost(10, 10)) == (False, "", None)


@pytest.mark.parametrize(
    ("base_url", "name", "prompt"),
    [
        (OPENAI, "gpt-4o-2024-08-06", 1000),
        (OPENAI, "gpt-4o-mini", 1000),
        (OPENROUTER, "openai/gpt-4o", 1000),
        (GOOGLE, "gemini-2.5-pro", 1000),
        (GOOGLE, "gemini-2.5-pro", 300_000),
    ],
)
def test_a_known_model_at_its_host_costs_what_the_table_says(
    base_url: str, name: str, prompt: int
) -> None:
    usage = Usage(input_tokens=prompt, output_tokens=100, cache_read_tokens=400)
    expected = calc_price(usage, name, provider_api_url=base_url).total_price
    assert spec(base_url, name).cost(prompt, 100, 400) == pytest.approx(float(expected))


def test_the_source_of_a_price_is_named() -> None:
    assert spec(OPENAI, "gpt-4o-2024-08-06").price_source == (
        f"genai-prices {metadata.version('genai-prices')}: openai gpt-4o"
    )


@pytest.mark.parametrize("field", ["price_in", "price_out", "price_cached"])
def test_a_price_in_the_file_replaces_the_whole_table(field: str) -> None:
    model = spec(OPENAI, "gpt-4o", **{field: 1.0})
    assert model.table_price is None
    assert not model.is_priced
    assert model.price_source == ""


def test_own_prices_win_and_are_named() -> None:
    model = spec(OPENAI, "gpt-4o", price_in=7, price_out=8)
    assert model.prices() == (7, 8, None)
    assert model.price_source == "campaign file"
    assert spec("http://127.0.0.1:1/v1", "m", price_in=0, price_out=0).price_source


def test_an_embedding_model_is_priced_by_its_prompts() -> None:
    vectors = spec(OPENAI, "text-embedding-3-small", embedding=True)
    cost = vectors.cost(1_000_000, 55)
    assert cost is not None
    assert cost > 0
    assert cost == vectors.cost(1_000_000, 0)
    assert not spec(OPENAI, "text-embedding-3-small").is_priced, "no price of replies is known"


def test_long_prompts_have_their_own_price() -> None:
    found = table_price(GOOGLE, "gemini-2.5-pro")
    assert found is not None
    short, long = found.band(200_000), found.band(200_001)
    assert long.per_prompt == 2 * short.per_prompt > 0
    assert found.band(0) == short


def test_a_price_holds_from_its_day_on_and_is_the_highest_of_the_day() -> None:
    before, after = (
        table_price(OPENAI, "o3", day) for day in (date(2025, 6, 9), date(2025, 6, 10))
    )
    assert before is not None
    assert after is not None
    assert (before.bands[0].per_prompt, after.bands[0].per_prompt) == (10, 2)
    by_hour = table_price("https://api.deepseek.com", "deepseek-chat", date(2025, 6, 1))
    assert by_hour is not None
    assert by_hour.bands[0].per_completion == pytest.approx(1.1)
