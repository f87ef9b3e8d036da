"""A kind of model of one's own: a class whose fields are its keys, and that answers requests."""

from abc import abstractmethod

from recjury.errors import CallFailed
from recjury.llm.provider import Completion
from recjury.llm.spec import ModelSpec
from recjury.plugins import call_plugin, source_digest
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
