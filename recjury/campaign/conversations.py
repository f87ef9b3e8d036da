"""Holding one conversation of a campaign, and keeping what was said."""

import time
from collections.abc import Mapping

from recjury.campaign.build import Components
from recjury.campaign.config import SimulatorConfig
from recjury.campaign.plan import Unit
from recjury.errors import UnitFailed
from recjury.records import (
    JSON,
    Conversation,
    ConversationLog,
    ConversationRecord,
    Ending,
    Recommender,
    SystemReply,
)
from recjury.simulator import LeakGuard, converse
from recjury.store import Store


class ConversationFailed(UnitFailed):
    """A conversation did not come to its end; `said` is what there is of it."""

    def __init__(self, reason: str, said: ConversationLog | None = None):
        """Keep the reason, and what was said until then."""
        super().__init__(reason)
        self.said = said


class Conversations:
    """Holds the conversations about one corpus."""

    def __init__(self, store: Store, components: Components, session: SimulatorConfig):
        """`session` says how long a conversation lasts."""
        self._store, self._components, self._session = store, components, session
        self._guard = LeakGuard(components.catalogue)

    async def hold(self, unit: Unit) -> ConversationRecord:
        """Hold and keep the conversation of `unit`. Raises ConversationFailed."""
        assert unit.scenario is not None
        assert self._components.user is not None
        system = _Timed(self._components.recommenders[unit.system])
        said: list[ConversationLog] = []
        try:
            log = await converse(
                self._components.user,
                system,
                unit.scenario,
                self._guard,
                self._components.catalogue,
                min_rounds=self._session.min_rounds,
                max_rounds=self._session.max_rounds,
                list_length=self._session.list_length,
                broken_off=said.append,
            )
        except UnitFailed as failure:
            raise ConversationFailed(f"simulated user: {failure}", *said) from failure
        if log.ending is Ending.SYSTEM_FAILED:
            turns = log.system_turns
            raise ConversationFailed(f"turn {len(turns)}: {turns[-1].failure}", log)
        await self._store.save_log(unit.id, log, system.seconds)
        kept = self._store.record(unit.id)
        assert kept is not None
        return kept


class _Timed:
    """A system under test, and how many seconds each of its answers took, in order."""

    def __init__(self, system: Recommender):
        self._system = system
        self.seconds: list[float | None] = []

    @property
    def name(self) -> str:
        return self._system.name

    @property
    def settings(self) -> Mapping[str, JSON]:
        return self._system.settings

    async def respond(self, conversation: Conversation) -> SystemReply:
        asked = time.perf_counter()
        try:
            return await self._system.respond(conversation)
        finally:
            self.seconds.append(time.perf_counter() - asked)

    async def aclose(self) -> None:
        await self._system.aclose()
