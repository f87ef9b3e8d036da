"""Open a campaign: its models, its place in the store, and what it runs with."""

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass

import recjury
from recjury.campaign.build import open_gateway, try_models
from recjury.campaign.config import CampaignConfig, EvaluationConfig
from recjury.campaign.provenance import (
    code_digest,
    data_checksums,
    package_versions,
    working_commit,
)
from recjury.corpora import Corpus
from recjury.errors import StoreError
from recjury.llm import Gateway, ModelSpec, SpentBefore, running_servers
from recjury.logs import get_logger
from recjury.prompts import load_pack, pack_names
from recjury.store import Campaign, Setup, Shard, Skipped, Store, Worker

logger = get_logger()


@dataclass
class OpenedCampaign:
    """A campaign in its store. `id` is its id there.

    `gateway` records its calls in the store; it is None if the campaign has no model. `stack`
    closes what is opened for the campaign.
    """

    store: Store
    id: str
    gateway: Gateway | None
    stack: AsyncExitStack

    def begin(self, name: str, setup: Setup) -> Worker:
        """Make the store if it is new, and store what the campaign runs with.

        Returns this process as one of those that run it. Warns if other code of recjury ran it
        before. Raises StoreError, also if the store has a part of another division in shards.
        """
        self.store.create()
        for before in (each.setup for each in self.store.campaigns() if each.id == self.id):
            self._check_same(before, setup)
        self.store.begin(Campaign(id=self.id, name=name, setup=setup))
        return self.stack.enter_context(joined(self.store, self.id, self.gateway))

    def _check_same(self, before: Setup, now: Setup) -> None:
        divisions = {each.shard.partition("/")[2] for each in (before, now) if each.shard}
        if len(divisions) > 1:
            raise StoreError(
                f"{self.store.location} has part {before.shard} of campaign {self.id}, and not "
                f"{now.shard}: divide it as before, name another store, or leave out --shard to "
                "run all of it here"
            )
        if before.own_code != now.own_code:
            logger.warning(
                f"campaign {self.id} ran with {before.own_code} and goes on with {now.own_code}: "
                "what is there is kept"
            )


@contextmanager
def joined(store: Store, campaign: str, gateway: Gateway | None) -> Iterator[Worker]:
    """This process as one of those that run a campaign, with which `gateway` shares its budget."""
    with store.working(campaign) as worker:
        if gateway is not None:
            gateway.budget.share(worker.ledger(gateway.budget.unit))
        yield worker


def spent_before(store: Store, campaign: str) -> SpentBefore:
    """What was spent of a campaign's budget."""
    before = store.spent(campaign)
    return SpentBefore(before.cost, before.prompt_tokens + before.completion_tokens)


@asynccontextmanager
async def opened_campaign(
    config: EvaluationConfig, place: Store | str, campaign: str
) -> AsyncIterator[OpenedCampaign]:
    """The campaign with this id in the store at `place`; its models have been tried.

    If `place` is a URL or path, the store is opened after that; a new one is made by `begin`. Model
    servers that are started for it end with it. Raises UserError for a model that cannot be used.
    """
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(running_servers())
        learning = await try_models(config)
        store = stack.enter_context(Store.at(place)) if isinstance(place, str) else place
        spent = spent_before(store, campaign) if store.exists else SpentBefore()
        recorder = await stack.enter_async_context(store.recorder())
        gateway = await open_gateway(config, recorder, stack, spent, learning)
        yield OpenedCampaign(store, campaign, gateway, stack)


def campaign_setup(
    config: EvaluationConfig,
    corpora: Iterable[Corpus | None] = (),
    skipped: tuple[Skipped, ...] = (),
    shard: Shard = Shard(),  # noqa: B008 (it cannot be changed)
) -> Setup:
    """Everything a campaign runs with: all that is needed to run it again."""
    return Setup(
        config=config.model_dump(mode="json"),
        recjury=recjury.__version__,
        code=code_digest(),
        packages=package_versions(),
        commit=working_commit(),
        seeds={"campaign": config.seed},
        packs={name: load_pack(name).digest for name in pack_names()},
        data=data_checksums(corpora),
        prices={alias: _prices(spec) for alias, spec in config.all_models.items()},
        price_sources=_price_sources(config),
        skipped=skipped,
        isolation=_isolation(config),
        shard=str(shard) if shard.of > 1 else "",
    )


def _isolation(config: EvaluationConfig) -> dict[str, str]:
    systems = config.systems if isinstance(config, CampaignConfig) else ()
    evaluators = {f"evaluators.{each.label}": each.isolation for each in config.evaluators}
    found = {**{each.name: each.isolation for each in systems}, **evaluators}
    return {name: where for name, where in found.items() if where}


def _prices(spec: ModelSpec) -> dict[str, float | None]:
    """The price of each model in US dollars per million tokens; None if it is unknown."""
    prices = spec.prices()
    return {"in": prices.per_prompt, "out": prices.per_completion, "cached": prices.per_cached}


def _price_sources(config: EvaluationConfig) -> dict[str, str]:
    models = config.all_models.items()
    return {alias: spec.price_source for alias, spec in models if spec.is_priced}
