"""What each judge of a campaign said, and whose model it runs."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from recjury.records import MEAN, Rating, mean_score, metric_id
from recjury.store import CampaignEvaluator, Store
from recjury.store.choice import require

_WITHOUT_MODEL = frozenset({"measured", "computed", "rule"})


class JudgeScores(NamedTuple):
    """What each judge of a campaign said.

    `scores` are by metric, judge and conversation: the mean over turns and judgings. `widths` are
    the lengths of the scales that have two ends. `judges` and `models` name the model of each judge
    and of each system: "" if it has none, None if it is not known. `systems` and `clusters` name
    the system and the scenario of each conversation.
    """

    scores: Mapping[str, Mapping[str, Mapping[str, float]]]
    widths: Mapping[str, float]
    judges: Mapping[str, str | None]
    models: Mapping[str, str | None]
    systems: Mapping[str, str]
    clusters: Mapping[str, str]


def read_judges(
    store: Store, campaign: str, *, system_models: Mapping[str, str] | None = None
) -> JudgeScores:
    """The scores of all judges of a campaign.

    Models have the names that their endpoints use; that of a system is in its settings, or in
    `system_models`. Raises StoreError if these name a system that the campaign does not have.
    """
    evaluators = {each.label: each for each in store.evaluators(campaign)}
    kinds = [each.kind for each in evaluators.values()]
    given: dict[str, dict[str, dict[str, list[float]]]] = {}
    widths: dict[str, float] = {}
    judges: dict[str, str | None] = {}
    systems: dict[str, str] = {}
    clusters: dict[str, str] = {}
    for each in evaluators.values():
        for declared in each.metrics:
            if declared.high is not None:
                widths[f"{each.kind}.{declared.id}"] = declared.high - declared.low
    for result in store.results(campaign):
        systems[result.conversation] = result.system
        clusters[result.conversation] = result.pair or result.scenario
        for evaluation in result.evaluations:
            asked = evaluators[evaluation.label]
            for (rater, metric), ratings in _by_rater(evaluation.ratings).items():
                several = kinds.count(asked.kind) > 1
                judge = f"{asked.label}:{rater}" if several else rater
                judges[judge] = _model_of(asked, rater)
                score = mean_score(ratings)
                if score is not None and judges[judge] is not None:
                    own = given.setdefault(f"{asked.kind}.{metric}", {}).setdefault(judge, {})
                    own.setdefault(result.conversation, []).append(score)
    require("system", system_models or (), set(systems.values()))
    return JudgeScores(
        {
            metric: {
                judge: {name: fmean(values) for name, values in own.items()}
                for judge, own in by_judge.items()
            }
            for metric, by_judge in given.items()
        },
        widths,
        judges,
        {**_models_of_systems(store, campaign), **(system_models or {})},
        systems,
        clusters,
    )


def _by_rater(ratings: Sequence[Rating]) -> dict[tuple[str, str], list[Rating]]:
    found: dict[tuple[str, str], list[Rating]] = {}
    for rating in ratings:
        if rating.evaluator != MEAN:
            key = rating.evaluator, metric_id(rating.factor)
            found.setdefault(key, []).append(rating)
    return found


def _model_of(evaluator: CampaignEvaluator, rater: str) -> str | None:
    """The model's name; "" for a rater without a model, None if it is not known."""
    models = evaluator.settings.get("models")
    specs = models if isinstance(models, Mapping) else {}
    names = {
        str(alias): str(spec["name"])
        for alias, spec in specs.items()
        if isinstance(spec, Mapping) and spec.get("name")
    }
    alias = rater.rpartition("/")[2]  # evaluators may put their own name before it
    if alias in names:
        return names[alias]
    if not names or rater in _WITHOUT_MODEL:
        return ""
    # The verdict of a debate is of all who spoke.
    return next(iter(names.values())) if len(set(names.values())) == 1 else None


def _models_of_systems(store: Store, campaign: str) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for conversation in store.conversations(campaign):
        settings = conversation.settings.get("system")
        model = settings.get("model") if isinstance(settings, Mapping) else None
        found[conversation.system] = str(model) if model else found.get(conversation.system)
    return found
