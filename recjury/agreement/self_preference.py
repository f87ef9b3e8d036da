"""Self-bias: whether a judge rates systems that run its own model higher than other judges do."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from recjury.agreement.judge_scores import JudgeScores, read_judges
from recjury.errors import ConfigError, DataError
from recjury.plugins import Names
from recjury.records import Estimate
from recjury.stats.clustered import cluster_bootstrap
from recjury.store import Store
from recjury.store.choice import chosen_campaign
from recjury.tables import (
    Analysis,
    AnalysisInput,
    Cell,
    Column,
    Findings,
    Input,
    Table,
    table_of,
)

ALL = "all"


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
    bias: Estimate
    own_gap: float
    other_gap: float
    n_own: int
    n_others: int


class SelfPreferences(Analysis):
    """How much higher a judge rates systems that run its own model than other judges do.

    For each judge whose model a system runs: its score minus that of the other judges, on
    conversations of that system, minus the same on conversations of the other systems, with a 95 %
    interval over scenarios. The other judges are those whose model no system runs, if there are
    any. It needs a campaign that several judges have rated; models are compared by name.
    """

    source: ClassVar[str] = "FACE, appendix D.2, for several judges"
    needs: ClassVar[tuple[Input, ...]] = (Input.CAMPAIGN,)

    metrics: Names = Field((), description="only these (core.overall: the kind, not the name)")
    system_models: Names = Field((), description='"SYSTEM=MODEL": the model that a system runs')
    resamples: int = Field(2_000, ge=100, le=1_000_000, description="behind the intervals")
    seed: int = Field(0, ge=0, description="of the resampling")

    async def run(self, given: AnalysisInput) -> Findings:
        """A row for each judge and metric, and a figure."""
        from recjury.agreement.analysis_plots import Line, interval_rows

        models = dict(map(_system_model, self.system_models))
        with Store.open(given.store, read_only=True) as store:
            campaign = chosen_campaign(store, given.campaign)
            judged = read_judges(store, campaign, system_models=models)
        found = self_preferences(judged, self.metrics, resamples=self.resamples, seed=self.seed)
        lines = [Line(f"{each.judge}, {each.metric}", *each.bias[:3]) for each in found]
        figure = interval_rows(lines, title="Self-bias", axis="difference of differences")
        return Findings(tables=(_table(found),), figures={"self-bias": figure})


def _system_model(text: str) -> tuple[str, str]:
    system, equals, model = text.partition("=")
    if not (system and equals and model):
        raise ConfigError(f"system_models: expected SYSTEM=MODEL, got {text}")
    return system, model


_COLUMNS = (
    Column("judge"),
    Column("model"),
    Column("metric"),
    Column("bias", "self-bias", 3),
    Column("own_gap", "own systems", 3),
    Column("other_gap", "other systems", 3),
    Column("n_own", "n own"),
    Column("n_others", "n others"),
)


def _table(found: Iterable[SelfPreference]) -> Table:
    rows: list[dict[str, Cell]] = []
    notes: dict[str, None] = {}
    for each in found:
        rows.append(
            {
                "judge": each.judge,
                "model": each.model,
                "metric": each.metric,
                "bias": each.bias,
                "own_gap": each.own_gap,
                "other_gap": each.other_gap,
                "n_own": each.n_own,
                "n_others": each.n_others,
            }
        )
        prefer = ", which systems run, too: their preference is part of it"
        notes[
            f"{each.judge}: systems {', '.join(each.own)} run its model; against "
            f"{', '.join(each.against)}{'' if each.is_neutral else prefer}"
        ] = None
    notes[
        "own and other systems: the judge's score minus that of the other judges; self-bias: the "
        "first minus the second; all: mean over metrics, as share of scales"
    ] = None
    return table_of("self_preference", _COLUMNS, rows, notes=list(notes))


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
        raise ConfigError(f"metrics: no judge gave the score {unknown[0]} (known: {known})")
    run = {model for model in judged.models.values() if model}
    shared = [judge for judge, model in judged.judges.items() if model and model in run]
    by_model = {judge: model for judge, model in judged.judges.items() if model}
    if not by_model:
        raise DataError("no judge of this campaign runs a model: there is no self-bias to find")
    if not shared:
        raise DataError(
            f"no system runs the model of a judge (judges: {_listed(by_model)}; systems: "
            f"{_listed(judged.models)}): say what a system runs by `system_models`, SYSTEM=MODEL"
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
