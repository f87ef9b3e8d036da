"""A system whose model is in one actor: what the workers have instead of it."""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import PrivateAttr

from recjury.agents import System, SystemContext
from recjury.errors import SystemFailed, UnitFailed, UserError
from recjury.records import JSON, Conversation, SystemReply


class SharedSystem(System):
    """Asks the actor of a system, which answers the conversations of all workers in batches."""

    _actor: Any = PrivateAttr()
    _settings: Mapping[str, JSON] = PrivateAttr()

    @classmethod
    def of(cls, system: System, context: SystemContext, actor: Any) -> Self:
        """For one corpus. Waits until the model is loaded; raises UserError if it cannot be."""
        import ray

        shared = cls(kind=system.kind, name=system.name)
        shared._context, shared._actor = context, actor
        settings = ray.get(actor.prepare.remote(context.corpus.name))
        if isinstance(settings, UserError):
            raise settings
        shared._settings = settings
        return shared

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Those of the system itself."""
        return self._settings

    async def respond(self, conversation: Conversation) -> SystemReply:
        """The actor's answer. Raises UnitFailed if there is none."""
        from ray.exceptions import RayError

        try:
            answer: SystemReply | UnitFailed
            answer = await self._actor.respond.remote(self._context.corpus.name, conversation)
        except RayError as error:
            raise SystemFailed(f"the actor of {self.name}: {type(error).__name__}") from error
        if isinstance(answer, UnitFailed):
            raise answer
        return answer
