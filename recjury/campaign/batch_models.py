"""Where a campaign may use models that answer in batches, hours later."""

from recjury.campaign.config import CampaignConfig, EvaluationConfig, UsedModel
from recjury.errors import ConfigError
from recjury.llm.batch.spec import BatchModelSpec
from recjury.simulator import check_users


def slow_models(config: EvaluationConfig) -> dict[str, str]:
    """The models in use that answer in batches, by alias, and how long a batch may take."""
    used = config.models_in_use.items()
    return {alias: spec.window for alias, spec in used if isinstance(spec, BatchModelSpec)}


def check_players(config: CampaignConfig) -> None:
    """Raise ConfigError for an unknown persona, and if user or system would be asked in batches.

    Each utterance waits for the one before it, so each would need a batch of its own.
    """
    check_users(config.user)
    players = [each for system in config.systems for each in system.aliases]
    if config.plays_llm:
        players.insert(0, ("simulator.model", config.simulator.model))
    slow = [
        UsedModel(*each)
        for each in players
        if isinstance(config.all_models.get(each[1]), BatchModelSpec)
    ]
    if not slow:
        return
    place, alias = slow[0]
    spec = config.all_models[alias]
    assert isinstance(spec, BatchModelSpec)
    rounds = config.rounds
    raise ConfigError(
        f"{place} names the model {alias!r}, which answers in batches: a conversation of {rounds} "
        f"rounds would wait for at least {rounds} of them, one after the other, each up to "
        f"{spec.window}: name a model of provider openai there (under `models`), and keep "
        f"{alias!r} for the evaluators"
    )
