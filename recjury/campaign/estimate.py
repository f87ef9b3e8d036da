"""What a campaign will ask of its models, before it is run: calls, tokens, cost, at most.

Calls are counted as if nothing ended early: every conversation takes all its rounds, every
debate its round limit, and every trial is still to do. Tokens per call are means over the
package's own prompts on recorded five-round logs, at four characters a token; a long catalogue
name or a talkative system makes them more.
"""

from collections import Counter
from typing import NamedTuple

from recjury.campaign.config import CampaignConfig, ChatCrsConfig, OpenAiCrsConfig
from recjury.llm import ModelSpec
from recjury.records import Factor, Role


class TokensPerCall(NamedTuple):
    """What one call of a kind sends and gets back, in tokens."""

    prompt: int
    completion: int


TOKENS = {
    "simulator": TokensPerCall(1_100, 60),
    "system": TokensPerCall(700, 120),
    "judge": TokensPerCall(2_300, 250),
    "debate": TokensPerCall(3_000, 250),
}


class Estimate(NamedTuple):
    """An upper bound. `calls` are by alias and kind; `cost` is in US dollars, at most."""

    trials: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float
    by_model: dict[str, dict[str, int]]


def estimate(config: CampaignConfig, scenarios: int) -> Estimate:
    """What `scenarios` scenarios cost under `config`, for all its systems and repeats."""
    played = scenarios * config.repeats
    trials = played * len(config.systems)
    calls: Counter[tuple[str, str]] = Counter()
    for alias, kind, times in _per_trial(config):
        calls[alias, kind] += times * trials
    for system in config.systems:
        if isinstance(system, ChatCrsConfig | OpenAiCrsConfig):
            calls[system.model, "system"] += config.simulator.max_rounds * played
    by_model: dict[str, dict[str, int]] = {}
    for (alias, kind), times in calls.items():
        by_model.setdefault(alias, {})[kind] = times
    return Estimate(
        trials=trials,
        calls=calls.total(),
        prompt_tokens=sum(TOKENS[kind].prompt * n for (_, kind), n in calls.items()),
        completion_tokens=sum(TOKENS[kind].completion * n for (_, kind), n in calls.items()),
        cost=sum(
            n * _cost(config.all_models[alias], TOKENS[kind]) for (alias, kind), n in calls.items()
        ),
        by_model=by_model,
    )


def _per_trial(config: CampaignConfig) -> list[tuple[str, str, int]]:
    """Alias, kind and number of the calls that every trial makes."""
    made: list[tuple[str, str, int]] = []
    if config.plays_llm:  # one more than the rounds: persuasiveness
        made.append((config.simulator.model, "simulator", config.simulator.max_rounds + 1))
    if config.judges_llm:
        made += [(alias, "judge", times) for alias, times in _judges(config).items()]
    if config.debates_llm:
        models = [config.debate.roles.get(role, config.debate.model) for role in Role]
        made += [(alias, "debate", config.debate.max_rounds) for alias in models]
    return made


def _judges(config: CampaignConfig) -> Counter[str]:
    judges = config.judges
    if judges.combine == "mean":
        return Counter({alias: len(Factor) for alias in judges.models})
    return Counter(judges.routing.get(factor, judges.models[0]) for factor in Factor)


def _cost(spec: ModelSpec, tokens: TokensPerCall) -> float:
    return (spec.price_in * tokens.prompt + spec.price_out * tokens.completion) / 1e6
