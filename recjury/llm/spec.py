"""Which model an alias stands for, how it is reached, and what it may cost."""

import re
from typing import Literal

from pydantic import Field, JsonValue, field_validator
from yarl import URL

from recjury.records import Record

VARIABLE = re.compile("[A-Za-z_][A-Za-z0-9_]*")
"""What the name of an environment variable looks like."""


class ModelSpec(Record):
    """One model behind an OpenAI-compatible endpoint.

    `key_env` names the environment variable that holds the key; the key itself is never kept.
    `temperature` and `max_tokens`, where set, replace those of every request to this model (some
    models accept one temperature only, and reasoning models need more tokens than their answer).
    `timeout` is in seconds and covers one attempt; `retries` counts the attempts after the first.
    Being turned away for asking too often (HTTP 429) is no failed attempt: a call waits for that
    up to `patience` seconds in all.
    `wire` "sdk" sends through the `openai` package, which knows proxies and other transport
    matters, at ten times the CPU. Prices are US dollars per million tokens. `json_mode` says how
    far the endpoint can be asked for JSON. `extra` is merged into every request body; a null
    there removes a field.
    """

    base_url: str
    name: str = Field(min_length=1)
    key_env: str | None = None
    wire: Literal["plain", "sdk"] = "plain"
    temperature: float | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=1)
    timeout: float = Field(default=120, gt=0)
    retries: int = Field(default=5, ge=0)
    patience: float = Field(default=600, ge=0, allow_inf_nan=False)
    concurrency: int | None = Field(default=None, ge=1)
    requests_per_minute: float | None = Field(default=None, gt=0)
    price_in: float = Field(default=0, ge=0)
    price_out: float = Field(default=0, ge=0)
    price_cached: float = Field(default=0, ge=0)
    json_mode: Literal["schema", "object", "off"] = "off"
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    embedding: bool = False

    @field_validator("key_env")
    @classmethod
    def _a_variable_and_no_key(cls, value: str | None) -> str | None:
        if value is not None and not VARIABLE.fullmatch(value):
            # Not shown: it may be the key itself.
            raise ValueError("key_env must be the name of an environment variable, not the key")
        return value

    @field_validator("base_url")
    @classmethod
    def _a_plain_web_address(cls, value: str) -> str:
        try:
            url = URL(value)
        except ValueError as error:
            raise ValueError(f"base_url must be a web address: {error}") from None
        if url.scheme not in {"http", "https"} or not url.host:
            raise ValueError("base_url must begin with http:// or https:// and name a host")
        if url.user or url.password:
            raise ValueError("base_url must not hold a key: name its variable in key_env")
        if url.query_string or url.fragment:
            raise ValueError("base_url must end with its path: say more in `extra` or key_env")
        return value.rstrip("/")
