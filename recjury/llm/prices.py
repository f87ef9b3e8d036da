"""Prices of models, from the table that the package genai-prices keeps.

A price is known only if both the host of an endpoint and the name of the model are in the table as
belonging together: a local server that calls its model "gpt-4o" has no known price. Nothing is
downloaded: the table is the one of the installed package.
"""

import ipaddress
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from importlib import metadata
from typing import TYPE_CHECKING, NamedTuple

from yarl import URL

if TYPE_CHECKING:
    from genai_prices.types import MatchLogic, ModelInfo, ModelPrice, Provider

_PACKAGE = "genai-prices"
# On these hosts users deploy models under names of their own.
_OWN_NAMES = frozenset({"azure", "databricks", "modal"})
# What text costs, and what calls for text do not have. A price of anything else is not known here.
_OF_TEXT = frozenset({"input_mtok", "output_mtok", "cache_read_mtok"})
_NOT_USED = re.compile(r"cache_write.*|.*(audio|image|video|document|storage|web_search).*")
# "gpt-x-2026-01-31", "model-latest", "model-preview-05-06" are known if "gpt-x" and "model" are.
_VERSION = r"([-@:](latest|preview|exp|v?\d[\d.-]*))*"


class PriceBand(NamedTuple):
    """US dollars per million tokens of prompts of more than `above` tokens.

    `per_completion` is None if the table has none, as for embeddings; without `per_cached`, cached
    tokens cost `per_prompt`.
    """

    above: int
    per_prompt: float
    per_completion: float | None
    per_cached: float | None = None


class TablePrice(NamedTuple):
    """The price of a model: `bands` by the prompt's length, shortest first, and their source."""

    bands: tuple[PriceBand, ...]
    source: str

    def band(self, prompt: float) -> PriceBand:
        """The prices of a call with so many prompt tokens."""
        return next(band for band in reversed(self.bands) if prompt > band.above or not band.above)


@lru_cache(maxsize=256)
def table_price(base_url: str, name: str, on: date | None = None) -> TablePrice | None:
    """The price of the model `name` at `base_url`, on the day `on` (default: today, in UTC).

    None if it is not known. If a price depends on the hour, the highest of the day is returned.
    """
    if _is_private(URL(base_url).host or ""):
        return None  # nothing is imported for a server of one's own
    if "search" in name.lower():
        return None  # such models bill their searches, too
    found = _find(base_url, name)
    if found is None:
        return None
    provider, model = found
    prices = [_bands(each) for each in _valid_prices(model, on or datetime.now(UTC).date())]
    if not prices or not all(prices):
        return None
    dearest = max(prices, key=lambda bands: (bands[0].per_prompt, bands[0].per_completion or 0))
    source = f"{_PACKAGE} {metadata.version(_PACKAGE)}: {provider.id} {model.id}"
    return TablePrice(tuple(dearest), source)


def _is_private(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".localhost"))
    return True


def _find(base_url: str, name: str) -> "tuple[Provider, ModelInfo] | None":
    from genai_prices.data import providers

    for provider in providers:
        if provider.id in _OWN_NAMES or not _is_whole_host(provider.api_pattern, base_url):
            continue
        model = provider.find_model(name)
        if model is not None and _is_named(model, name.lower()):
            return provider, model
    return None


def _is_whole_host(pattern: str, base_url: str) -> bool:
    """Whether the pattern matches the address at least up to the end of its host."""
    url = URL(base_url)
    match = re.match(pattern, f"{url.scheme}://{url.host}{url.path}")
    return match is not None and match.end() >= len(f"{url.scheme}://{url.host}")


def _is_named(model: "ModelInfo", name: str) -> bool:
    """Whether the table has this name, perhaps without its version.

    The table's own rules are wider: some match all names with a certain beginning.
    """
    names = {model.id.lower(), *_equal_names(model.match)}
    return name in names or any(re.fullmatch(re.escape(n) + _VERSION, name) for n in names)


def _equal_names(match: "MatchLogic") -> Iterator[str]:
    from genai_prices.types import ClauseEquals, ClauseOr

    if isinstance(match, ClauseEquals):
        yield match.equals.lower()
    elif isinstance(match, ClauseOr):
        for each in match.or_:
            yield from _equal_names(each)


def _valid_prices(model: "ModelInfo", day: date) -> Iterator["ModelPrice"]:
    """The prices of a day: one, or several that hold at different hours."""
    from genai_prices.types import ModelPrice, StartDateConstraint

    if isinstance(model.prices, ModelPrice):
        yield model.prices
        return
    for conditional in reversed(model.prices):  # the later ones come first
        constraint = conditional.constraint
        if isinstance(constraint, StartDateConstraint) and constraint.start_date > day:
            continue
        yield conditional.prices
        if constraint is None or isinstance(constraint, StartDateConstraint):
            return


def _bands(prices: "ModelPrice") -> list[PriceBand]:
    """The prices of text by the prompt's length; empty if there are none, or further ones."""
    from genai_prices.types import TieredPrices

    given = {name: price for name, price in vars(prices).items() if price is not None}
    if "input_mtok" not in given:
        return []
    if any(name not in _OF_TEXT and not _NOT_USED.fullmatch(name) for name in given):
        return []
    tiers = {
        name: {0: price.base, **{tier.start: tier.price for tier in price.tiers}}
        if isinstance(price, TieredPrices)
        else {0: price}
        for name, price in given.items()
        if name in _OF_TEXT
    }
    starts = sorted({start for steps in tiers.values() for start in steps})
    return [
        PriceBand(
            above,
            _step(tiers["input_mtok"], above),
            _step(tiers["output_mtok"], above) if "output_mtok" in tiers else None,
            _step(tiers["cache_read_mtok"], above) if "cache_read_mtok" in tiers else None,
        )
        for above in starts
    ]


def _step(steps: dict[int, Decimal], above: int) -> float:
    return float(steps[max(start for start in steps if start <= above)])
