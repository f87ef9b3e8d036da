"""One frame of ratings, from which means, comparisons and pages are made."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals
from sqlalchemy import text

from recjury.records import DEBATE, Metric
from recjury.stats import Draws, interval
from recjury.store import PLANNED_TRIALS, Store

TRIAL = ["system", "user", "corpus", "scenario", "repeat"]
"""What tells one trial of a campaign from another."""

FACTOR_KINDS = ("core", "counted")
"""Kinds of evaluators that rate CoRE's factors; their plain mean is shown beside the verdict."""

FAILURES = ("unreadable", "call failed", "refused")
"""Statuses of ratings that could have had a score."""

LOST = ("system failed", *FAILURES)
"""Statuses of ratings that a failure has cost; a rating that is not applicable is none."""

Missing = Literal["left out", "worst"]
"""What a score counts that a failure cost."""

WORST = "worst"
"""The status of a lost rating that counts as the worst of its scale."""


class Resampling(NamedTuple):
    """How many draws of scenarios an interval is from, and the seed of draws and of tests."""

    times: int = 2000
    seed: int = 0

    def draws(self, scenarios: Sequence[str]) -> Draws:
        """The draws of those scenarios."""
        return Draws(scenarios, times=self.times, seed=self.seed)


STANDARD = Resampling()

_TRIALS = f"""
    SELECT p.campaign, p.conversation,
           CASE WHEN p.version = p.newest THEN p.system
                ELSE p.system || '@' || SUBSTR(p.version, 1, 8) END AS system,
           p.version, p.user, p.corpus, p.scenario, p.repeat,
           c.log, c.state, c.ending, c.rounds, c.reason AS failure,
           CAST(c.seconds AS TEXT) AS seconds
    FROM {PLANNED_TRIALS} p JOIN conversation c ON c.id = p.conversation
    WHERE (:all OR p.version = p.newest) ORDER BY p.ordinal, p.run
"""  # noqa: S608 (a constant)
_EVALUATORS = """
    SELECT ce.evaluator, ce.name, e.kind FROM campaign_evaluator ce
    JOIN evaluator e ON e.id = ce.evaluator WHERE ce.campaign = :campaign ORDER BY ce.run
"""
# A reason is wanted where there is no score; all else is in an index, if no texts are wanted.
_RATINGS = """
    SELECT e.conversation, e.evaluator, e.judging, r.metric, r.rater, r.turn, r.score, r.status,
           CASE WHEN r.status <> 'ok' THEN r.reason ELSE '' END AS reason {texts}
    FROM plan p
    JOIN evaluation e ON e.conversation = p.conversation
    JOIN campaign_evaluator ce
        ON ce.campaign = p.campaign AND ce.evaluator = e.evaluator AND e.judging < ce.judgings
    LEFT JOIN rating r ON r.evaluation = e.id {text_table}
    WHERE p.campaign = :campaign
"""
_TEXTS = {
    "texts": ", t.text AS rationale, CAST(r.calls AS TEXT) AS calls",
    "text_table": "LEFT JOIN text t ON t.hash = r.rationale",
}
_NO_TEXTS = {"texts": "", "text_table": ""}
_AT_ONCE = 50_000  # rows whose texts are in memory
_COLUMNS = [
    *("campaign", "conversation", "system", "version", "user", "corpus", "scenario", "repeat"),
    *("log", "ending", "rounds", "failure", "evaluator", "kind", "judging", "metric", "rater"),
    *("turn", "score", "status", "reason"),
]


def ratings(store: Store, campaign: str, *, all_versions: bool = False) -> pd.DataFrame:
    """A row for each rating of a campaign, of the newest versions.

    Columns: campaign, conversation, system, version, user, corpus, scenario, repeat, log (the hash
    of its text), ending, rounds, failure, evaluator, kind (the evaluator's), judging, metric,
    rater, turn (-1: the dialogue), score, status, reason. A trial that an evaluator has not rated
    has one row for it, without a metric; if its system failed, `status` and `failure` say so. With
    `all_versions`, older versions of systems are there, too, and are called `name@version`.
    """
    return ratings_of(store, campaign, played_trials(store, campaign, all_versions=all_versions))


