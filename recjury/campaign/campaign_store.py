"""Open a campaign in the store, claim it, and describe what it runs with."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass

import recjury
from recjury.campaign.build import open_gateway
from recjury.campaign.config import EvaluationConfig
from recjury.campaign.provenance import package_versions, working_commit
from recjury.llm import NOTHING_SPENT, Gateway, Learning, ModelSpec, SpentBefore
from recjury.prompts import load_pack, pack_names
from recjury.store import Setup, Skipped, Store


@dataclass(frozen=True)
class OpenedCampaign:
    """A campaign in its store. `id` is its id there, `spent` what its earlier runs have spent."""

    store: Store
    id: str
    spent: SpentBefore = NOTHING_SPENT
    is_claimed: bool = False

    async def open_gateway(
        self, config: EvaluationConfig, stack: AsyncExitStack, learning: Mapping[str, Learning]
    ) -> Gateway | None:
        """Return a gateway that records its calls in the store; None if there is no model.

        `learning` is what was learned of the models when they were tried.
        """
        recorder = await stack.enter_async_context(self.store.recorder())
        return await open_gateway(config, recorder, stack, self.spent, learning)

    def create_store(self, stack: AsyncExitStack) -> None:
        """Make the store if it is new, and claim the campaign in it.

        Raises StoreError, for example if another process runs the campaign.
        """
        if not self.is_claimed:
            self.store.create()
            stack.enter_context(self.store.claim(self.id))


def open_campaign(place: Store | str, campaign: str, stack: AsyncExitStack) -> OpenedCampaign:
    """Open the store at `place` if it exists, and claim the campaign (its id) in it.

    A new store is made later, by `create_store`, after everything else has been checked. `stack`
    closes what was opened. Raises StoreError if another process runs the campaign.
    """
    store = stack.enter_context(Store.at(place)) if isinstance(place, str) else place
    if not store.exists:
        return OpenedCampaign(store, campaign)
    stack.enter_context(store.claim(campaign))
    before = store.spent(campaign)
    spent = SpentBefore(before.cost, before.prompt_tokens + before.completion_tokens)
    return OpenedCampaign(store, campaign, spent, is_claimed=True)


def campaign_setup(config: EvaluationConfig, skipped: tuple[Skipped, ...] = ()) -> Setup:
    """Everything a campaign runs with: all that is needed to run it again."""
    return Setup(
        config=config.model_dump(mode="json"),
        recjury=recjury.__version__,
        packages=package_versions(),
        commit=working_commit(),
        seeds={"campaign": config.seed},
        packs={name: load_pack(name).digest for name in pack_names()},
        prices={alias: _prices(spec) for alias, spec in config.all_models.items()},
        price_sources=_price_sources(config),
        skipped=skipped,
    )


def _prices(spec: ModelSpec) -> dict[str, float | None]:
    """The price of each model in US dollars per million tokens; None if it is unknown."""
    prices = spec.prices()
    return {"in": prices.per_prompt, "out": prices.per_completion, "cached": prices.per_cached}


def _price_sources(config: EvaluationConfig) -> dict[str, str]:
    models = config.all_models.items()
    return {alias: spec.price_source for alias, spec in models if spec.is_priced}
