"""Who played, rated and debated, named for what they are."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from recjury.judges import MEAN
from recjury.records import Ending
from recjury.report.excerpt import one_line
from recjury.report.findings import Findings

_RULES = frozenset({"rule", "measured"})
_NOBODY = frozenset({"none"})  # stands where a recorded conversation has no user to ask
_NAME = 80


class Players(NamedTuple):
    """Names for people, and what follows from them.

    A model is named as its endpoint knows it, with its alias where that differs.
    """

    users: tuple[str, ...]
    judges: tuple[str, ...]
    debaters: tuple[str, ...]
    user_is_rule: bool
    user_is_model: bool
    is_recorded: bool
    judge_is_rule: bool
    judge_is_model: bool
    debater_is_rule: bool
    debater_is_model: bool


def players(found: Findings, models: Mapping[str, str]) -> Players:
    """Everyone who took part; `models` maps aliases to the names of models."""
    users, judges = found.users - _NOBODY, found.judges - {MEAN}
    recorded = found.endings[Ending.RECORDED] > 0
    user_names = _named(users, models, {"rule": "rule user"})
    if recorded:
        user_names = (*user_names, "whoever spoke in the recorded conversations")
    judge_names = _named(judges, models, {"measured": "measured judges"})
    if MEAN in found.judges:
        judge_names = (*judge_names, "the tables show their mean")
    return Players(
        users=user_names,
        judges=judge_names,
        debaters=_named(found.debaters, models, {"rule": "rule debaters"}),
        user_is_rule=bool(users & _RULES),
        user_is_model=bool(users - _RULES),
        is_recorded=recorded,
        judge_is_rule=bool(judges & _RULES),
        judge_is_model=bool(judges - _RULES),
        debater_is_rule=bool(found.debaters & _RULES),
        debater_is_model=bool(found.debaters - _RULES),
    )


def speaker(name: str, models: Mapping[str, str]) -> str:
    """One player's name: "rule", "measured", or a model's."""
    if name in _RULES or name == MEAN or models.get(name, name) == name:
        return one_line(name, _NAME)
    return one_line(f"{models[name]} ({name})", _NAME)


def model_names(config: object) -> dict[str, str]:
    """The endpoint's name of each model by alias, from a campaign's resolved configuration."""
    if not isinstance(config, Mapping):
        return {}
    several = config.get("models")
    specs = dict(several) if isinstance(several, Mapping) else {}
    specs.setdefault("main", config.get("model"))
    return {
        alias: str(spec["name"])
        for alias, spec in specs.items()
        if isinstance(spec, Mapping) and spec.get("name")
    }


def _named(
    names: Iterable[str], models: Mapping[str, str], rules: Mapping[str, str]
) -> tuple[str, ...]:
    return tuple(rules.get(name) or speaker(name, models) for name in sorted(names))