def ratings_of(
    store: Store, campaign: str, trials: pd.DataFrame, *, texts: bool = False
) -> pd.DataFrame:
    """The ratings of the trials that were played; with `texts`, rationale and calls, too."""
    evaluators = read(store, _EVALUATORS, campaign).drop_duplicates("name", keep="last")
    rated = read(store, _RATINGS.format(**(_TEXTS if texts else _NO_TEXTS)), campaign)
    # Numbers of rows join faster than ids, and repeat no text.
    rated["trial"] = places_in(trials["conversation"], rated.pop("conversation"))
    rated["by"] = places_in(evaluators["evaluator"], rated.pop("evaluator"))
    evaluators = evaluators.rename(columns={"evaluator": "id", "name": "evaluator"})
    every = np.divmod(np.arange(len(trials) * len(evaluators)), max(1, len(evaluators)))
    frame = pd.DataFrame({"trial": every[0], "by": every[1]}).merge(rated, "left", ["trial", "by"])
    for part, key in ((trials, "trial"), (evaluators, "by")):
        frame = frame.join(part.reset_index(drop=True), on=key)
    failed = frame["status"].isna() & (frame["state"] == "failed")
    frame["status"] = frame["status"].cat.add_categories(["system failed"])
    frame.loc[failed, "status"] = "system failed"
    return frame[[*_COLUMNS, *(["rationale", "calls"] if texts else [])]]


def played_trials(store: Store, campaign: str, *, all_versions: bool = False) -> pd.DataFrame:
    """A row for each trial that was played, of the newest versions unless `all_versions`."""
    trials = planned_trials(store, campaign, all_versions=all_versions)
    return trials[trials["state"] != "planned"]


def planned_trials(store: Store, campaign: str, *, all_versions: bool = False) -> pd.DataFrame:
    """A row for each trial, played or not, of the newest versions unless `all_versions`.

    Beside the columns of ratings: `state`, and `seconds`, which is JSON.
    """
    return read(store, _TRIALS, campaign, all=all_versions)


def read(store: Store, query: str, campaign: str, **more: Any) -> pd.DataFrame:
    """The rows of a query, in pieces; each text is there once."""
    values = {"campaign": campaign, **more}
    with store.connection() as connection:
        rows = pd.read_sql(text(query), connection, params=values, chunksize=_AT_ONCE)
        parts = [_with_categories(part) for part in rows]
    columns = {name: [part[name] for part in parts] for name in parts[0].columns}
    return pd.DataFrame(
        {
            name: union_categoricals(column)
            if column[0].dtype == "category"
            else pd.concat(column, ignore_index=True)
            for name, column in columns.items()
        }
    )


_NUMBERS = {
    **dict.fromkeys(("repeat", "rounds", "judging", "round"), int),
    **dict.fromkeys(("turn", "score"), float),
}


def _with_categories(part: pd.DataFrame) -> pd.DataFrame:
    return part.astype({name: _NUMBERS.get(str(name), "category") for name in part.columns})


def places_in(known: "pd.Series[Any]", ids: "pd.Series[Any]") -> Any:
    """In which row of `known` each of `ids` is, or -1."""
    return pd.Index(known.astype(str)).get_indexer(ids.cat.categories)[ids.cat.codes]


def scores(frame: pd.DataFrame) -> pd.DataFrame:
    """A row for each trial and a column for each metric id, `<evaluator>.<metric>`.

    A value is the mean over raters, each the mean of its judgings and turns. Where one rater of a
    trial has no score, the trial has none (NaN): raters differ in level. Repeats whose logs are
    equal are one trial. `<evaluator>.mean` is the mean of the factors that apply (CoRE, 4.2); there
    is none if one of them failed.
    """
    rated = frame[frame["metric"].notna()]
    ids = (rated["evaluator"].astype(str) + "." + rated["metric"].astype(str)).rename("id")
    keys = [rated[name] for name in TRIAL]
    by_rater = rated["score"].groupby([*keys, ids, rated["rater"]], observed=True).mean()
    by_trial = by_rater.groupby(level=[*TRIAL, "id"], observed=True)
    table = by_trial.mean().where(by_trial.count() == by_trial.size()).unstack("id")
    trials = frame.drop_duplicates(TRIAL)
    is_again = trials.duplicated([*TRIAL[:-1], "log"]) & (trials["status"] != "system failed")
    table = table.reindex(pd.MultiIndex.from_frame(trials[~is_again][TRIAL]))
    for id_, factors in factors_of(frame).items():
        complete = ~table.index.isin(_lacking(frame, id_.rpartition(".")[0]))
        table[id_] = table[factors].mean(axis=1).where(complete)
    return table


def _lacking(frame: pd.DataFrame, evaluator: str) -> "pd.MultiIndex":
    """The trials of which a factor could be rated, and has no score."""
    rows = frame[(frame["evaluator"] == evaluator) & (frame["rater"] != DEBATE)]
    return pd.MultiIndex.from_frame(rows[rows["status"].isin(FAILURES)][TRIAL])


def factors_of(frame: pd.DataFrame) -> dict[str, list[str]]:
    """By the id of each mean of factors (`core.mean`), the ids of the factors."""
    rows = frame[frame["kind"].isin(FACTOR_KINDS) & frame["metric"].notna()]
    rows = rows[rows["rater"] != DEBATE].drop_duplicates(["evaluator", "metric"])
    found: dict[str, list[str]] = {}
    for evaluator, metric in zip(rows["evaluator"], rows["metric"], strict=True):
        found.setdefault(f"{evaluator}.mean", []).append(f"{evaluator}.{metric}")
    return found


