"""Build the components of a campaign from its configuration: models, systems, user, evaluators.

Packages that need heavy libraries are imported only when the configuration uses them.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recjury.agents import System, SystemContext
from recjury.campaign.config import CampaignConfig, EvaluationConfig
from recjury.campaign.simulator_config import SimulatorConfig
from recjury.corpora import Corpus, WithoutSplits
from recjury.errors import ConfigError
from recjury.judges import Evaluator, EvaluatorContext
from recjury.knowledge import Catalogue
from recjury.llm import NOTHING_SPENT, Gateway, Learning, NullRecorder, SpentBefore
from recjury.prompts import load_pack
from recjury.records import (
    Recommender,
    Recorder,
    SupportsCheck,
    UserSimulator,
    evaluator_id,
)

if TYPE_CHECKING:
    from recjury.simulator import LeakGuard, Population


@dataclass(frozen=True)
class Components:
    """What the campaign uses on one corpus: systems by name, the user, and the evaluators by
    label.

    `guard` checks what the user says, and `population` says who it is in each conversation; without
    them, they are the defaults.
    """

    catalogue: Catalogue
    recommenders: Mapping[str, Recommender]
    user: UserSimulator | None
    evaluators: Mapping[str, Evaluator]
    guard: "LeakGuard | None" = None
    population: "Population | None" = None

    async def aclose(self) -> None:
        """Release what the systems hold (connections, processes)."""
        async with AsyncExitStack() as stack:  # closes all even if one raises
            for recommender in self.recommenders.values():
                stack.push_async_callback(recommender.aclose)


@dataclass(frozen=True)
class BuiltCampaign:
    """The components by corpus, and the gateway to their models (None if there is no model)."""

    components: Mapping[str, Components]
    gateway: Gateway | None

    async def check_systems(self, used: Iterable[tuple[str, str]]) -> None:
        """Check each system in `used` (pairs of corpus and system) whose kind has a check.

        Raises UserError for the first system that cannot be used.
        """
        for corpus, name in sorted(used):
            recommender = self.components[corpus].recommenders[name]
            if isinstance(recommender, SupportsCheck):
                await recommender.check()


Prepare = Callable[[System, SystemContext], Recommender]
"""Makes a system answer, by default `System.prepared`."""


def build(
    config: CampaignConfig,
    corpora: Mapping[str, Corpus],
    gateway: Gateway | None,
    stack: AsyncExitStack,
    prepare: Prepare = System.prepared,
) -> BuiltCampaign:
    """Build all components of `config` for each corpus.

    Everything that is opened is closed by `stack`. Raises UserError for an error that the user can
    correct (for example, a checkpoint trained on another catalogue).
    """
    components: dict[str, Components] = {}
    for name, corpus in corpora.items():
        components[name] = _components(config, corpus, gateway, prepare)
        stack.push_async_callback(components[name].aclose)
    return BuiltCampaign(components, gateway)


async def try_models(config: EvaluationConfig) -> dict[str, Learning]:
    """Try every model; return what was learned of each, by alias. Nothing is recorded.

    Raises UserError (for example, if a key is not set or an endpoint refuses the request).
    """
    models, uses = config.all_models, config.call_uses
    async with Gateway(models, NullRecorder(), budget=config.budget, uses=uses) as gateway:
        await gateway.check()
    return gateway.learning


async def open_gateway(
    config: EvaluationConfig,
    recorder: Recorder,
    stack: AsyncExitStack,
    spent: SpentBefore = NOTHING_SPENT,
    learning: Mapping[str, Learning] | None = None,
) -> Gateway | None:
    """Return a gateway to the models, which records its calls; None if the campaign has no model.

    `spent` is what earlier runs of the campaign took of its budget; `learning` is what `try_models`
    returned. `stack` closes the gateway.
    """
    if not config.has_models:
        return None
    gateway = Gateway(
        config.all_models,
        recorder,
        concurrency=config.concurrency,
        limits=config.limits.given,
        attempts=config.attempts,
        budget=config.budget,
        spent=spent,
        learning=learning,
    )
    return await stack.enter_async_context(gateway)


def build_evaluators(
    config: EvaluationConfig,
    corpus: Corpus | None,
    gateway: Gateway | None,
    user: UserSimulator | None,
) -> dict[str, Evaluator]:
    """Return the evaluators of logs about `corpus` by label; `corpus` is None if its items are
    unknown.

    Raises ConfigError if two evaluators would give the same ratings under two names.
    """
    context = EvaluatorContext(corpus, gateway, config.all_models, user)
    built: dict[str, Evaluator] = {each.label: each.prepared(context) for each in config.evaluators}
    labels: dict[str, str] = {}
    for label, evaluator in built.items():
        other = labels.setdefault(evaluator_id(evaluator.kind, evaluator.settings), label)
        if other != label:
            raise ConfigError(
                f"the evaluators {other!r} and {label!r} are the same: leave one of them out "
                "(`judgings` has a log judged more than once)"
            )
    return built


def campaign_user(
    config: CampaignConfig, catalogue: Catalogue, gateway: Gateway | None
) -> UserSimulator | None:
    """Return the campaign's simulated user; None if its session is offline."""
    if config.is_offline:
        return None
    return build_user(config.simulator, catalogue, gateway, config)


def build_user(
    simulator: SimulatorConfig,
    catalogue: Catalogue,
    gateway: Gateway | None,
    config: EvaluationConfig,
) -> UserSimulator:
    """Return the simulated user. Without a `kind`, it is a model if the campaign has one."""
    if simulator.is_own:
        from recjury.simulator.users import load_python_user

        return load_python_user(
            str(simulator.kind), catalogue, seed=config.seed, options=simulator.options
        )
    if simulator.kind == "rule" or (simulator.kind is None and not config.has_models):
        from recjury.simulator import RuleUser

        return RuleUser(catalogue, seed=config.seed)
    if gateway is None:
        raise ConfigError("this campaign needs a model: add `model` to its file")
    from recjury.simulator import LlmUser

    return LlmUser(
        gateway,
        simulator.model,
        catalogue,
        temperature=simulator.temperature,
        declares=simulator.declares,
        pack=load_pack(f"{simulator.prompts}-simulator"),
    )


def system_context(
    config: CampaignConfig, corpus: Corpus, gateway: Gateway | None
) -> SystemContext:
    """What the systems are prepared with: they do not see the splits that are played."""
    known = WithoutSplits(corpus, {source.split for source in config.scenarios})
    return SystemContext(known, gateway, list_length=config.list_length)


def _components(
    config: CampaignConfig, corpus: Corpus, gateway: Gateway | None, prepare: Prepare
) -> Components:
    from recjury.simulator import LeakGuard, Population

    user = campaign_user(config, corpus.catalogue, gateway)
    context = system_context(config, corpus, gateway)
    return Components(
        catalogue=corpus.catalogue,
        recommenders={system.name: prepare(system, context) for system in config.systems},
        user=user,
        evaluators=build_evaluators(config, corpus, gateway, user),
        guard=LeakGuard(corpus.catalogue, unique_values=config.simulator.unique_values),
        population=Population(corpus.catalogue, config.user, seed=config.seed),
    )
