"""One frame of ratings, from which means, comparisons and pages are made."""

from typing import TYPE_CHECKING

from recjury.store import Store

if TYPE_CHECKING:
    import pandas as pd

TRIAL = ["system", "user", "corpus", "scenario", "repeat"]
"""What tells one trial of a campaign from another."""

_QUERY = """
    SELECT p.campaign, p.conversation, p.system, p.version, p.user, p.user_version, p.corpus,
           p.scenario, p.repeat, p.run, c.log, c.reason AS failure,
           ce.name AS evaluator, ce.run AS evaluator_run, e.judging,
           r.metric, r.rater, r.turn, r.score, r.reason,
           COALESCE(r.status, CASE c.state WHEN 'failed' THEN 'system failed' END) AS status
    FROM plan p
    JOIN conversation c ON c.id = p.conversation
    JOIN campaign_evaluator ce ON ce.campaign = p.campaign
    LEFT JOIN evaluation e
        ON e.conversation = p.conversation AND e.evaluator = ce.evaluator
        AND e.judging < ce.judgings
    LEFT JOIN rating r ON r.evaluation = e.id
    WHERE p.campaign = :campaign AND c.state <> 'planned'
"""
_CATEGORIES = ("system", "version", "user", "corpus", "evaluator", "metric", "rater", "status")


def ratings(store: Store, campaign: str, *, all_versions: bool = False) -> "pd.DataFrame":
    """A row for each rating of a campaign, of the newest versions unless `all_versions`.

    Columns: campaign, conversation, system, version, user, corpus, scenario, repeat, log (the hash
    of its text), failure, evaluator, judging, metric, rater, turn (-1: the dialogue), score,
    status, reason. A trial whose system failed has one row for each evaluator, without a metric,
    and says in `failure` why.
    """
    import pandas as pd
    from sqlalchemy import text

    with store.connection() as connection:
        frame = pd.read_sql(text(_QUERY), connection, params={"campaign": campaign})
    frame["score"] = frame["score"].astype(float)
    for name in _CATEGORIES:
        frame[name] = frame[name].astype("category")
    if not all_versions:
        frame = _newest(frame)
    return frame.drop(columns=["run", "evaluator_run", "user_version"]).reset_index(drop=True)


def _newest(frame: "pd.DataFrame") -> "pd.DataFrame":
    """What the last run that named a system, a user or an evaluator had of it."""
    for name, version, run in (
        ("system", "version", "run"),
        ("user", "user_version", "run"),
        ("evaluator", "evaluator_run", "evaluator_run"),
    ):
        rows = frame.sort_values(run, kind="stable").drop_duplicates(name, keep="last")
        newest = dict(zip(rows[name], rows[version], strict=True))
        frame = frame[frame[version].to_numpy() == frame[name].map(newest).to_numpy()]
    last = frame.groupby(TRIAL, observed=True)["run"].transform("max")
    return frame[frame["run"] == last]


def scores(frame: "pd.DataFrame") -> "pd.DataFrame":
    """A row for each trial and a column for each metric id, `<evaluator>.<metric>`.

    A value is the mean over raters, each the mean of its judgings and turns. Where one rater of a
    trial has no score, the trial has none (NaN): raters differ in level.
    """
    import pandas as pd

    rated = frame[frame["metric"].notna()]
    ids = (rated["evaluator"].astype(str) + "." + rated["metric"].astype(str)).rename("id")
    keys = [rated[name] for name in TRIAL]
    by_rater = rated["score"].groupby([*keys, ids, rated["rater"]], observed=True).mean()
    by_trial = by_rater.groupby(level=[*TRIAL, "id"], observed=True)
    table = by_trial.mean().where(by_trial.count() == by_trial.size()).unstack("id")
    return table.reindex(pd.MultiIndex.from_frame(frame[TRIAL].drop_duplicates()))


def means(frame: "pd.DataFrame") -> "pd.DataFrame":
    """One row for each system and metric: mean, low, high (95 %), n, coverage.

    Intervals are percentiles of a bootstrap over scenarios. `coverage` is the share of the system's
    trials that have a score.
    """
    import pandas as pd

    from recjury.stats import Draws, interval

    columns = ["system", "metric", "mean", "low", "high", "n", "coverage"]
    table, rows = scores(frame), []
    if not len(table):
        return pd.DataFrame(columns=columns)
    systems, draws = table.index.get_level_values("system"), Draws(_scenarios(table))
    for system in systems.unique():
        mine = systems == system
        for metric in table.columns:
            figures = draws.mean(table[metric].where(mine))
            n = int(table[metric][mine].notna().sum())
            low_high = interval(figures)
            rows.append((system, metric, float(figures[0]), *low_high, n, n / int(mine.sum())))
    return pd.DataFrame(rows, columns=columns)


def _scenarios(table: "pd.DataFrame") -> list[str]:
    corpora, scenarios = (table.index.get_level_values(name) for name in ("corpus", "scenario"))
    return [f"{corpus}/{scenario}" for corpus, scenario in zip(corpora, scenarios, strict=True)]
