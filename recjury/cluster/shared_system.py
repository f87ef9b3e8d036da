"""A system whose model is in one actor: what the workers have instead of it."""

import asyncio
from collections.abc import Mapping
from typing import Any, Self

from pydantic import PrivateAttr

from recjury.agents import System, SystemContext
from recjury.errors import SystemFailed, UnitFailed, UserError
from recjury.records import JSON, Conversation, SystemReply
from recjury.store import BEAT_SECONDS

_RESTART_SECONDS = 120.0
"""For an actor to be started again on another node, and to load its model."""


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
        from ray.exceptions import ActorUnavailableError, RayError

        corpus, waited = self._context.corpus.name, 0.0
        while True:
            try:
                answer: SystemReply | UnitFailed
                answer = await self._actor.respond.remote(corpus, conversation)
            except RayError as error:
                # Ray starts an actor again whose node was lost, but gives up what was asked of it.
                if isinstance(error, ActorUnavailableError) and waited < _RESTART_SECONDS:
                    await asyncio.sleep(BEAT_SECONDS)
                    waited += BEAT_SECONDS
                    continue
                raise SystemFailed(f"the actor of {self.name}: {type(error).__name__}") from error
            if isinstance(answer, UnitFailed):
                raise answer
            return answer
