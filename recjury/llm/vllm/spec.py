"""A model that recjury serves itself, by vLLM in an environment of its own."""

import re
import sys
from functools import cached_property
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, JsonValue, field_validator, model_validator

from recjury.llm.endpoint_spec import EndpointSpec
from recjury.llm.vllm.constraints import structured_outputs
from recjury.llm.vllm.folders import weights_of
from recjury.llm.vllm.server_args import args_of_replies, checked_args
from recjury.records import JSON, ChatRequest

_OF_NO_REPLY = frozenset(
    {"adapter", "base_url", "env", "gpus", "model", "python", "restarts", "start_timeout"}
)
_OF_REPLIES = ("batch_invariant", "longest_text", "structured")
_BACKEND = "structured_outputs_config"
_SECRET = re.compile(r"TOKEN|KEY|SECRET|PASSWORD", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class VllmSpec(EndpointSpec):
    """One model, or one LoRA adapter of it, in a vLLM server that recjury starts and ends.

    `model` is a folder or a name of the Hugging Face hub, `adapter` that of a LoRA adapter.
    `python` is the interpreter of the environment that has vLLM; by default, recjury's own. `gpus`
    is the number of GPUs that share the model, and 0 for a CPU. `args` are further flags of the
    server (`server_args` has their names and types) without their dashes; true and false switch a
    flag on and off, and null leaves out one that recjury gives. `env` are environment variables of
    the server. Models with the same settings of these share a server, whatever their adapters are.

    With `structured`, replies have the form that a prompt asks for, because nothing else can be
    written; `longest_text` then limits reasons and statements, in characters (about four of which
    are taken as a token). `batch_invariant`
    asks vLLM for replies that do not depend on what else is asked at the same time.

    The server may take `start_timeout` seconds to load the model, and is started again at most
    `restarts` times in a run if it dies.
    """

    provider: Literal["vllm"]  # type: ignore[assignment]
    model: str = Field(min_length=1)
    name: str = ""
    adapter: str | None = Field(default=None, min_length=1)
    python: str | None = None
    gpus: int = Field(default=1, ge=0)
    args: dict[str, JsonValue] = Field(default_factory=dict)
    env: dict[str, str] = Field(default_factory=dict)
    structured: bool = True
    longest_text: int | None = Field(default=None, ge=20)
    batch_invariant: bool = False
    start_timeout: float = Field(default=1800, gt=0, allow_inf_nan=False)
    restarts: int = Field(default=3, ge=0)
    base_url: str = Field(default="", exclude=True)
    key_env: str | None = Field(default=None, exclude=True)
    timeout: float = Field(default=600, gt=0)
    price_in: float | None = Field(default=0.0, ge=0, allow_inf_nan=False)
    price_out: float | None = Field(default=0.0, ge=0, allow_inf_nan=False)

    @field_validator("base_url")
    @classmethod
    def _a_plain_web_address(cls, value: str) -> str:
        if value:
            raise ValueError(
                "a model with `provider: vllm` has no base_url, because recjury starts its server: "
                "leave it out, or leave `provider` out for a server that runs already"
            )
        return value

    @field_validator("args")
    @classmethod
    def _flags_that_may_stand_here(cls, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        return checked_args(value)

    @field_validator("env", mode="before")
    @classmethod
    def _plain_variables(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        for name in map(str, value):
            if not _VARIABLE.fullmatch(name):
                raise ValueError(f"{name!r} cannot be the name of an environment variable")
            if _SECRET.search(name):
                raise ValueError(
                    f"{name} must not stand here, because it may be a secret: set it in the shell, "
                    "and the server inherits it"
                )
        return {name: str(each) for name, each in value.items()}

    @model_validator(mode="after")
    def _has_a_name(self) -> Self:
        if not self.name:
            object.__setattr__(self, "name", Path(self.adapter or self.model).name)
        if self.name.startswith("-"):
            raise ValueError(f"`name` must not begin with a dash, got {self.name!r}")
        if self.embedding:
            raise ValueError("`provider: vllm` serves chat models only")
        if self.structured and self.json_mode != "off":
            raise ValueError("`structured` holds replies to their schema: leave `json_mode` out")
        if self.structured and _BACKEND in self.args:
            raise ValueError(
                f"`structured` needs the backend guidance: leave `{_BACKEND}` out of `args`, or "
                "set `structured: false`"
            )
        if self.batch_invariant and self.gpus == 0:
            raise ValueError("`batch_invariant` needs a GPU: vLLM has no such mode on a CPU")
        return self

    @cached_property
    def weights(self) -> tuple[str, str | None]:
        """What identifies the weights of the model and of its adapter; raises ConfigError."""
        model = weights_of(self.model, "model", "config.json")
        if self.adapter is None:
            return model, None
        return model, weights_of(self.adapter, "adapter", "adapter_config.json")

    @property
    def address(self) -> str:
        """The kind of provider and the weights, wherever they lie."""
        return "vllm:" + "+".join(filter(None, self.weights))

    @property
    def reply_options(self) -> dict[str, JsonValue]:
        """The settings of the server and of requests that can change a reply."""
        changing = {name: getattr(self, name) for name in _OF_REPLIES}
        return {**changing, "args": args_of_replies(self.args), "extra": self.extra}

    @property
    def interpreter(self) -> str:
        """The Python that runs the server."""
        return str(Path(self.python).expanduser()) if self.python else sys.executable

    def reply_settings(self) -> dict[str, JSON]:
        """The settings that can change a reply: where the server runs is not among them."""
        every = super().reply_settings()
        plain = {name: value for name, value in every.items() if name not in _OF_NO_REPLY}
        return {**plain, "args": args_of_replies(self.args), "weights": self.address}

    def body_fields(self, request: ChatRequest) -> dict[str, object]:
        """The fields of a request's body that only vLLM has."""
        if not self.structured:
            return {}
        form = structured_outputs(request, self.longest_text)
        return {} if form is None else {"structured_outputs": form}
