"""The kinds of models that a campaign file can name, and the provider of each."""

from collections.abc import Collection, Mapping
from typing import Annotated

from pydantic import Discriminator, Tag, TypeAdapter

from recjury.llm.batch.spec import BatchModelSpec
from recjury.llm.endpoint_check import CallUse
from recjury.llm.endpoint_spec import EndpointSpec
from recjury.llm.learning import Learning
from recjury.llm.local_spec import LocalSpec
from recjury.llm.openai_provider import OpenAIProvider
from recjury.llm.provider import Provider
from recjury.llm.spec import ModelSpec
from recjury.llm.transport import HttpSession
from recjury.llm.vllm.spec import VllmSpec


def _provider_of(given: object) -> object:
    """The `provider` of a model, given as in a campaign file or as a spec."""
    if isinstance(given, Mapping):
        return given.get("provider", "openai")
    return getattr(given, "provider", "openai")


ModelEntry = Annotated[
    Annotated[EndpointSpec, Tag("openai")]
    | Annotated[BatchModelSpec, Tag("openai-batch")]
    | Annotated[LocalSpec, Tag("transformers")]
    | Annotated[VllmSpec, Tag("vllm")],
    Discriminator(_provider_of),
]
"""A model in a campaign file; without `provider`, it is behind an OpenAI-compatible endpoint."""

_ENTRY: TypeAdapter[EndpointSpec | BatchModelSpec | LocalSpec | VllmSpec] = TypeAdapter(ModelEntry)


def read_model(given: object) -> ModelSpec:
    """A model as a campaign file or a store has it. Raises pydantic's ValidationError."""
    return _ENTRY.validate_python(given)


def open_provider(
    spec: ModelSpec, session: HttpSession, uses: Collection[CallUse], learning: Learning | None
) -> Provider:
    """The provider that answers the requests to `spec`; the caller closes it.

    `uses` are the kinds of calls that its check tries, `learning` is what is known of an endpoint.
    Raises ConfigError for a key that is not set or a package that is missing.
    """
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
