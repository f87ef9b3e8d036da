"""Open a campaign in the store, claim it, and describe what it runs with."""

from contextlib import AsyncExitStack
from typing import NamedTuple

import recjury
from recjury.campaign.build import checked_gateway
from recjury.campaign.config import EvaluationConfig
from recjury.llm import NOTHING_SPENT, Gateway, ModelSpec, SpentBefore
from recjury.prompts import load_pack, pack_names
from recjury.store import Setup, Skipped, Store, package_versions


class OpenedCampaign(NamedTuple):
    """A store, and the id that the campaign has in it."""

    store: Store
    campaign: str


def open_campaign(place: Store | str, identity: str, stack: AsyncExitStack) -> OpenedCampaign:
    """Claim the campaign in the store at `place`.

    An existing store is opened. A new one is made only by `Store.create`, after everything else has
    been checked. `stack` closes what was opened. Raises StoreError if another process runs the
    campaign.
    """
    store = stack.enter_context(Store.at(place)) if isinstance(place, str) else place
    campaign = store.campaign_id(identity) if store.exists else identity
    stack.enter_context(store.claim(campaign))
    return OpenedCampaign(store, campaign)


async def open_gateway(
    config: EvaluationConfig, opened: OpenedCampaign, stack: AsyncExitStack
) -> Gateway | None:
    """Return a gateway to the models that records its calls in the store; every model is tried.

    None if the campaign has no model. Raises UserError.
    """
    if not config.has_models:
        return None
    store, campaign = opened
    recorder = await stack.enter_async_context(store.recorder())
    spent = NOTHING_SPENT
    if store.exists:
        before = store.spent(campaign)
        spent = SpentBefore(before.cost, before.prompt_tokens + before.completion_tokens)
    return await checked_gateway(config, recorder, stack, spent)


def campaign_setup(config: EvaluationConfig, skipped: tuple[Skipped, ...] = ()) -> Setup:
    """Everything a campaign runs with: all that is needed to run it again."""
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
    """The price of each model in US dollars per million tokens; None if it is unknown."""
    return {"in": spec.price_in, "out": spec.price_out, "cached": spec.price_cached}
