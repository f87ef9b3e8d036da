"""Optimise FACE's instructions with the models of a campaign file, as a campaign of its own.

It has no trials: its calls are for the campaign itself, and what they have cost in all its runs
is what its budget is held against.
"""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from recjury.campaign.config import RatingConfig
from recjury.campaign.identity import models_settings
from recjury.campaign.preparation import open_gateway, open_store
from recjury.campaign.running import setup
from recjury.errors import ConfigError
from recjury.judges.face import FacePrompts, RuleDecomposer, instructions
from recjury.judges.face.optimise import Allowance, Chosen, OptimiserSettings, Report
from recjury.judges.face.optimise.beam import Step
from recjury.judges.face.optimise.rewrite import PACK
from recjury.judges.face.optimise.running import Optimisation
from recjury.judges.face.optimise.training import Training
from recjury.llm import Gateway, on_behalf_of
from recjury.prompts import load_pack
from recjury.records import JSON, Aspect, digest
from recjury.store import Campaign, Setup, Store

T = TypeVar("T")

_CHANGES_REPLIES = {"base_url", "name", "temperature", "max_tokens", "json_mode", "extra"}


@dataclass(frozen=True)
class OptimisePlan:
    """What is optimised, on what, with which models (aliases of the campaign file), and where to.

    `rules` makes particles without a model. `max_calls` limits what one run sends.
    """

    aspect: Aspect
    training: Training
    settings: OptimiserSettings
    model: str
    rewriter: str
    folder: Path
    rules: bool = False
    max_calls: int | None = None


async def optimise(
    plan: OptimisePlan,
    config: RatingConfig,
    place: Store | str,
    *,
    watch: Callable[[Step], None] = lambda _: None,
) -> Report:
    """Optimise, or go on with it; raises StepFailed, and Fixable before anything is written."""
    work = _Work(f"face optimise {plan.aspect}", [], Optimisation.check, Optimisation.run)
    return await _as_campaign(plan, config, place, watch, work)


async def choose_anew(
    plan: OptimisePlan,
    config: RatingConfig,
    place: Store | str,
    pool: Path,
    *,
    watch: Callable[[Step], None] = lambda _: None,
) -> Chosen:
    """FACE*: only choose, from the instructions in the file `pool`; raises as `optimise`."""
    chosen_from: list[JSON] = [instructions.identity(instructions.read_instructions(pool))]
    work = _Work(
        f"face choose {plan.aspect}",
        chosen_from,
        Optimisation.check_places,
        lambda one: one.reselect(pool),
    )
    return await _as_campaign(plan, config, place, watch, work)


class _Work(NamedTuple, Generic[T]):
    """What a campaign is called, is about besides the plan, what must hold, and what it does."""

    name: str
    given: list[JSON]
    check: Callable[[Optimisation], None]
    do: Callable[[Optimisation], Awaitable[T]]


async def _as_campaign(
    plan: OptimisePlan,
    config: RatingConfig,
    place: Store | str,
    watch: Callable[[Step], None],
    work: _Work[T],
) -> T:
    """What `work` gives, its calls recorded for a campaign of its name."""
    check_models(plan, config)
    what = _what(plan, config)
    identity = digest([work.name, what, *work.given])[:12]
    async with AsyncExitStack() as stack:
        gateway = open_gateway(config)
        assert gateway is not None  # there are models: that was checked
        await stack.enter_async_context(gateway)
        one = _optimisation(plan, config, gateway, watch)
        work.check(one)
        await gateway.check()
        store = await open_store(place, identity, gateway, stack)
        stack.enter_context(store.claim(identity))
        store.begin(Campaign(id=identity, name=work.name, setup=_setup(config, what)))
        with on_behalf_of(identity):
            return await work.do(one)


def check_models(plan: OptimisePlan, config: RatingConfig) -> None:
    """Raise ConfigError where `config` lacks a model that the plan names."""
    for alias in (plan.model, plan.rewriter):
        if alias not in config.all_models:
            known = ", ".join(sorted(config.all_models)) or "none"
            raise ConfigError(f"the campaign file has no model {alias!r} (it has: {known})")


def _what(plan: OptimisePlan, config: RatingConfig) -> dict[str, JSON]:
    """All that can change what is asked."""
    models = config.all_models
    sides = [
        [[one.name, one.label, one.log.id] for one in side]
        for side in (plan.training.train, plan.training.validation)
    ]
    pack = load_pack(PACK)
    return {
        "aspect": str(plan.aspect),
        "optimiser": plan.settings.model_dump(mode="json"),
        "roles": [plan.model, plan.rewriter],
        "models": models_settings({name: models[name] for name in (plan.model, plan.rewriter)}),
        "decomposer": dict(RuleDecomposer().settings) if plan.rules else None,
        "prompts": [FacePrompts().identity, f"{pack.id}/{pack.version}+{pack.digest}"],
        "data": digest(sides),
    }


def _setup(config: RatingConfig, what: dict[str, JSON]) -> Setup:
    """What the campaign runs with; it has no trials, and so no stages."""
    shown = {**config.model_dump(mode="json"), "optimisation": what, "stages": []}
    return setup(config).model_copy(update={"config": shown})


def _optimisation(
    plan: OptimisePlan, config: RatingConfig, gateway: Gateway, watch: Callable[[Step], None]
) -> Optimisation:
    models: dict[str, JSON] = {
        alias: config.all_models[alias].model_dump(mode="json", include=_CHANGES_REPLIES)
        for alias in (plan.model, plan.rewriter)
    }
    return Optimisation(
        plan.aspect,
        plan.training,
        plan.settings,
        Allowance(gateway, max_calls=plan.max_calls),
        plan.model,
        plan.rewriter,
        models,
        plan.folder,
        RuleDecomposer() if plan.rules else None,
        watch,
    )
