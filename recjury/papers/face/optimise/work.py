"""Optimise FACE's instructions with the models of a campaign file, as a campaign of its own.

The campaign has no conversations: its calls belong to the campaign itself. Its budget limits the
total cost of all its runs.
"""

from collections.abc import Callable
from pathlib import Path

from recjury.campaign.config import EvaluationConfig
from recjury.campaign.model_work import ModelWork, check_aliases, do_with_models
from recjury.judges.face import FacePrompts, instructions
from recjury.judges.face.rule_decomposer import RuleDecomposer
from recjury.llm import Gateway
from recjury.papers.face.optimise import Allowance, Chosen, OptimisationReport
from recjury.papers.face.optimise.beam import Step
from recjury.papers.face.optimise.optimisation import Optimisation, OptimisePlan
from recjury.papers.face.optimise.rewrite import PACK
from recjury.prompts import load_pack
from recjury.records import JSON, digest
from recjury.store import Store

_KEY = "optimisation"  # of what is optimised, in the stored settings


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
    check_models(plan, config)
    work = ModelWork(
        f"face optimise {plan.aspect}",
        _what(plan, config),
        lambda gateway: _optimisation(plan, config, gateway, watch).run(),
        lambda gateway: _optimisation(plan, config, gateway, watch).check(),
        key=_KEY,
    )
    return await do_with_models(work, config, place)


async def choose_anew(
    plan: OptimisePlan,
    config: EvaluationConfig,
    place: Store | str,
    pool: Path,
    *,
    watch: Callable[[Step], None] = lambda _: None,
) -> Chosen:
    """FACE*: only choose among the instructions in the file `pool`; raises as `optimise`."""
    check_models(plan, config)
    work = ModelWork(
        f"face choose {plan.aspect}",
        _what(plan, config),
        lambda gateway: _optimisation(plan, config, gateway, watch).reselect(pool),
        lambda gateway: _optimisation(plan, config, gateway, watch).check_places(),
        given=[instructions.identity(instructions.read_instructions(pool))],
        key=_KEY,
    )
    return await do_with_models(work, config, place)


def check_models(plan: OptimisePlan, config: EvaluationConfig) -> None:
    """Raise ConfigError if `config` lacks a model that the plan names."""
    check_aliases(config, (plan.model, plan.rewriter))


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


def _optimisation(
    plan: OptimisePlan, config: EvaluationConfig, gateway: Gateway, watch: Callable[[Step], None]
) -> Optimisation:
    models: dict[str, JSON] = {}
    for alias in (plan.model, plan.rewriter):
        own = dict(config.all_models[alias].reply_settings())
        own.pop("embedding")  # journals do not have it: a model for embeddings writes nothing
        models[alias] = own
    return Optimisation(plan, Allowance(gateway, max_calls=plan.max_calls), models, watch)
