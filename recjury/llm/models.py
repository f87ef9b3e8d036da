"""A model as a campaign file names it, and the protocols of what answers and what keeps."""

import functools
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Protocol
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from recjury.llm.remedies import Dialect, Step
from recjury.llm.vllm_args import check_args, reply_args, split_args
from recjury.llm.weights import model_digest, place_of
from recjury.records import Completion, Record, Request, Unit

TYPICAL_TOKENS = {
    "judge": 250,
    "debate": 170,
    "user": 35,
    "system": 90,
    "choice": 2,
    "embedding": 0,
    "catalogue": 0,
}
"""Tokens of a reply, by purpose."""

_BATCH_SHARE = 0.5  # of the price of a call

OPENAI = "https://api.openai.com/v1"

_LEFT_OUT: dict[str, Step] = {
    "temperature": "no temperature",
    "max_tokens": "no max_tokens",
    "n": "no n",
    "response_format": "no response_format",
    "system": "no system",
    "logprobs": "no logprobs",
}


_SENT = {"messages", "model", "n", "stream", "response_format", "logprobs", "top_logprobs"}


class ReplySettings(Record):
    """All of a model that can change its replies: its part of identities."""

    base_url: str = OPENAI
    name: str = Field(min_length=1)
    temperature: float | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=1)
    extra: dict[str, Any] = Field(default_factory=dict)

    @field_validator("base_url")
    @classmethod
    def _without_path(cls, url: str) -> str:
        """One address for the ways to write it. Raises ValueError if it is none."""
        url = url.strip().rstrip("/").removesuffix("/chat/completions") or OPENAI
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and parts.hostname and " " not in url
        if not is_address or parts.port == 0:  # a port beyond 65535 raises ValueError itself
            raise ValueError(f"an address is wanted, such as {OPENAI}, got {url!r}")
        return url

    @field_validator("extra")
    @classmethod
    def _beside_what_recjury_sends(cls, extra: dict[str, Any]) -> dict[str, Any]:
        if taken := sorted(extra.keys() & _SENT):
            raise ValueError(f"recjury sends {taken[0]!r} itself: leave it out of `extra`")
        return extra


_SETTINGS_OF = {
    "base_url": ("endpoint", "azure", "openai-batch"),
    "key_env": ("endpoint", "azure", "openai-batch"),
    "batch_size": ("openai-batch",),
    "python": ("vllm",),
    "args": ("vllm",),
    "adapter": ("transformers",),
    "device": ("transformers",),
    "dtype": ("transformers",),
}
"""The providers of settings that others do not have."""


class Model(ReplySettings):
    """A model and how it is asked.

    `key_env` names the variable that holds the key. `refuses` names what the endpoint does not
    take, where it does not say so itself. Prices are US dollars for a million tokens; without them,
    published price lists count, and what runs on this machine costs nothing. `patience` is how long
    a call is tried, in seconds, and `timeout` how long one attempt may take. `python` and `args`
    start vLLM; `adapter` (LoRA), `device` and `dtype` are for transformers. At most `batch_size`
    calls wait in batches.
    """

    provider: Literal["endpoint", "azure", "openai-batch", "vllm", "transformers"] = "endpoint"
    python: str = ""
    args: Annotated[tuple[str, ...], BeforeValidator(split_args), AfterValidator(check_args)] = ()
    adapter: str = ""
    device: str = "auto"
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    batch_size: int = Field(default=50_000, ge=1, le=50_000)
    key_env: str = ""
    refuses: tuple[
        Literal["temperature", "max_tokens", "n", "response_format", "system", "logprobs"], ...
    ] = ()
    price_in: float | None = Field(default=None, ge=0)
    price_out: float | None = Field(default=None, ge=0)
    concurrency: int = Field(default=32, ge=1)
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    patience: float = Field(default=600.0, ge=0)
    timeout: float = Field(default=600.0, gt=0)

    @model_validator(mode="after")
    def _settings_of_its_provider(self) -> "Model":
        for name in sorted(self.model_fields_set & _SETTINGS_OF.keys()):
            if self.provider not in (of := _SETTINGS_OF[name]):
                raise ValueError(
                    f"`{name}` is a setting of provider {' or '.join(of)}: leave it out"
                )
        return self

    @property
    def runs_here(self) -> bool:
        """Whether recjury runs it on this machine."""
        return self.provider in ("vllm", "transformers")

    @property
    def live(self) -> "Model":
        """The same model, asked in calls of their own where a batch would take too long."""
        return self.model_copy(update={"provider": "endpoint"}) if self.in_batches else self

    @property
    def in_batches(self) -> bool:
        """Whether calls wait for a batch."""
        return self.provider == "openai-batch"

    @property
    def reply(self) -> ReplySettings:
        """The settings that can change a reply.

        Of a model that recjury runs, they are what is in its files, wherever these lie.
        """
        settings = ReplySettings(**self.model_dump(include=set(ReplySettings.model_fields)))
        if not self.runs_here:
            return settings
        own = (self.dtype, *reply_args(self.args), *map(model_digest, (self.name, self.adapter)))
        weights = {"weights": [self.provider, *own]}
        place = place_of(self.name)
        name = place.name if place else self.name
        return settings.model_copy(update={"name": name, "extra": settings.extra | weights})

    @property
    def dialect(self) -> Dialect:
        """What is left out from the first request on."""
        return frozenset(_LEFT_OUT[name] for name in self.refuses)

    def cost(self, tokens_in: int | None, tokens_out: int | None) -> float | None:
        """US dollars; None if prices or tokens are unknown."""
        if tokens_in is None or tokens_out is None:
            return None
        if self.price_in is not None and self.price_out is not None:
            return (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6
        if self.runs_here:
            return 0.0
        listed = _listed_cost(self.name, self.base_url, tokens_in, tokens_out)
        if listed is None or not self.in_batches:
            return listed
        return _BATCH_SHARE * listed


class Provider(Protocol):
    """Answers requests: an endpoint, a batch, an agent, a double."""

    async def ask(
        self, calls: Sequence[str], request: Request, code: str, dialect: Dialect
    ) -> Sequence[Completion]:
        """At least one completion and at most one for each of `calls`, which are identities.

        `request` has the mark where `code` is to stand. Raises AttemptError.
        """

    async def aclose(self) -> None:
        """Close connections."""


class Recorder(Protocol):
    """Where calls are kept. All of it can be a remote actor: values in, values out."""

    async def recall(self, calls: Sequence[str]) -> dict[str, Completion]:
        """The stored completions, by call."""

    async def record(
        self, done: Sequence[Completion], request: Request, model: str, unit: Unit
    ) -> dict[str, Completion]:
        """What the store has now, by call: where one was there already, the earlier completion."""


def _listed_cost(name: str, base_url: str, tokens_in: int, tokens_out: int) -> float | None:
    """US dollars by the lists of genai-prices; None if they lack a model of that name there."""
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
