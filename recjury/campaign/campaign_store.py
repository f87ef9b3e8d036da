"""A campaign's place in the store: opened, claimed, and described by what it runs with."""

from contextlib import AsyncExitStack
from typing import NamedTuple

import recjury
from recjury.campaign.config import EvaluationConfig
from recjury.llm import Gateway, ModelSpec
from recjury.prompts import load_pack, pack_names
from recjury.store import Setup, Skipped, Store, package_versions


class OpenedCampaign(NamedTuple):
    """A store, and the id that the campaign has in it."""

    store: Store
    campaign: str


async def open_campaign(
    place: Store | str, identity: str, gateway: Gateway | None, stack: AsyncExitStack
) -> OpenedCampaign:
    """Open the store at `place`, claim the campaign, and let the gateway record its calls there.

    `stack` closes what was opened. Raises StoreError if another process runs the campaign.
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
    return OpenedCampaign(store, campaign)


def campaign_setup(config: EvaluationConfig, skipped: tuple[Skipped, ...] = ()) -> Setup:
    """Everything a campaign runs with: what one needs to run it again."""
    return Setup(
        config=config.model_dump(mode="json"),
        recjury=recjury.__version__,
        packages=package_versions(),
        seeds={"campaign": config.seed},
        packs={name: load_pack(name).digest for name in pack_names()},
        prices={alias: _prices(spec) for alias, spec in config.all_models.items()},
        skipped=skipped,
    )


def _prices(spec: ModelSpec) -> dict[str, float | None]:
    """A model's prices, in US dollars per million tokens; None where unknown."""
    return {"in": spec.price_in, "out": spec.price_out, "cached": spec.price_cached}
