"""Who takes part in a campaign: built from its configuration, one cast for each corpus.

Rooms with heavy libraries are imported where a configuration asks for them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recjury.campaign.config import CampaignConfig, RatingConfig, SystemConfig
from recjury.corpora import Corpus
from recjury.errors import ConfigError
from recjury.judges import Panel
from recjury.knowledge import Catalogue
from recjury.llm import Gateway
from recjury.records import Checked, Evaluator, Factor, Rating, Recommender, Role, User

if TYPE_CHECKING:
    from recjury.debate import Debater


@dataclass(frozen=True)
class Cast:
    """Everyone who works on one corpus: the systems by name, the user, and the raters."""

    catalogue: Catalogue
    recommenders: Mapping[str, Recommender]
    user: User | None
    raters: Evaluator

    def feeding(self, ratings: Sequence[Rating]) -> tuple[Rating, ...]:
        """The ratings that a debate is held over: one per factor."""
        if isinstance(self.raters, Panel):
            return self.raters.feeding(ratings)
        return tuple(rating for rating in ratings if rating.factor in list(Factor))

    async def check(self) -> None:
        """Try every system that can be tried; raises Fixable for the first that cannot be used."""
        for recommender in self.recommenders.values():
            if isinstance(recommender, Checked):
                await recommender.check()

    async def aclose(self) -> None:
        """Release what the systems hold."""
        for recommender in self.recommenders.values():
            await recommender.aclose()


def debaters_for(config: RatingConfig, gateway: Gateway | None) -> "Debater | None":
    """Who plays the four roles; None where the debate is off."""
    if config.debate.kind == "off":
        return None
    if not config.debates_llm:
        from recjury.debate import RuleDebaters

        return RuleDebaters()
    from recjury.debate.llm_debaters import LlmDebaters

    models = {role: config.debate.roles.get(role, config.debate.model) for role in Role}
    return LlmDebaters(_needed(gateway), models, temperature=config.debate.temperature)


def raters_for(config: RatingConfig, corpus: Corpus | None, gateway: Gateway | None) -> Evaluator:
    """Who rates the twelve factors of logs about `corpus`; None where the items are unknown."""
    judges = config.judges
    if not config.judges_llm:
        from recjury.judges.measured import MeasuredPanel

        if corpus is None:
            return MeasuredPanel(Catalogue("unknown", ()))
        return MeasuredPanel(corpus.catalogue, corpus.graph)
    routes = judges.routing if judges.combine == "route" else None
    if judges.combine == "mean" and judges.routing:
        raise ConfigError("`judges.routing` needs `combine: route`: leave one of them out")
    return Panel(
        _needed(gateway),
        judges.models if routes is None else judges.models[:1],
        routes=routes,
        feeds=judges.feeds,
        temperature=judges.temperature,
    )


def simulating_cast(config: CampaignConfig, corpus: Corpus, gateway: Gateway | None) -> Cast:
    """The cast that plays scenarios of `corpus`."""
    return Cast(
        catalogue=corpus.catalogue,
        recommenders={s.name: _recommender(s, config, corpus, gateway) for s in config.systems},
        user=_user(config, corpus, gateway),
        raters=raters_for(config, corpus, gateway),
    )


def _user(config: CampaignConfig, corpus: Corpus, gateway: Gateway | None) -> User:
    if not config.plays_llm:
        from recjury.simulator import RuleUser

        return RuleUser(corpus.catalogue, seed=config.seed)
    from recjury.simulator import LlmUser

    simulator = config.simulator
    return LlmUser(
        _needed(gateway), simulator.model, corpus.catalogue, temperature=simulator.temperature
    )


def _recommender(
    system: SystemConfig, config: CampaignConfig, corpus: Corpus, gateway: Gateway | None
) -> Recommender:
    from recjury.agents import Surroundings, load_recommender

    given = system.model_dump(exclude={"kind", "name"}, exclude_none=True)
    options = {
        key: value.replace("{corpus}", corpus.name) if isinstance(value, str) else value
        for key, value in given.items()
    }
    around = Surroundings(corpus, gateway, list_length=config.simulator.list_length)
    return load_recommender(system.kind, system.name, options, around)


def _needed(gateway: Gateway | None) -> Gateway:
    if gateway is None:
        raise ConfigError("this campaign needs a model: add `model` to its file")
    return gateway
