"""What a call costs by the published price lists of genai-prices; what they lack stays unknown."""

import functools


def listed_cost(name: str, base_url: str, tokens_in: int, tokens_out: int) -> float | None:
    """US dollars for the model with that name at that address; None if no list has it."""
    if not _is_listed(name, base_url):
        return None
    return _calculated(name, base_url, tokens_in, tokens_out)


@functools.cache
def _is_listed(name: str, base_url: str) -> bool:
    """Looked up once: a server of one's own would be searched for with each call."""
    try:
        _calculated(name, base_url, 1, 1)
    except LookupError:
        return False
    return True


def _calculated(name: str, base_url: str, tokens_in: int, tokens_out: int) -> float:
    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=tokens_in, output_tokens=tokens_out)
    return float(calc_price(usage, name, provider_api_url=base_url).total_price)
