"""A model behind an OpenAI-compatible endpoint: address, key, and what the endpoint accepts."""

from typing import Literal

from pydantic import Field, JsonValue, field_validator, model_validator
from yarl import URL

from recjury.llm.adaptation import Feature
from recjury.llm.spec import ModelSpec
from recjury.llm.transport import check_address, check_key_variable
from recjury.records import JSON, ChatRequest

_OF_NO_REPLY = frozenset({"key_env", "refuses", "timeout"})
_IN_THE_FILE = (
    "`{}` must not stand here: put the key into an environment variable, and name that variable "
    "in `key_env`"
)
_KEYS = frozenset(
    {"api_key", "apikey", "api-key", "key", "token", "api_token", "openai_api_key", "authorization"}
)
# People copy the address of a call from a provider's documentation.
_PATHS = ("/chat/completions", "/completions", "/embeddings", "/models")


class EndpointSpec(ModelSpec):
    """One model behind an OpenAI-compatible endpoint.

    `key_env` names the environment variable with the key; the key itself is never stored. `timeout`
    is in seconds for one attempt. What the model refuses (a system message, a temperature,
    `max_tokens` and so on) is learned and not sent; with `refuses`, only what it names. `extra` is
    merged into every request body; a null there removes a field.
    """

    provider: Literal["openai"] = "openai"
    base_url: str
    key_env: str | None = None
    timeout: float = Field(default=120, gt=0)
    refuses: tuple[Feature, ...] | None = None
    extra: dict[str, JsonValue] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _no_key(cls, given: object) -> object:
        """A key in a file would be stored with every run: refused, and not shown."""
        if isinstance(given, dict):
            for name in given:
                if str(name).lower() in _KEYS:
                    raise ValueError(_IN_THE_FILE.format(name))
        return given

    @field_validator("extra")
    @classmethod
    def _no_key_in_extra(cls, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        for name, each in value.items():
            if each is not None and name.lower() in _KEYS:
                raise ValueError(_IN_THE_FILE.format(name))
        return value

    @field_validator("key_env")
    @classmethod
    def _a_variable_and_no_key(cls, value: str | None) -> str | None:
        check_key_variable(value)
        return value

    @field_validator("base_url")
    @classmethod
    def _a_plain_web_address(cls, value: str) -> str:
        check_address(value, "base_url")
        url = URL(value)
        if url.query_string or url.fragment:
            raise ValueError("base_url must end with its path: say more in `extra` or key_env")
        value = value.rstrip("/")
        path = next((path for path in _PATHS if value.lower().endswith(path)), "")
        return value[: len(value) - len(path)].rstrip("/")

    @property
    def address(self) -> str:
        """The base URL."""
        return self.base_url

    @property
    def reply_options(self) -> dict[str, JsonValue]:
        """The fields that are merged into every request body."""
        return self.extra

    def body_fields(self, request: ChatRequest) -> dict[str, object]:  # noqa: ARG002
        """The fields of the request's body that only this kind of server knows: none by default."""
        return {}

    def reply_settings(self) -> dict[str, JSON]:
        """The settings that can change a reply: the model's part of every identity."""
        settings = super().reply_settings()
        return {name: each for name, each in settings.items() if name not in _OF_NO_REPLY}
