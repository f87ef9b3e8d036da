"""Self-bias: whether a judge rates systems that run its own model higher than other judges do."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recjury.agreement.agreement import estimate_json
from recjury.errors import ConfigError, DataError
from recjury.records import JSON, MEAN, Rating, mean_score, metric_id
from recjury.stats.clustered import BootstrapEstimate, cluster_bootstrap
from recjury.store import CampaignEvaluator, Store
from recjury.store.choice import require

ALL = "all"
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


class SelfPreference(NamedTuple):
    """How much higher a judge rates the systems that run its model, compared with other judges.

    `bias` is the judge's score minus the mean of `against`, on conversations of `own` systems,
    minus the same on conversations of `others`; its interval is over scenarios. `metric` "all" is
    the mean over metrics, as a share of their scales. If `is_neutral`, no system runs a model of
    `against`. Otherwise, what these judges prefer is part of the bias.
    """

    metric: str
    judge: str
    model: str
    own: tuple[str, ...]
    others: tuple[str, ...]
    against: tuple[str, ...]
    is_neutral: bool
    bias: BootstrapEstimate
    own_gap: float
    other_gap: float
    n_own: int
    n_others: int

    def as_json(self) -> dict[str, JSON]:
        """Everything; the bias with its interval."""
        own = self._asdict()
        own["bias"] = estimate_json(self.bias)
        return {name: list(each) if isinstance(each, tuple) else each for name, each in own.items()}


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


def self_preferences(
    judged: JudgeScores,
    metrics: Sequence[str] = (),
    *,
    resamples: int = 2_000,
    seed: int = 0,
) -> tuple[SelfPreference, ...]:
    """By judge whose model a system runs, and by metric; for several metrics also their mean.

    Raises ConfigError for an unknown metric, and DataError if no system runs the model of a judge,
    or if nothing can be compared: no other judge rated the same conversations, or all systems run
    the model.
    """
    unknown = [name for name in metrics if name not in judged.scores]
    if unknown:
        known = ", ".join(judged.scores) or "none"
        raise ConfigError(f"--metric {unknown[0]}: no judge gave such a score (known: {known})")
    run = {model for model in judged.models.values() if model}
    shared = [judge for judge, model in judged.judges.items() if model and model in run]
    by_model = {judge: model for judge, model in judged.judges.items() if model}
    if not by_model:
        raise DataError("no judge of this campaign runs a model: there is no self-bias to find")
    if not shared:
        raise DataError(
            f"no system runs the model of a judge (judges: {_listed(by_model)}; systems: "
            f"{_listed(judged.models)}): say what a system runs by --system-model SYSTEM=MODEL"
        )
    found: list[SelfPreference] = []
    for judge in shared:
        rows = [_Rows.of(judged, name, judge) for name in metrics or judged.scores]
        told = [each for each in rows if each is not None]
        if len(told) > 1 and (pooled := _together(told, judged.widths)) is not None:
            told.append(pooled)
        found += [
            each.preference(judged, resamples, seed) for each in told if each.has_both(judged)
        ]
    if not found:
        raise DataError(
            f"nothing to compare for {', '.join(shared)}: another judge has to rate the same "
            "metrics of the same conversations, and another system has to run another model"
        )
    return tuple(found)


def _listed(models: Mapping[str, str | None]) -> str:
    return ", ".join(f"{name} {model or 'not known'}" for name, model in models.items())


class _Rows(NamedTuple):
    """The judge's score of each conversation, minus the mean of the judges `against`."""

    metric: str
    judge: str
    against: tuple[str, ...]
    is_neutral: bool
    gaps: Mapping[str, float]

    @classmethod
    def of(cls, judged: JudgeScores, metric: str, judge: str) -> "_Rows | None":
        scores, model = judged.scores[metric], judged.judges[judge]
        run = {each for each in judged.models.values() if each}
        others = [name for name in scores if judged.judges[name] != model]
        neutral = [name for name in others if judged.judges[name] not in run]
        against = neutral or others
        if judge not in scores or not against:
            return None
        both = {
            name: [scores[other][name] for other in against]
            for name in scores[judge]
            if all(name in scores[other] for other in against)
        }
        gaps = {name: scores[judge][name] - fmean(given) for name, given in both.items()}
        return cls(metric, judge, tuple(against), bool(neutral), gaps) if gaps else None

    def has_both(self, judged: JudgeScores) -> bool:
        """Whether there are conversations of the own model, and of others."""
        return len({self._is_own(judged, name) for name in self.gaps}) == 2

    def preference(self, judged: JudgeScores, resamples: int, seed: int) -> SelfPreference:
        names = list(self.gaps)
        gaps = np.array([self.gaps[name] for name in names])
        own = np.array([self._is_own(judged, name) for name in names])

        def statistic(drawn: NDArray[np.int64]) -> Sequence[float | None]:
            mine, value = own[drawn], gaps[drawn]
            if mine.all() or not mine.any():
                return [None]
            return [float(value[mine].mean() - value[~mine].mean())]

        clusters = [judged.clusters[name] for name in names]
        (bias,) = cluster_bootstrap(statistic, clusters, resamples=resamples, seed=seed)
        systems = {
            mine: tuple(
                sorted(
                    {judged.systems[n] for n, each in zip(names, own, strict=True) if each == mine}
                )
            )
            for mine in (True, False)
        }
        return SelfPreference(
            metric=self.metric,
            judge=self.judge,
            model=judged.judges[self.judge] or "",
            own=systems[True],
            others=systems[False],
            against=self.against,
            is_neutral=self.is_neutral,
            bias=bias,
            own_gap=float(gaps[own].mean()),
            other_gap=float(gaps[~own].mean()),
            n_own=int(own.sum()),
            n_others=int((~own).sum()),
        )

    def _is_own(self, judged: JudgeScores, name: str) -> bool:
        return judged.models[judged.systems[name]] == judged.judges[self.judge]


def _together(rows: Sequence[_Rows], widths: Mapping[str, float]) -> _Rows | None:
    """The mean over metrics of each conversation, as a share of the scales."""
    bounded = [each for each in rows if widths.get(each.metric)]
    if len(bounded) < 2 or len({each.against for each in bounded}) > 1:
        return None
    shared = [name for name in bounded[0].gaps if all(name in each.gaps for each in bounded)]
    gaps = {
        name: fmean(each.gaps[name] / widths[each.metric] for each in bounded) for name in shared
    }
    first = bounded[0]
    return _Rows(ALL, first.judge, first.against, first.is_neutral, gaps) if gaps else None
