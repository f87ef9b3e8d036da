"""Which conversations a campaign consists of."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from recjury.campaign.build import Components
from recjury.campaign.config import CampaignConfig
from recjury.campaign.identity import conversation_id, play_settings
from recjury.records import Scenario
from recjury.simulator import LeakGuard
from recjury.store import PlannedConversation


class Unit(NamedTuple):
    """A conversation to hold and to evaluate.

    `id` is the store's, `corpus` the name of the corpus. `scenario` is None for a conversation
    that the store has already, or never gets.
    """

    id: str
    corpus: str
    system: str
    repeat: int
    scenario: Scenario | None = None


class Planned(NamedTuple):
    """A conversation to plan, and the scenario that it begins with."""

    conversation: PlannedConversation
    scenario: Scenario


def plan_conversations(
    config: CampaignConfig,
    scenarios: Mapping[str, Sequence[Scenario]],
    by: Mapping[str, Components],
) -> Iterator[Planned]:
    """Conversations corpus by corpus, then scenario by scenario, all systems of one together: so
    that systems can be compared when half is done. The same one comes once."""
    seen: set[str] = set()
    for corpus, drawn in scenarios.items():
        for planned in _of_corpus(config, drawn, by[corpus]):
            if planned.conversation.identity not in seen:
                seen.add(planned.conversation.identity)
                yield planned


def _of_corpus(
    config: CampaignConfig, scenarios: Sequence[Scenario], components: Components
) -> Iterator[Planned]:
    assert components.user is not None
    shared = play_settings(config, components.user, LeakGuard(components.catalogue))
    for repeat in range(config.repeats):
        for scenario in scenarios:
            for system in components.recommenders.values():
                settings = {"system": dict(system.settings), **shared}
                conversation = PlannedConversation(
                    identity=conversation_id(scenario, repeat, system, settings),
                    system=system.name,
                    scenario=scenario.id,
                    corpus=scenario.corpus,
                    repeat=repeat,
                    seed=config.seed,
                    settings=settings,
                )
                yield Planned(conversation, scenario)
