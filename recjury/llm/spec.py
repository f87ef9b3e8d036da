"""The model that an alias names, how it is asked, and what it costs."""

from abc import abstractmethod
from typing import Literal, NamedTuple

from pydantic import Field, JsonValue

from recjury.llm.prices import TablePrice, table_price
from recjury.records import JSON, ChatRequest, Record

MAIN_MODEL = "main"
"""The alias of the model that a campaign file has under `model`."""

_OF_NO_REPLY = frozenset(
    {
        "provider",
        "retries",
        "patience",
        "outage_patience",
        "concurrency",
        "requests_per_minute",
        "tokens_per_minute",
        "price_in",
        "price_out",
        "price_cached",
    }
)
_OWN_LIMIT = 4096
MOST_ROOM = 65_536
"""Tokens to which the limit of a reply may grow after replies that were cut off."""


class Prices(NamedTuple):
    """US dollars per million tokens; None is unknown. Without `per_cached`, cached tokens cost
    `per_prompt`."""

    per_prompt: float | None
    per_completion: float | None
    per_cached: float | None


class ModelSpec(Record):
    """One model: its name, how it is asked, and what it costs. Each `provider` has a subclass, a
    user's own one, too (`OwnModel`).

    If `temperature` and `max_tokens` are set, they replace those of every request to this model
    (some models accept only one temperature, and reasoning models need more tokens than their
    answer has). `json_mode` says what the model accepts for JSON replies.

    `retries` is the number of attempts after the first. A rate limit (HTTP 429) is not counted as a
    failed attempt. A call waits at most `patience` seconds in total because of rate limits and of
    other failures with Retry-After. While the model does not answer at all, all calls to it wait,
    and fail only after `outage_patience` seconds; with 0 they do not wait. How many requests are
    open is learned from the endpoint's answers, unless `concurrency` says it.

    Prices are in US dollars per million tokens; None is unknown, and 0 is free. Without
    `price_cached`, cached tokens cost `price_in`. An embedding model needs only `price_in`. If no
    price is set, those of `prices.table_price` are used, if it knows the model.
    """

    provider: str
    name: str = Field(min_length=1)
    temperature: float | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=1)
    retries: int = Field(default=5, ge=0)
    patience: float = Field(default=600, ge=0, allow_inf_nan=False)
    outage_patience: float = Field(default=600, ge=0, allow_inf_nan=False)
    concurrency: int | None = Field(default=None, ge=1)
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    price_in: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    price_out: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    price_cached: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    json_mode: Literal["schema", "object", "off"] = "off"
    embedding: bool = False

    @property
    @abstractmethod
    def address(self) -> str:
        """Where the model is, in identities and messages."""

    @property
    def takes_slots(self) -> bool:
        """Whether an open call counts among those that may be open at the same time."""
        return True

    @property
    def reply_options(self) -> dict[str, JsonValue]:
        """What else is sent with every request and can change the reply."""
        return {}

    @property
    def table_price(self) -> TablePrice | None:
        """The price from the table, if no price is set and the table has one for this model."""
        if (self.price_in, self.price_out, self.price_cached) != (None, None, None):
            return None
        found = table_price(self.address, self.name)
        if found is None or (not self.embedding and found.bands[0].per_completion is None):
            return None
        return found

    @property
    def price_source(self) -> str:
        """Where the prices are from; empty if they are unknown."""
        found = self.table_price
        if found is not None:
            return found.source
        return "campaign file" if self.is_priced else ""

    @property
    def missing_prices(self) -> tuple[str, ...]:
        """The names of the prices that a call needs and that are unknown."""
        prices = self.prices()
        needed = {"price_in": prices.per_prompt, "price_out": prices.per_completion}
        return tuple(name for name, price in needed.items() if price is None)

    @property
    def is_priced(self) -> bool:
        """Whether the cost of a call is known."""
        return not self.missing_prices

    def prices(self, prompt: float = 0) -> "Prices":
        """What the tokens of a call cost that has so many `prompt` tokens."""
        said = 0.0 if self.embedding else self.price_out
        found = self.table_price
        if found is None:
            return Prices(self.price_in, said, self.price_cached)
        band = found.band(prompt)
        return Prices(
            band.per_prompt, 0.0 if self.embedding else band.per_completion, band.per_cached
        )

    def cost(self, prompt: float, completion: float, cached: float = 0) -> float | None:
        """US dollars for these tokens, of which `cached` prompt tokens were cached; None if
        unknown."""
        fresh, said, again = self.prices(prompt)
        if fresh is None or said is None:
            return None
        again = fresh if again is None else again
        return ((prompt - cached) * fresh + cached * again + completion * said) / 1e6

    def token_limit(self, request: ChatRequest) -> int | None:
        """The most tokens of a reply to `request`, as its identity has it; None for no limit.

        A reply that was cut off though nothing here limits it met a limit of the endpoint's own,
        which may be as low as 256 tokens: a limit is then asked for.
        """
        most = request.max_tokens if self.max_tokens is None else self.max_tokens
        if most is None:
            return None if request.room == 1 else min(_OWN_LIMIT * request.room, MOST_ROOM)
        return min(most * request.room, max(most, MOST_ROOM))

    def sent_limit(self, request: ChatRequest) -> int | None:
        """The most tokens that are asked for: `token_limit`, or more if replies need more room."""
        return max(self.token_limit(request) or 0, request.least_tokens) or None

    def reply_settings(self) -> dict[str, JSON]:
        """The settings that can change a reply: the model's part of every identity."""
        return self.model_dump(mode="json", exclude=set(_OF_NO_REPLY))
