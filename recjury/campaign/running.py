"""Run a campaign: claim it, plan what is left, walk every trial, say how it ended."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import NamedTuple

import recjury
from recjury.campaign.config import CampaignConfig, RatingConfig
from recjury.campaign.executors.local import run_local
from recjury.campaign.pipeline import Pipeline, Unit
from recjury.campaign.plan import Trial
from recjury.campaign.preparation import open_store, prepare
from recjury.campaign.progress import Progress
from recjury.llm import ModelSpec
from recjury.prompts import load_pack, pack_names
from recjury.store import Campaign, Setup, Skipped, Store, package_versions


class RunResult(NamedTuple):
    """How a run ended. `planned` = `done` + `failed`, unless it was interrupted.

    `trials` are the ids of what was planned: a store may have more of the campaign. `set_aside`
    trials belonged to the campaign until something that can change their results
    (a system, a rubric, the data) did change: they stay in the store, and out of its tables.
    """

    campaign: str
    planned: int
    done: int
    failed: int
    skipped: tuple[Skipped, ...] = ()
    set_aside: int = 0
    trials: frozenset[str] = frozenset()


async def run_campaign(
    config: CampaignConfig,
    store: Store | str,
    *,
    limit: int | None = None,
    progress: Progress | None = None,
) -> RunResult:
    """Run `config`, or go on with it where `store` has a part of it already.

    A `store` given by its URL is opened, or made, once everything else is in order. `limit` draws
    that many scenarios from each source instead of what the file says. Raises Fixable for what
    the user can mend: before the first trial with nothing written, later (an endpoint that has
    come to refuse) with everything kept that was finished.
    """
    progress = progress or Progress()
    async with AsyncExitStack() as stack:
        prepared = await prepare(config, stack, limit=limit)
        kept = await open_store(store, prepared.id, prepared.gateway, stack)
        stack.enter_context(kept.claim(prepared.id))
        begun = setup(config, prepared.skipped)
        kept.begin(Campaign(id=prepared.id, name=config.name, setup=begun))
        set_aside = plan_in(kept, prepared.id, prepared.trials, config.seed)
        pipeline = Pipeline(
            kept,
            prepared.casts,
            prepared.debaters,
            rounds=config.simulator,
            debate_rounds=config.debate.max_rounds,
            progress=progress,
        )
        progress.usage = prepared.gateway.usage if prepared.gateway else None
        await walk(pipeline, kept, prepared.id, prepared.trials, progress, config.concurrency)
    return RunResult(
        campaign=prepared.id,
        planned=progress.planned,
        done=progress.done,
        failed=progress.failed,
        skipped=prepared.skipped,
        set_aside=set_aside,
        trials=frozenset(trial.id for trial in prepared.trials),
    )


def plan_in(store: Store, campaign: str, trials: Sequence[Trial], seed: int) -> int:
    """Make the trials those of the campaign; how many of an earlier version were set aside."""
    return store.add_trials(campaign, [trial.planned(seed) for trial in trials])


async def walk(
    pipeline: Pipeline,
    store: Store,
    campaign: str,
    trials: Sequence[Trial],
    progress: Progress,
    concurrency: int,
) -> None:
    """Advance all trials that the store does not have to the end."""
    stages = store.stages_done(campaign)
    # The same file named twice, or two sources that drew the same scenario.
    trials = tuple({trial.id: trial for trial in trials}.values())
    units = (Unit(trial, stages.get(trial.id, ())) for trial in trials)
    left = [unit for unit in units if pipeline.last_stage not in unit.done]
    progress.begin(planned=len(trials), resumed=len(trials) - len(left))
    # Twice as many open trials as calls at once: while one writes, another has a call to make.
    await run_local(left, pipeline.advance, open_at_once=min(len(left), 2 * concurrency))


def setup(config: RatingConfig, skipped: tuple[Skipped, ...] = ()) -> Setup:
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


def _prices(spec: ModelSpec) -> dict[str, float]:
    """A model's prices, in US dollars per million tokens."""
    return {"in": spec.price_in, "out": spec.price_out, "cached": spec.price_cached}
