"""Everything a campaign needs, made and checked before anything is written.

Whatever the user can fix (a missing folder, an unset key, an endpoint that refuses, a checkpoint
of another catalogue) is raised here, while the store is still untouched.
"""

from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from recjury.campaign.build import Components, playing_components
from recjury.campaign.config import CampaignConfig, EvaluationConfig, ScenarioSource
from recjury.campaign.identity import campaign_id
from recjury.campaign.plan import Planned, plan_conversations
from recjury.corpora import Corpus, corpus_name, open_corpus
from recjury.llm import Gateway
from recjury.records import Scenario
from recjury.store import Skipped, Store, store_path


@dataclass(frozen=True)
class Prepared:
    """A campaign ready to run; `id` is its identity."""

    id: str
    components: Mapping[str, Components]
    gateway: Gateway | None
    planned: tuple[Planned, ...]
    skipped: tuple[Skipped, ...]

    async def check_systems(self, place: Store | str | None = None) -> None:
        """Try the systems that have something left to play, by what the store at `place` has.

        Raises UserError for the first that cannot be used; nothing is written.
        """
        held = _held(place, [planned.conversation.identity for planned in self.planned])
        left = {
            (corpus_name(conversation.corpus), conversation.system)
            for conversation, _ in self.planned
            if conversation.identity not in held
        }
        for corpus, components in self.components.items():
            await components.check([system for where, system in left if where == corpus])


def _held(place: Store | str | None, identities: Iterable[str]) -> Mapping[str, str]:
    if isinstance(place, Store):
        return place.logs_of(identities)
    if place is None or not store_path(place).is_file():
        return {}
    with Store.open(place, create=False) as store:
        return store.logs_of(identities)


async def open_gateway(config: EvaluationConfig, stack: AsyncExitStack) -> Gateway | None:
    """The gateway to the models, which were all tried; None where there is none.

    Calls can be made once it has something to record them in: see `open_store`. Raises UserError.
    """
    if not config.has_models:
        return None
    gateway = Gateway(config.all_models, concurrency=config.concurrency, budget=config.budget)
    await stack.enter_async_context(gateway)
    await gateway.check()
    return gateway


class OpenedStore(NamedTuple):
    """A store, and the id that the campaign has in it."""

    store: Store
    campaign: str


async def open_store(
    place: Store | str, identity: str, gateway: Gateway | None, stack: AsyncExitStack
) -> OpenedStore:
    """The store at `place`, with a campaign claimed and the gateway recording in it.

    `stack` closes what was opened. Raises StoreError where another process runs the campaign.
    """
    store = stack.enter_context(Store.open(place)) if isinstance(place, str) else place
    campaign = store.campaign_id(identity)
    recorder = await stack.enter_async_context(store.recorder())
    stack.enter_context(store.claim(campaign))
    if gateway is not None:
        spent = store.spent(campaign)
        gateway.record_in(
            recorder,
            spent_cost=spent.cost,
            spent_tokens=spent.prompt_tokens + spent.completion_tokens,
        )
    return OpenedStore(store, campaign)


async def prepare(
    config: CampaignConfig, stack: AsyncExitStack, *, limit: int | None = None
) -> Prepared:
    """Open corpora and systems, try every model, and plan.

    `limit` draws that many scenarios from each source instead of what the file says. What was
    opened is closed by `stack`. Raises UserError.
    """
    opened = open_sources(config)
    scenarios, skipped = draw_scenarios(opened, config.seed, limit)
    gateway = await open_gateway(config, stack)
    corpora = {corpus.name: corpus for _, corpus in opened}
    components = {
        name: playing_components(config, corpus, gateway) for name, corpus in corpora.items()
    }
    for some in components.values():
        stack.push_async_callback(some.aclose)
    planned = tuple(plan_conversations(config, scenarios, components))
    return Prepared(campaign_id(config), components, gateway, planned, skipped)


class Opened(NamedTuple):
    """A source of scenarios, and the corpus it draws from."""

    source: ScenarioSource
    corpus: Corpus


def open_sources(config: CampaignConfig) -> tuple[Opened, ...]:
    """The campaign's sources; those of one corpus share it."""
    data = Path(config.data) if config.data else None
    corpora: dict[str, Corpus] = {}
    for source in config.scenarios:
        if source.corpus not in corpora:
            corpora[source.corpus] = open_corpus(source.corpus, data)
    return tuple(Opened(source, corpora[source.corpus]) for source in config.scenarios)


def draw_scenarios(
    opened: Iterable[Opened], seed: int, limit: int | None
) -> tuple[dict[str, list[Scenario]], tuple[Skipped, ...]]:
    """The scenarios by corpus, and the records that gave none or lost a target."""
    drawn: dict[str, list[Scenario]] = {}
    skipped: list[Skipped] = []
    for source, corpus in opened:
        found = corpus.scenarios(source.split, limit or source.limit, seed)
        drawn.setdefault(corpus.name, []).extend(found.scenarios)
        place = f"{corpus.name}/{source.split}"
        skipped += (
            Skipped(corpus=place, record=lost.record, reason=lost.reason)
            for lost in (*found.unresolved, *found.partial)
        )
    return drawn, tuple(skipped)
