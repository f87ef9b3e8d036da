"""Optimise FACE's instructions with the models of a campaign file, as a campaign of its own.

The campaign has no conversations: its calls belong to the campaign itself. Its budget limits the
total cost of all its runs.
"""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from recjury.campaign.build import try_models
from recjury.campaign.campaign_store import campaign_setup, open_campaign
from recjury.campaign.config import EvaluationConfig
from recjury.errors import ConfigError
from recjury.judges.face import FacePrompts, RuleDecomposer, instructions
from recjury.judges.face.optimise import Allowance, Chosen, OptimisationReport
from recjury.judges.face.optimise.beam import Step
from recjury.judges.face.optimise.optimisation import Optimisation, OptimisePlan
from recjury.judges.face.optimise.rewrite import PACK
from recjury.llm import Gateway, call_context, running_servers
from recjury.prompts import load_pack
from recjury.records import JSON, digest
from recjury.store import Campaign, Setup, Store

T = TypeVar("T")


async def optimise(
    plan: OptimisePlan,
    config: EvaluationConfig,
    place: Store | str,
    *,
    watch: Callable[[Step], None] = lambda _: None,
) -> OptimisationReport:
    """Optimise, or continue an optimisation.

    Raises UserError before anything is written, and StepFailed if a step fails.
    """
    work = _CampaignWork(f"face optimise {plan.aspect}", [], Optimisation.check, Optimisation.run)
    return await _as_campaign(plan, config, place, watch, work)


async def choose_anew(
    plan: OptimisePlan,
    config: EvaluationConfig,
    place: Store | str,
    pool: Path,
    *,
    watch: Callable[[Step], None] = lambda _: None,
) -> Chosen:
    """FACE*: only choose among the instructions in the file `pool`; raises as `optimise`."""
    chosen_from: list[JSON] = [instructions.identity(instructions.read_instructions(pool))]
    work = _CampaignWork(
        f"face choose {plan.aspect}",
        chosen_from,
        Optimisation.check_places,
        lambda one: one.reselect(pool),
    )
    return await _as_campaign(plan, config, place, watch, work)


class _CampaignWork(NamedTuple, Generic[T]):
    """The campaign's name, its input besides the plan (`given`), its check, and its work (`do`)."""

    name: str
    given: list[JSON]
    check: Callable[[Optimisation], None]
    do: Callable[[Optimisation], Awaitable[T]]


async def _as_campaign(
    plan: OptimisePlan,
    config: EvaluationConfig,
    place: Store | str,
    watch: Callable[[Step], None],
    work: _CampaignWork[T],
) -> T:
    """Return the result of `work`; its calls are recorded for a campaign with its name."""
    check_models(plan, config)
    what = _what(plan, config)
    identity = digest([work.name, what, *work.given])[:12]
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(running_servers())
        learning = await try_models(config)
        opened = open_campaign(place, identity, stack)
        store, campaign = opened.store, opened.id
        gateway = await opened.open_gateway(config, stack, learning)
        assert gateway is not None  # there are models: that was checked
        one = _optimisation(plan, config, gateway, watch)
        work.check(one)
        opened.create_store(stack)
        begun = _setup(config, what)
        store.begin(Campaign(id=campaign, identity=identity, name=work.name, setup=begun))
        try:
            with call_context(campaign):
                return await work.do(one)
        finally:
            if gateway.learned:
                store.save_learned(campaign, gateway.learned)


def check_models(plan: OptimisePlan, config: EvaluationConfig) -> None:
    """Raise ConfigError if `config` lacks a model that the plan names."""
    for alias in (plan.model, plan.rewriter):
        if alias not in config.all_models:
            known = ", ".join(sorted(config.all_models)) or "none"
            raise ConfigError(f"the campaign file has no model {alias!r} (it has: {known})")


def _what(plan: OptimisePlan, config: EvaluationConfig) -> dict[str, JSON]:
    """Everything that can change the prompts that are sent."""
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
        "models": {name: models[name].reply_settings() for name in (plan.model, plan.rewriter)},
        "decomposer": dict(RuleDecomposer().settings) if plan.rules else None,
        "prompts": [FacePrompts().identity, f"{pack.id}/{pack.version}+{pack.digest}"],
        "data": digest(sides),
    }


def _setup(config: EvaluationConfig, what: dict[str, JSON]) -> Setup:
    """The settings that the campaign runs with; it has no conversations."""
    shown = {**config.model_dump(mode="json"), "optimisation": what}
    return campaign_setup(config).model_copy(update={"config": shown})


def _optimisation(
    plan: OptimisePlan, config: EvaluationConfig, gateway: Gateway, watch: Callable[[Step], None]
) -> Optimisation:
    models: dict[str, JSON] = {}
    for alias in (plan.model, plan.rewriter):
        own = dict(config.all_models[alias].reply_settings())
        own.pop("embedding")  # journals do not have it: a model for embeddings writes nothing
        models[alias] = own
    return Optimisation(plan, Allowance(gateway, max_calls=plan.max_calls), models, watch)