def bases_of(frame: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """On which factors the verdict and the mean of factors of each trial rest: their names.

    `table` has the scores of `frame`. There is a row for each of its trials, and a column for each
    metric id. A factor that failed counts as one that applies, and a lost score that counts as the
    worst has no names: it would be the worst of any factors.
    """
    found = pd.DataFrame(index=table.index)
    failed = frame[frame["status"].isin([*FAILURES, WORST]) & (frame["rater"] != DEBATE)]
    for mean, factors in factors_of(frame).items():
        evaluator = mean.rpartition(".")[0]
        applies = table[factors].notna()
        own = failed[failed["evaluator"] == evaluator]
        for metric, rows in own.groupby("metric", observed=True):
            trials = table.index.isin(pd.MultiIndex.from_frame(rows[TRIAL]))
            applies[f"{evaluator}.{metric}"] |= trials
        names = np.array([f"{id_.removeprefix(evaluator)} " for id_ in sorted(factors)], object)
        worst = pd.MultiIndex.from_frame(own[own["status"] == WORST][TRIAL])
        texts = applies[sorted(factors)].astype(object).to_numpy() @ names
        rests = pd.Series(texts, table.index).mask(table.index.isin(worst))
        found = found.assign(**{mean: rests, f"{evaluator}.overall": rests})
    return found


def means(scores: pd.DataFrame, resampling: Resampling = STANDARD) -> pd.DataFrame:
    """One row for each system and metric: mean, low, high (95 %), n, coverage.

    `scores` are those of trials, as `results.scores` has them. Intervals are percentiles of a
    bootstrap over scenarios, made wider for few of them. `coverage` is the share of the system's
    trials that have a score.
    """
    columns = ["system", "metric", "mean", "low", "high", "n", "coverage"]
    rows: list[tuple[Any, ...]] = []
    if not len(scores):
        return pd.DataFrame(columns=columns)
    systems = scores.index.get_level_values("system")
    draws = resampling.draws(scenarios_of(scores.index))
    for system in systems.unique():
        is_mine = np.asarray(systems == system)
        mine = np.where(is_mine[:, None], scores.to_numpy(), np.nan)
        figures, clusters = draws.mean(mine), draws.clusters(mine)
        for place, metric in enumerate(scores.columns):
            own, n = figures[:, place], int(np.count_nonzero(~np.isnan(mine[:, place])))
            low_high = interval(own, clusters=int(clusters[place]))
            share = n / int(np.count_nonzero(is_mine))
            rows.append((system, metric, float(own[0]), *low_high, n, share))
    return pd.DataFrame(rows, columns=columns)


def scenarios_of(index: "pd.Index[Any]") -> list[str]:
    """The scenario of each row of a table with this index."""
    corpora, scenarios = (index.get_level_values(name) for name in ("corpus", "scenario"))
    return [f"{corpus}/{scenario}" for corpus, scenario in zip(corpora, scenarios, strict=True)]


def with_worst(frame: pd.DataFrame, metrics: Mapping[str, Metric]) -> pd.DataFrame:
    """The ratings with the worst score in place of each that a failure cost.

    The worst is the end of the metric's scale; where the scale has no end there, it is the worst
    score in the frame. A conversation that its system failed has the worst of all that its
    evaluator gives to others. What is not applicable stays without a score.
    """
    texts = [name for name, kind in frame.dtypes.items() if kind == "category"]
    rows = frame.astype(dict.fromkeys(texts, object))
    rated = rows[rows["metric"].notna()]
    parts = rated[["evaluator", "metric", "rater"]].drop_duplicates()
    failed = rows[rows["status"] == "system failed"].drop(columns=["metric", "rater"])
    whole = pd.concat([rows.drop(failed.index), failed.merge(parts, "left", "evaluator")])
    whole = whole.reset_index(drop=True)
    is_lost = whole["status"].isin(LOST) & whole["metric"].notna()
    ids = whole["evaluator"] + "." + whole["metric"]
    worst = {id_: _worst(metrics.get(id_), own) for id_, own in whole["score"].groupby(ids)}
    whole.loc[is_lost, "score"] = ids[is_lost].map(worst).astype(float)
    whole.loc[is_lost, "status"] = WORST
    return whole[frame.columns].astype(dict.fromkeys(texts, "category"))


def about_worst(frame: pd.DataFrame) -> str:
    """How many of the ratings in a frame are lost, for an answer that counts them as the worst."""
    number = int(frame["status"].isin(LOST).sum())
    return f"Lost scores count as the worst of their scale: {number:,} of {len(frame):,}."


def _worst(metric: Metric | None, scores: "pd.Series[float]") -> float:
    metric = metric or Metric(name="")
    end = metric.high if metric.lower_is_better else metric.low
    return float(scores.max()) if end is None else end
