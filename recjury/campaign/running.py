"""Run a campaign: claim it, plan what is left, advance every unit, say how it ended."""

from contextlib import AsyncExitStack
from typing import NamedTuple

import recjury
from recjury.campaign.config import CampaignConfig, EvaluationConfig
from recjury.campaign.pipeline import Pipeline
from recjury.campaign.plan import Unit
from recjury.campaign.preparation import open_store, prepare
from recjury.campaign.progress import Progress
from recjury.corpora import corpus_name
from recjury.llm import ModelSpec
from recjury.prompts import load_pack, pack_names
from recjury.store import Campaign, Setup, Skipped, Store, package_versions


class RunResult(NamedTuple):
    """How a run ended, in conversations: `planned` = `done` + `failed`, unless interrupted.

    `conversations` are the ids of what was planned: a store may have more of the campaign.
    `evaluators` are the labels of those that evaluated. `set_aside` conversations belonged to
    the campaign until something that can change them (a system, the data) did change: they stay
    in the store, and out of its tables.
    """

    campaign: str
    planned: int
    done: int
    failed: int
    skipped: tuple[Skipped, ...] = ()
    set_aside: int = 0
    conversations: frozenset[str] = frozenset()
    evaluators: tuple[str, ...] = ()


async def run_campaign(
    config: CampaignConfig,
    place: Store | str,
    *,
    limit: int | None = None,
    progress: Progress | None = None,
) -> RunResult:
    """Run `config`, or go on with it where the store has a part of it already.

    A store given by its URL is opened, or made, once everything else is in order. `limit` draws
    that many scenarios from each source instead of what the file says. Raises UserError for what
    the user can mend: before the first conversation with nothing written, later (an endpoint that
    has come to refuse) with everything kept that was finished.
    """
    progress = progress or Progress()
    async with AsyncExitStack() as stack:
        prepared = await prepare(config, stack, limit=limit)
        await prepared.check_systems(place)
        store, campaign = await open_store(place, prepared.id, prepared.gateway, stack)
        begun = setup(config, prepared.skipped)
        store.begin(Campaign(id=campaign, identity=prepared.id, name=config.name, setup=begun))
        plan = store.plan(campaign, [planned.conversation for planned in prepared.planned])
        units = [
            Unit(
                id=plan.ids[conversation.identity],
                corpus=corpus_name(conversation.corpus),
                system=conversation.system,
                repeat=conversation.repeat,
                scenario=scenario,
            )
            for conversation, scenario in prepared.planned
        ]
        progress.usage = prepared.gateway.usage if prepared.gateway else None
        pipeline = Pipeline(store, prepared.components, config, progress, session=config.simulator)
        await pipeline.run(campaign, units)
    return ended(campaign, units, progress, config)._replace(
        skipped=prepared.skipped, set_aside=plan.set_aside
    )


def ended(
    campaign: str, units: list[Unit], progress: Progress, config: EvaluationConfig
) -> RunResult:
    """How a run of these units ended."""
    tally = progress.conversations
    return RunResult(
        campaign=campaign,
        planned=tally.planned,
        done=tally.done,
        failed=tally.failed,
        conversations=frozenset(unit.id for unit in units),
        evaluators=tuple(entry.label for entry in config.evaluators),
    )


def setup(config: EvaluationConfig, skipped: tuple[Skipped, ...] = ()) -> Setup:
    """What a campaign runs with, for whoever wants to do it again."""
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
    """A model's prices, in US dollars per million tokens; None where not known."""
    return {"in": spec.price_in, "out": spec.price_out, "cached": spec.price_cached}
