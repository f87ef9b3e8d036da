"""What a campaign is, what a trial is, and what only says how to run them.

A trial is identified by everything that can change its result; a campaign by its file, without
what only says how to run it. So a higher timeout goes on with the same campaign and its budget,
and a changed rubric plans new trials.
"""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from recjury.campaign.cast import Cast
from recjury.campaign.config import CampaignConfig, RatingConfig
from recjury.debate import Debater
from recjury.llm import ModelSpec
from recjury.records import JSON, digest
from recjury.simulator import LeakGuard, session_settings

# How to run, by the part of the file that says it. Whatever is not named here is what to run.
_OF_A_FILE = {"concurrency", "budget", "data"}
_OF_A_MODEL = {
    "wire",
    "key_env",
    "timeout",
    "retries",
    "patience",
    "concurrency",
    "requests_per_minute",
    "price_in",
    "price_out",
    "price_cached",
}
_OF_A_SYSTEM = {"timeout", "retries", "concurrency", "key_env", "max_bytes"}
_OF_PLAYING = {"name", "scenarios", "systems", "simulator", "repeats"}
_DIGITS = 12


def campaign_id(config: CampaignConfig) -> str:
    """The identity of a campaign that plays its scenarios."""
    content = config.model_dump(mode="json", exclude=_OF_A_FILE | {"model", "models", "systems"})
    content["models"] = models_settings(config.all_models)
    content["systems"] = [
        system.model_dump(mode="json", exclude=_OF_A_SYSTEM) for system in config.systems
    ]
    return digest(content)[:_DIGITS]


def recorded_campaign_id(paths: Iterable[Path], form: str, config: RatingConfig) -> str:
    """The identity of rating files: their content and who rates, not how many of each."""
    content = config.model_dump(mode="json", exclude=_OF_A_FILE | _OF_PLAYING | {"model", "models"})
    content["models"] = models_settings(config.all_models)
    return digest([[_content(path) for path in paths], form, content])[:_DIGITS]


def trial_settings(config: RatingConfig, cast: Cast, debaters: Debater | None) -> dict[str, JSON]:
    """What can change a trial's result, for all systems of a campaign alike."""
    used = {alias: config.all_models[alias] for alias in config.aliases_in_use}
    settings: dict[str, JSON] = {
        "models": models_settings(used),
        "raters": dict(cast.raters.settings),
        "debate": _debate(config, debaters),
    }
    if isinstance(config, CampaignConfig) and cast.user is not None:
        rounds = config.simulator
        settings["user"] = dict(cast.user.settings)
        settings["session"] = session_settings(
            LeakGuard(cast.catalogue),
            min_rounds=rounds.min_rounds,
            max_rounds=rounds.max_rounds,
            list_length=rounds.list_length,
        )
    return settings


def _debate(config: RatingConfig, debaters: Debater | None) -> dict[str, JSON] | None:
    if debaters is None:
        return None
    return {**debaters.settings, "max_rounds": config.debate.max_rounds}


def models_settings(models: Mapping[str, ModelSpec]) -> dict[str, JSON]:
    """What of the models can change a reply, by alias."""
    return {
        alias: spec.model_dump(mode="json", exclude=_OF_A_MODEL)
        for alias, spec in sorted(models.items())
    }


def _content(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
