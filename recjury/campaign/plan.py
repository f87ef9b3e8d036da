"""Plan a campaign: its scenarios, and the conversations that they make with its systems."""

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from recjury.campaign.build import Components
from recjury.campaign.config import CampaignConfig, ScenarioSource
from recjury.campaign.identity import campaign_id, conversation_id, play_settings
from recjury.corpora import Corpus, ScenarioSet, Unresolved, corpus_name, open_corpus
from recjury.corpora.opening import is_own_corpus
from recjury.errors import DataError, RecjuryError
from recjury.plugins import describe_exception
from recjury.records import Scenario
from recjury.simulator import LeakGuard
from recjury.store import Placed, PlannedConversation, Selection, Skipped, Store

T = TypeVar("T")

ALL = Selection()
"""Every conversation."""


class DrawnScenarios(NamedTuple):
    """Scenarios by the name of their corpus, the corpora, and the records that were skipped.

    A record is skipped if it gives no scenario, or if it loses a target.
    """

    corpora: Mapping[str, Corpus]
    scenarios: Mapping[str, Sequence[Scenario]]
    skipped: tuple[Skipped, ...]


class Unit(NamedTuple):
    """A conversation to play and to evaluate.

    `id` is its id in the store, and `corpus` the name of its corpus. `scenario` is None if the
    conversation must not be played: the store has it already, or cannot get it.
    """

    id: str
    corpus: str
    system: str
    repeat: int
    scenario: Scenario | None = None


class ConversationPlan(NamedTuple):
    """A conversation as the store plans it, and the scenario that it starts from."""

    conversation: PlannedConversation
    scenario: Scenario


class CampaignPlan:
    """All conversations of a campaign, in the order in which they start.

    They are made whenever they are asked for, and not held. `id` is the campaign's identity.
    """

    def __init__(
        self,
        config: CampaignConfig,
        drawn: DrawnScenarios,
        components: Mapping[str, Components],
        selection: Selection = ALL,
        failed: Collection[str] = (),
    ):
        """`selection` says which of them are taken; `failed` are the ids of those that failed."""
        self.id, self.selection = campaign_id(config), selection
        self._failed = frozenset(failed)
        self._config, self._drawn, self._components = config, drawn, components

    @property
    def conversations(self) -> Iterator[ConversationPlan]:
        """The selected ones. Raises StoreError if there is none."""
        return (each for _, each in self._placed())

    @property
    def places(self) -> Iterator[Placed]:
        """The same for the store: each with its place among all."""
        return (Placed(place, each.conversation) for place, each in self._placed())

    def _placed(self) -> Iterator[tuple[int, ConversationPlan]]:
        every: Iterator[tuple[int, ConversationPlan]] = enumerate(self._every())
        if self.selection.is_all:
            return every
        dealt, failed = self.selection.shard.dealt(), self.selection.failed
        return self.selection.taken(
            every,
            lambda each: each[1].conversation,
            lambda planned: dealt(planned) and (not failed or planned.id in self._failed),
        )

    def _every(self) -> Iterator[ConversationPlan]:
        found = (
            each
            for corpus, scenarios in self._drawn.scenarios.items()
            for each in _conversations(self._config, scenarios, self._components[corpus])
        )
        # Several sources may give the same scenario.
        once = found if len(self._config.scenarios) == 1 else _once_each(found)
        return once if self._config.stop is None else iter(_shuffled(once, self._config.seed))

    def unplayed(self, store: Store | None = None) -> set[tuple[str, str]]:
        """Corpus and system of each conversation that `store` does not have yet.

        The store is only read, and its file does not need to exist.
        """
        known = store if store is not None and store.exists else None
        found: set[tuple[str, str]] = set()
        most = sum(len(each.recommenders) for each in self._components.values())
        for page in pages(self.conversations):
            ids = [each.conversation.id for each in page]
            held: Mapping[str, str] = {} if known is None else known.log_ids_of(ids)
            found |= {
                (corpus_name(conversation.corpus), conversation.system)
                for conversation, _ in page
                if conversation.id not in held
            }
            if len(found) == most:
                break
        return found

    def units(self) -> Iterator[Unit]:
        """The units of work."""
        for conversation, scenario in self.conversations:
            yield Unit(
                id=conversation.id,
                corpus=corpus_name(conversation.corpus),
                system=conversation.system,
                repeat=conversation.repeat,
                scenario=scenario,
            )


Units = Callable[[], Iterable[Unit]]
"""Gives the units in order, each time that it is called."""


def beginning_at(start: int, units: Units) -> Iterator[Unit]:
    """The units from a place on, and then those before it."""
    return chain(islice(units(), start, None), islice(units(), start))


def pages(found: Iterable[T], size: int = 500) -> Iterator[tuple[T, ...]]:
    """Some at a time, as one question to the store takes them."""
    each = iter(found)
    while page := tuple(islice(each, size)):
        yield page


