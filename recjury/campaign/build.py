"""Who takes part in a campaign, built from its configuration for each corpus.

Rooms with heavy libraries are imported where a configuration asks for them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from recjury.agents.system_config import SystemContext
from recjury.campaign.config import CampaignConfig, EvaluationConfig, SimulatorConfig
from recjury.corpora import Corpus
from recjury.errors import ConfigError
from recjury.judges.config import EvaluatorContext
from recjury.knowledge import Catalogue
from recjury.llm import Gateway
from recjury.records import Evaluator, Recommender, SupportsCheck, UserSimulator, evaluator_id


@dataclass(frozen=True)
class Components:
    """Everyone who works on one corpus: systems by name, the user, the evaluators by label."""

    catalogue: Catalogue
    recommenders: Mapping[str, Recommender]
    user: UserSimulator | None
    evaluators: Mapping[str, Evaluator]

    async def check(self, systems: Iterable[str]) -> None:
        """Try the systems that have a check; raise UserError for the first that is not usable."""
        for name in sorted(systems):
            recommender = self.recommenders[name]
            if isinstance(recommender, SupportsCheck):
                await recommender.check()

    async def aclose(self) -> None:
        """Release what the systems hold."""
        for recommender in self.recommenders.values():
            await recommender.aclose()


def playing_components(
    config: CampaignConfig, corpus: Corpus, gateway: Gateway | None
) -> Components:
    """Those who play scenarios of `corpus`, and evaluate."""
    user = build_user(config.simulator, corpus.catalogue, gateway, config)
    context = SystemContext(corpus, gateway, list_length=config.simulator.list_length)
    return Components(
        catalogue=corpus.catalogue,
        recommenders={
            system.name: system.for_corpus(corpus.name).build(context) for system in config.systems
        },
        user=user,
        evaluators=build_evaluators(config, corpus, gateway, user),
    )


def build_evaluators(
    config: EvaluationConfig,
    corpus: Corpus | None,
    gateway: Gateway | None,
    user: UserSimulator | None,
) -> dict[str, Evaluator]:
    """The evaluators of logs about `corpus` by label; None where the items are unknown.

    Raises ConfigError where two of them would give the same ratings under two names.
    """
    context = EvaluatorContext(corpus, gateway, config.all_models, user)
    built: dict[str, Evaluator] = {e.label: e.build(context) for e in config.evaluators}
    labels: dict[str, str] = {}
    for label, evaluator in built.items():
        other = labels.setdefault(evaluator_id(evaluator.kind, evaluator.settings), label)
        if other != label:
            raise ConfigError(
                f"the evaluators {other!r} and {label!r} are the same: leave one of them out "
                "(`judgings` has a log judged more than once)"
            )
    return built


def build_user(
    simulator: SimulatorConfig,
    catalogue: Catalogue,
    gateway: Gateway | None,
    config: EvaluationConfig,
) -> UserSimulator:
    """The simulated user that `simulator` describes; a model where nothing is said and there is
    one."""
    if simulator.kind == "rule" or (simulator.kind is None and not config.has_models):
        from recjury.simulator import RuleUser

        return RuleUser(catalogue, seed=config.seed)
    if gateway is None:
        raise ConfigError("this campaign needs a model: add `model` to its file")
    from recjury.simulator import LlmUser

    return LlmUser(gateway, simulator.model, catalogue, temperature=simulator.temperature)
