"""Play the conversation of a unit, or the rest of one that failed."""

import time
from collections.abc import Mapping

from recjury.campaign.build import Components
from recjury.campaign.plan import Unit
from recjury.errors import StoreError
from recjury.records import (
    JSON,
    PLAIN,
    Conversation,
    ConversationLog,
    ConversationRecord,
    Ending,
    Recommender,
    SystemReply,
)
from recjury.simulator import ConversationFailed, LeakGuard, SessionSettings, converse, reply_once
from recjury.store import Store


class Player:
    """Plays conversations with the systems of a campaign, and stores them."""

    def __init__(
        self, store: Store, components: Mapping[str, Components], session: SessionSettings
    ):
        """`components` are by corpus; without a user, systems only reply to histories.

        `session` has the rules of the conversations.
        """
        self._store, self._components, self._session = store, components, session
        self._guards = {
            name: each.guard or LeakGuard(each.catalogue)
            for name, each in components.items()
            if each.user is not None
        }

    async def play(self, unit: Unit) -> ConversationRecord:
        """Play the conversation, or the rest of one that failed, and store it.

        Raises ConversationFailed.
        """
        components, earlier = self._components[unit.corpus], self._earlier(unit)
        system = _TimedSystem(components.recommenders[unit.system])
        if earlier is not None:  # how long its turns took is not stored, unless they are calls
            system.seconds += [None for turn in earlier.system_turns if turn.failure is None]
        log = await self._play(unit, components, system, earlier)
        await self._store.save_log(unit.id, log, system.seconds)
        kept = self._store.record(unit.id)
        assert kept is not None
        return kept

    def _earlier(self, unit: Unit) -> ConversationLog | None:
        """The log of a conversation that failed, if it can go on from there."""
        try:
            unfinished = self._store.unfinished(unit.id)
        except StoreError:  # it was altered: the conversation begins again
            return None
        if unfinished is None or unfinished.log.scenario != unit.scenario:
            return None
        return unfinished.log

    async def _play(
        self,
        unit: Unit,
        components: Components,
        system: "_TimedSystem",
        earlier: ConversationLog | None,
    ) -> ConversationLog:
        assert unit.scenario is not None
        if components.user is None:
            log = await reply_once(
                system, unit.scenario, components.catalogue, self._session.list_length
            )
        else:
            population, rounds = components.population, self._session.max_rounds
            person = PLAIN if population is None else population.person(unit.scenario, rounds)
            log = await converse(
                components.user,
                system,
                unit.scenario,
                self._guards[unit.corpus],
                components.catalogue,
                self._session,
                person=person,
                earlier=earlier,
            )
        if log.ending is Ending.SYSTEM_FAILED:
            turns = log.system_turns
            raise ConversationFailed(f"turn {len(turns)}: {turns[-1].failure}", log)
        return log


class _TimedSystem:
    """A system under test, and the seconds that each of its answers took, in order."""

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
