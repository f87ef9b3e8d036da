"""The names of those who played, rated and debated: rule, measured, or a model's name."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from recjury.llm import MAIN_MODEL
from recjury.records import MEAN, Ending
from recjury.report.excerpt import one_line
from recjury.report.findings import CampaignFindings
from recjury.store import CampaignEvaluator

_MEASURED, _RULE = "measured", "rule"
_NOBODY = frozenset({"none", "debate"})  # a recorded user; a verdict, which the debaters gave
_RATERS = {
    "computed": "computed from the conversations",
    MEAN: "the tables show their mean",
    _MEASURED: "measured judges",
    _RULE: "the rule user",
}
_NAME = 80


class Participants(NamedTuple):
    """Names to show, and the facts that the caveats depend on.

    A model has the name that its endpoint uses, followed by its alias if that differs. `evaluators`
    has the names of raters and debaters by evaluator's label. `measured` are the evaluators with
    measured judges, `by_model` those with model judges.
    """

    users: tuple[str, ...]
    evaluators: Mapping[str, tuple[str, ...]]
    user_is_rule: bool
    user_is_model: bool
    is_recorded: bool
    measured: tuple[str, ...]
    by_model: tuple[str, ...]
    debater_is_rule: bool
    debater_is_model: bool


def participants(found: CampaignFindings, models: Mapping[str, str]) -> Participants:
    """All participants; `models` maps aliases to the names of models."""
    recorded = found.endings[Ending.RECORDED] > 0
    offline = found.endings[Ending.OFFLINE] > 0
    users = _named(found.users, models, {_RULE: "rule user"})
    labels = [each.label for each in found.evaluators]
    debaters = {name for label in labels for name in found.debaters[label]}
    return Participants(
        users=(
            *users,
            *(["recorded users"] if recorded else []),
            *(["none: replies to people's histories"] if offline else []),
        ),
        evaluators={label: _of(found, label, models) for label in labels},
        user_is_rule=_RULE in found.users,
        user_is_model=bool(found.users - {_RULE}),
        is_recorded=recorded,
        measured=tuple(each for each in labels if _MEASURED in found.raters[each]),
        by_model=tuple(
            each for each in labels if any(_alias(name) in models for name in found.raters[each])
        ),
        debater_is_rule=_RULE in debaters,
        debater_is_model=bool(debaters - {_RULE}),
    )


def _of(found: CampaignFindings, label: str, models: Mapping[str, str]) -> tuple[str, ...]:
    raters = _named(found.raters[label] - _NOBODY, models, _RATERS)
    return (*raters, *_named(found.debaters[label], models, {_RULE: "rule debaters"}))


def speaker(name: str, models: Mapping[str, str]) -> str:
    """One player's name: "rule", "measured", or a model's."""
    known = models.get(_alias(name), name)
    return one_line(name if name in (known, *_RATERS) else f"{known} ({name})", _NAME)


def _alias(rater: str) -> str:
    """The model's alias: evaluators may put their own name before it ("face/main")."""
    return rater.rpartition("/")[2]


def model_names(config: object, evaluators: Iterable[CampaignEvaluator]) -> dict[str, str]:
    """The endpoint's name of each model by alias: from the evaluators' settings, and for the
    others from the campaign's resolved configuration."""
    specs: dict[str, object] = {}
    if isinstance(config, Mapping):
        several = config.get("models")
        specs |= {MAIN_MODEL: config.get("model")}
        specs |= several if isinstance(several, Mapping) else {}
    for each in evaluators:
        given = each.settings.get("models")
        specs |= given if isinstance(given, Mapping) else {}
    return {
        alias: str(spec["name"])
        for alias, spec in specs.items()
        if isinstance(spec, Mapping) and spec.get("name")
    }


def _named(
    names: Iterable[str], models: Mapping[str, str], rules: Mapping[str, str]
) -> tuple[str, ...]:
    return tuple(rules.get(name) or speaker(name, models) for name in sorted(names))
