"""The kinds of models that a campaign file can name, one's own among them, and their providers."""

from abc import abstractmethod
from collections.abc import Collection, Mapping
from typing import Annotated

from pydantic import BeforeValidator, SerializeAsAny

from recjury.errors import CallFailed, ConfigError
from recjury.llm.batch.spec import BatchModelSpec
from recjury.llm.endpoint_check import CallUse
from recjury.llm.endpoint_spec import EndpointSpec
from recjury.llm.learning import Learning
from recjury.llm.local_spec import LocalSpec
from recjury.llm.openai_provider import OpenAIProvider
from recjury.llm.provider import Completion, Provider
from recjury.llm.spec import ModelSpec
from recjury.llm.transport import HttpSession
from recjury.llm.vllm.spec import VllmSpec
from recjury.plugins import Registry, call_plugin, source_digest, validate_as
from recjury.records import JSON, ChatRequest

_SECONDS = 600.0  # for one reply


class OwnModel(ModelSpec):
    """Extend it, and name the class in a campaign file: `model: {provider: "module:Class", ...}`.

    Its fields are further keys of the model, and part of the identity of a call, as the source of
    the class is.
    """

    @abstractmethod
    def complete(self, request: ChatRequest) -> object:
        """The reply: a text, or a `Completion` with tokens; or an awaitable of either.

        A plain `def` runs in a thread. What it raises fails the call, not the campaign.
        """

    @property
    def address(self) -> str:
        """The path of the class."""
        return self.provider

    def reply_settings(self) -> dict[str, JSON]:
        """The settings that can change a reply."""
        return {**super().reply_settings(), "code": source_digest(type(self))}


class GuardedProvider:
    """Asks an own model; its errors fail one call."""

    def __init__(self, spec: OwnModel):
        """Nothing is asked before the first call."""
        self._spec = spec

    async def complete(self, request: ChatRequest) -> Completion:
        """The reply. Raises CallFailed if the model raises, is late, or gives no text."""
        found = await call_plugin(
            self._spec.complete,
            request,
            name=self._spec.name,
            within=_SECONDS,
            error=CallFailed,
        )
        if isinstance(found, str):
            return Completion(found)
        if not isinstance(found, Completion):
            raise CallFailed(f"{self._spec.name}: expected a text, got {type(found).__name__}")
        return found

    async def check(self) -> None:
        """Nothing is tried: it is code in this process."""

    async def aclose(self) -> None:
        """Nothing is held."""


MODEL_KINDS: Registry[type[ModelSpec]] = Registry(
    "provider",
    "recjury.models",
    {
        "openai": "recjury.llm.endpoint_spec:EndpointSpec",
        "openai-batch": "recjury.llm.batch.spec:BatchModelSpec",
        "transformers": "recjury.llm.local_spec:LocalSpec",
        "vllm": "recjury.llm.vllm.spec:VllmSpec",
    },
)
"""The kinds of models, by the key `provider` of a model in a campaign file."""


def read_model(given: object) -> ModelSpec:
    """A model as a campaign file or a store has it.

    Without `provider`, it is behind an OpenAI-compatible endpoint. Raises ValueError for an unknown
    provider, ValidationError for wrong keys, and ConfigError for a class that is no `OwnModel`.
    """
    if isinstance(given, ModelSpec):
        return given
    if not isinstance(given, Mapping):
        raise ValueError(f"expected a model's keys, got {given!r}")
    name = MODEL_KINDS.chosen(given, key="provider", default="openai")
    kind: object = MODEL_KINDS.load(name)
    if name not in MODEL_KINDS.built_in:
        if not (isinstance(kind, type) and issubclass(kind, OwnModel)):
            raise ConfigError(f"{name} is not a class that extends recjury.llm.OwnModel")
        if lacks := sorted(kind.__abstractmethods__):
            raise ConfigError(f"{name} is not a model: it has no {' and no '.join(lacks)}")
    return validate_as(kind, name, given)  # type: ignore[arg-type]  # checked above


ModelEntry = Annotated[SerializeAsAny[ModelSpec], BeforeValidator(read_model), MODEL_KINDS]
"""A model in a campaign file."""


def open_provider(
    spec: ModelSpec, session: HttpSession, uses: Collection[CallUse], learning: Learning | None
) -> Provider:
    """The provider that answers the requests to `spec`; the caller closes it.

    `uses` are the kinds of calls that its check tries, `learning` is what is known of an endpoint.
    Raises ConfigError for a key that is not set or a package that is missing.
    """
    if isinstance(spec, OwnModel):
        return GuardedProvider(spec)
    if isinstance(spec, LocalSpec):
        from recjury.llm.local_provider import LocalProvider

        return LocalProvider(spec)
    if isinstance(spec, BatchModelSpec):
        from recjury.llm.batch.provider import BatchProvider

        return BatchProvider(spec, session, uses, learning)
    if isinstance(spec, VllmSpec):
        from recjury.llm.vllm.provider import VllmProvider

        return VllmProvider(spec, session, uses, learning)
    assert isinstance(spec, EndpointSpec), spec.provider
    return OpenAIProvider(spec, session, uses, learning)