def _once_each(planned: Iterable[ConversationPlan]) -> Iterator[ConversationPlan]:
    seen: set[str] = set()
    for each in planned:
        if each.conversation.id not in seen:
            seen.add(each.conversation.id)
            yield each


def draw_scenarios(config: CampaignConfig, limit: int | None = None) -> DrawnScenarios:
    """Open the campaign's corpora and draw its scenarios; sources of one corpus share it.

    `limit` replaces the limit of each source in the file. Raises UserError for a corpus or split
    that does not exist.
    """
    opened = _open_corpora(config)
    scenarios: dict[str, list[Scenario]] = {}
    skipped: list[Skipped] = []
    for source in config.scenarios:
        corpus = opened[source.corpus]
        found = _drawn(corpus, source, limit or source.limit, config.seed)
        if config.is_offline:
            found = _with_history_and_target(found, f"{corpus.name}/{source.split}")
        scenarios.setdefault(corpus.name, []).extend(found.scenarios)
        place = f"{corpus.name}/{source.split}"
        skipped += (
            Skipped(corpus=place, record=lost.record, reason=lost.reason)
            for lost in (*found.unresolved, *found.partial)
        )
    corpora = {corpus.name: corpus for corpus in opened.values()}
    return DrawnScenarios(corpora, scenarios, tuple(skipped))


def _drawn(corpus: Corpus, source: ScenarioSource, limit: int | None, seed: int) -> ScenarioSet:
    try:
        return corpus.scenarios(source.split, limit, seed)
    except Exception as error:
        if isinstance(error, RecjuryError) or not is_own_corpus(source.corpus):
            raise
        raise DataError(f"the corpus {source.corpus}: {describe_exception(error)}") from error


def _with_history_and_target(found: ScenarioSet, place: str) -> ScenarioSet:
    """The scenarios that an offline session can use; the others are unresolved.

    Raises DataError if there are none.
    """
    missing = [
        Unresolved(each.record, "no history" if each.targets else "no target")
        for each in found.scenarios
        if not (each.history and each.targets)
    ]
    usable = tuple(each for each in found.scenarios if each.history and each.targets)
    if not usable:
        raise DataError(
            f"{place} has no recorded dialogues with targets, which `session: offline` needs: "
            "choose another corpus, or play its scenarios without `session: offline`"
        )
    return replace(found, scenarios=usable, unresolved=(*found.unresolved, *missing))


def plan_campaign(
    config: CampaignConfig,
    drawn: DrawnScenarios,
    components: Mapping[str, Components],
    selection: Selection = ALL,
    failed: Collection[str] = (),
) -> CampaignPlan:
    """Plan every drawn scenario with every system, `repeats` times, or a selection of these.

    The order is corpus, repeat, scenario, system, so that systems can be compared when only half of
    the campaign is done. If it may stop early, the order of the scenarios is random, by the seed,
    and the repeats of a scenario follow each other: what is played first then stands for all. If
    several sources give the same conversation, it is planned once.
    """
    return CampaignPlan(config, drawn, components, selection, failed)


def _shuffled(planned: Iterable[ConversationPlan], seed: int) -> list[ConversationPlan]:
    """Conversations of one scenario stay together."""
    by_scenario: dict[tuple[str, str], list[ConversationPlan]] = {}
    for each in planned:
        key = (each.conversation.corpus, each.scenario.id)
        by_scenario.setdefault(key, []).append(each)
    keys = sorted(by_scenario)
    random.Random(seed).shuffle(keys)
    return [each for key in keys for each in by_scenario[key]]


def _open_corpora(config: CampaignConfig) -> dict[str, Corpus]:
    """The corpora by the name used in `scenarios`; all are opened before any scenario is drawn."""
    data = Path(config.data) if config.data else None
    names: Iterable[str] = dict.fromkeys(source.corpus for source in config.scenarios)
    return {name: open_corpus(name, data) for name in names}


def _conversations(
    config: CampaignConfig, scenarios: Sequence[Scenario], components: Components
) -> Iterator[ConversationPlan]:
    guard = components.guard
    if components.user is not None and guard is None:
        guard = LeakGuard(components.catalogue)
    shared = play_settings(config, components.user, guard, components.population)
    for repeat in range(config.repeats):
        for scenario in scenarios:
            for system in components.recommenders.values():
                settings = {"system": dict(system.settings), **shared}
                conversation = PlannedConversation(
                    id=conversation_id(scenario, repeat, system, settings),
                    system=system.name,
                    scenario=scenario.id,
                    corpus=scenario.corpus,
                    repeat=repeat,
                    seed=config.seed,
                    settings=settings,
                )
                yield ConversationPlan(conversation, scenario)
