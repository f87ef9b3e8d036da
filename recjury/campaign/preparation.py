"""Everything a campaign needs, made and checked before anything is written.

Whatever the user can fix (a missing folder, an unset key, an endpoint that refuses, a checkpoint
of another catalogue) is raised here, while the store is still untouched.
"""

from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from recjury.campaign.cast import Cast, debaters_for, simulating_cast
from recjury.campaign.config import CampaignConfig, RatingConfig, ScenarioSource
from recjury.campaign.identity import campaign_id, trial_settings
from recjury.campaign.plan import Trial, simulated_trials
from recjury.corpora import Corpus, open_corpus
from recjury.debate import Debater
from recjury.llm import Gateway
from recjury.records import Scenario
from recjury.store import Skipped, Store


@dataclass(frozen=True)
class Prepared:
    """A campaign ready to run."""

    id: str
    config: CampaignConfig
    casts: Mapping[str, Cast]
    debaters: Debater | None
    gateway: Gateway | None
    trials: tuple[Trial, ...]
    skipped: tuple[Skipped, ...]


def open_gateway(config: RatingConfig) -> Gateway | None:
    """The gateway to the campaign's models; None for a campaign without any.

    It can check them; calls can be made once it has something to record them in.
    """
    if not config.all_models:
        return None
    return Gateway(config.all_models, concurrency=config.concurrency, budget=config.budget)


async def open_store(
    place: Store | str, campaign: str, gateway: Gateway | None, stack: AsyncExitStack
) -> Store:
    """The store at `place`, with the gateway recording in it; `stack` closes what was opened."""
    store = stack.enter_context(Store.open(place)) if isinstance(place, str) else place
    recorder = await stack.enter_async_context(store.recorder())
    if gateway is not None:
        gateway.record_in(recorder, spent=store.spent(campaign).cost)
    return store


async def prepare(
    config: CampaignConfig, stack: AsyncExitStack, *, limit: int | None = None
) -> Prepared:
    """Open corpora and systems, try every model and system over HTTP, and plan the trials.

    `limit` draws that many scenarios from each source instead of what the file says. What was
    opened is closed by `stack`. Raises Fixable.
    """
    opened = open_sources(config)
    scenarios, skipped = draw_scenarios(opened, config.seed, limit)
    gateway = open_gateway(config)
    if gateway is not None:
        await stack.enter_async_context(gateway)
        await gateway.check()
    corpora = {corpus.name: corpus for _, corpus in opened}
    casts = {name: simulating_cast(config, corpus, gateway) for name, corpus in corpora.items()}
    for cast in casts.values():
        stack.push_async_callback(cast.aclose)
    for cast in casts.values():
        await cast.check()
    debaters = debaters_for(config, gateway)
    trials = tuple(
        trial
        for name, drawn in scenarios.items()
        for trial in simulated_trials(
            scenarios=drawn,
            systems={system: dict(r.settings) for system, r in casts[name].recommenders.items()},
            settings=trial_settings(config, casts[name], debaters),
            repeats=config.repeats,
        )
    )
    return Prepared(campaign_id(config), config, casts, debaters, gateway, trials, skipped)


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
