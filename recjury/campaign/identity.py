"""The identities of campaigns and conversations.

A conversation is identified by everything that can change what is said in it. A campaign is
identified by its file, without the evaluators and without the settings that only say how to run it.
A campaign with a longer timeout or another judge is therefore the same campaign: it keeps its
budget, and its conversations are not played again.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from recjury.campaign.config import CampaignConfig
from recjury.campaign.simulator_config import SimulatorConfig
from recjury.input_files import sha256_of
from recjury.records import JSON, ConversationLog, Recommender, Scenario, UserSimulator, digest
from recjury.simulator import LeakGuard, Population

# Part of every conversation's identity: raise it when the session's rules change.
IDENTITY_VERSION = 2

# These keys say how to run and what evaluates; all others say what to play.
_NOT_PLAYED = {
    "attempts",
    "budget",
    "concurrency",
    "data",
    "evaluators",
    "limits",
    "model",
    "models",
    "stop",
    "systems",
}
_OF_A_SYSTEM = {"timeout", "retries", "concurrency", "key_env", "max_bytes"}
_OF_A_SYSTEM |= {"isolate", "processes", "memory_mb", "reads", "environment"}
_DIGITS = 12


def campaign_id(config: CampaignConfig) -> str:
    """The identity of a campaign that plays its scenarios."""
    content = config.model_dump(mode="json", exclude=_NOT_PLAYED)
    content["simulator"] = config.simulator.model_dump(mode="json", exclude=_young(config))
    if not config.is_offline:  # as below
        del content["session"]
    if config.user.is_plain:  # campaigns are older than this key
        del content["user"]
    content["models"] = dict(_user_models(config))
    content["systems"] = [
        system.model_dump(mode="json", exclude=_OF_A_SYSTEM) for system in config.systems
    ]
    return digest(content)[:_DIGITS]


def files_id(paths: Iterable[Path], form: str | None, *, link_items: bool = False) -> str:
    """The identity of a campaign of recorded files: the files' content, independent of `limit`."""
    linked = ["items linked"] if link_items else []
    return digest(["files", [sha256_of(path) for path in paths], form, *linked])[:_DIGITS]


def logs_id(logs: Iterable[ConversationLog], *, link_items: bool = False) -> str:
    """The identity of a campaign of logs that a program passes."""
    linked = ["items linked"] if link_items else []
    return digest(["logs", sorted({log.id for log in logs}), *linked])[:_DIGITS]


def play_settings(
    config: CampaignConfig,
    user: UserSimulator | None,
    guard: LeakGuard | None,
    population: Population | None = None,
) -> dict[str, JSON]:
    """All settings that can change a conversation, except the system's."""
    if user is None or guard is None:
        return {"session": {"kind": config.session, "list_length": config.list_length}}
    person = {} if population is None else dict(population.identity)
    return {
        **({"person": person} if person else {}),
        "user": dict(user.settings),
        "session": dict(config.simulator.session.identity(guard)),
        "models": dict(_user_models(config)),
    }


def conversation_id(
    scenario: Scenario, repeat: int, system: Recommender, played: Mapping[str, JSON]
) -> str:
    """The identity of one conversation; `played` has all settings that can change it."""
    return digest([IDENTITY_VERSION, system.name, scenario, repeat, played])


def _user_models(config: CampaignConfig) -> Mapping[str, JSON]:
    """The settings of the simulated user's model that can change its replies, by alias.

    Those of a system's models are part of the system's own settings.
    """
    if not config.plays_llm:
        return {}
    alias = config.simulator.model
    return {alias: config.all_models[alias].reply_settings()}


def _young(config: CampaignConfig) -> set[str]:
    """The keys of the simulator that most identities are older than, if at their default."""
    plain = SimulatorConfig()
    young = ("shows_list", "unique_values", "options", "declares", "prompts", "ends_on")
    return {key for key in young if getattr(config.simulator, key) == getattr(plain, key)}
