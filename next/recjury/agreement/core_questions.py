"""CoRE's four research questions (Chen et al., sections 5 and 7), and what its debate earns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recjury.agreement.given import Given
from recjury.errors import UserError
from recjury.records import DEBATE
from recjury.results import Findings, scores
from recjury.results.ratings import TRIAL
from recjury.stats import Draws, correlations

if TYPE_CHECKING:
    import pandas as pd

_FEWEST = 10  # scenarios; over fewer, a correlation means nothing
_PLACE = ["scenario", "system", "metric"]


def coupling(given: Given) -> Findings:
    """RQ1: how far factors go together (mean |r| of their pairs), by judge, for their mean, and
    for people; 66 pairs of twelve factors.
    """
    import pandas as pd

    rated = given.factors()
    raters = {str(name): _wide(of) for name, of in rated.groupby("rater", observed=True)}
    if len(raters) > 1:
        raters["mean of judges"] = _wide(rated)
    if given.labels is not None:
        people = given.people()
        raters["people"] = _wide(people[people["metric"].isin(set(rated["metric"]))])
    rows, matrices = [], {}
    for name, wide in raters.items():
        matrix = wide.corr(min_periods=_FEWEST)
        pairs = np.abs(matrix.to_numpy()[np.triu_indices(len(matrix), 1)])
        known = pairs[~np.isnan(pairs)]
        matrices[f"Correlations of factors, {name}"] = matrix.round(2).reset_index(names="factor")
        rows.append(
            {
                "rater": name,
                "mean |r|": float(known.mean()) if len(known) else float("nan"),
                "pairs": len(known),
                "at .5 and above": int((known >= 0.5).sum()),
                "below .2": int((known < 0.2).sum()),
                "conversations": len(wide),
            }
        )
    _check_enough(max(map(len, raters.values())))
    table = pd.DataFrame(rows)
    most, least = table.nlargest(1, "mean |r|").iloc[0], table.nsmallest(1, "mean |r|").iloc[0]
    return Findings(
        title="core.rq1",
        answer=f"Factors go together most for {most.rater} (mean |r| {most['mean |r|']:.2f}) and "
        f"least for {least.rater} ({least['mean |r|']:.2f}).",
        tables={"Coupling of factors (CoRE, figure 6)": table, **matrices},
        data={"raters": rows},
    )


def factors_and_people(given: Given) -> Findings:
    """RQ2: rho and tau of each judge with people, by factor; the judges' mean; and the judge that
    is best for a factor on one half of the dialogues, held against people on the other half.
    """
    import pandas as pd

    both = _beside_people(given, given.factors())
    rows: list[dict[str, Any]] = []
    for metric, of in both.groupby("metric", observed=True):
        by_rater = {str(name): own for name, own in of.groupby("rater", observed=True)}
        if len(by_rater) > 1:
            means = of.groupby(_PLACE, observed=True)[["score", "label"]].mean().reset_index()
            by_rater["mean of judges"] = means
            by_rater["routed"] = _routed(of)
        rows += (
            {"factor": str(metric), "judge": name, **_rho_tau(own, given)}
            for name, own in by_rater.items()
        )
    table = pd.DataFrame(rows)
    by_judge = table.groupby("judge", sort=False)["rho"].mean()
    best = str(by_judge.idxmax()) if by_judge.notna().any() else None
    return Findings(
        title="core.rq2",
        answer=f"{best} agrees best with people: mean rho {by_judge[best]:.2f} over factors."
        if best is not None
        else "No judge has enough scores beside labels.",
        tables={"Judges and people by factor (CoRE, table 8)": table},
        data={"rows": rows, "mean_rho": by_judge.to_dict()},
    )


def verdicts_and_people(given: Given) -> Findings:
    """RQ3: verdict, mean of factors, recall and persuasiveness beside people's overall score."""
    people = given.people()
    overall = people[people["metric"].isin(["overall", "dialogue_overall", "satisfaction"])]
    if not len(overall):
        known = ", ".join(sorted(set(people["metric"])))
        raise UserError(f"the labels have no overall score, only {known}")
    wide = scores(given.frame).reset_index()
    both = _join_labels(wide.assign(metric=""), overall.assign(metric=""))
    _check_enough(len(both))
    ends = (".overall", ".mean", "recall@1", "recall@5", "recall@10", "persuasiveness", "success")
    metrics = [each for each in wide if str(each).endswith(ends)]
    rows = [
        {"metric": str(metric), **_rho_tau(_with_score(both, metric), given)} for metric in metrics
    ]
    return _ranked("core.rq3", "Overall scores and people (CoRE, table 9)", "metric", rows)


def systems_by_judge(given: Given) -> Findings:
    """RQ4: mean and standard deviation of each factor by judge, system and corpus; and the roles'
    scores of the last round, from 0 to 100.
    """
    rated = given.factors()
    groups = ["corpus", "system", "rater", "metric"]
    table = rated.groupby(groups, observed=True)["score"].agg(["mean", "std", "size"]).reset_index()
    tables = {"Factors by judge and system (CoRE, tables 21 to 23)": table}
    said = given.statements
    if len(said):
        last = said[said["round"] == said.groupby("conversation")["round"].transform("max")]
        by_role = last.groupby(["system", "role"], observed=True)["score"]
        tables["Roles' scores of the last round, 0 to 100 (figure 8)"] = by_role.agg(
            ["mean", "std", "size"]
        ).reset_index()
    whole = rated.groupby("system", observed=True)["score"].mean()
    return Findings(
        title="core.rq4",
        answer=f"Highest mean of factors: {whole.idxmax()} with {whole.max():.2f} of 4.",
        tables=tables,
        data={"rows": table.to_dict("records")},
    )


def value_of_debate(given: Given) -> Findings:
    """Does the debate earn its calls? Verdict, round 1 and mean of factors, and people if any."""
    import pandas as pd

    frame, said = given.frame, given.statements
    verdicts = frame[(frame["rater"] == DEBATE) & frame["score"].notna()]
    if not len(said) or not len(verdicts):
        raise UserError(f"{given.campaign} has no debate: rate it with `core`")
    keys = [*TRIAL, "evaluator"]
    first = said[said["round"] == 1].groupby(keys, observed=True)["score"].mean().rename("round 1")
    verdict = verdicts.groupby(keys, observed=True)["score"].mean().rename("verdict")
    factors = 25 * given.factors().groupby(keys, observed=True)["score"].mean().rename("factors")
    wide = pd.concat([verdict, first, factors], axis=1).dropna().reset_index()
    rounds = said.groupby("conversation", observed=True)["round"].max()
    rows = []
    for name in ("round 1", "factors"):
        apart = (wide["verdict"] - wide[name]).abs()
        r = float(wide["verdict"].corr(wide[name])) if len(wide) > 1 else float("nan")
        rows.append({"beside": name, "r": r, "mean difference": apart.mean(), "n": len(wide)})
    tables = {"The verdict beside what it began with": pd.DataFrame(rows)}
    if given.labels is not None:
        long = wide.melt([*keys], ["verdict", "round 1", "factors"], "metric", "score")
        overall = given.people()
        overall = overall[overall["metric"].str.endswith("overall")].assign(metric="")
        told = [
            {"score": str(name), **_rho_tau(_join_labels(of.assign(metric=""), overall), given)}
            for name, of in long.groupby("metric", sort=False)
        ]
        tables["With people's overall score"] = pd.DataFrame(told)
    moved = rows[0]["mean difference"]
    return Findings(
        title="debate.value",
        answer=f"Debates took {rounds.mean():.1f} rounds and moved the verdict by {moved:.1f} of "
        f"100 from round 1; it correlates with the factors' mean at r = {rows[1]['r']:.2f}.",
        tables=tables,
        data={"rows": rows},
    )


def _wide(rated: "pd.DataFrame") -> "pd.DataFrame":
    """A row for each conversation and a column for each factor."""
    keys = [key for key in ("system", "scenario", "repeat") if key in rated]
    by_factor = rated.groupby([*keys, "metric"], observed=True)["score"].mean()
    return by_factor.unstack("metric")


def _check_enough(number: int) -> None:
    if number < _FEWEST:
        raise UserError(
            f"{number} conversations are too few, {_FEWEST} are needed: play more with "
            f"`recjury run FILE --limit {4 * _FEWEST}`"
        )


def _beside_people(given: Given, rated: "pd.DataFrame") -> "pd.DataFrame":
    both = _join_labels(rated, given.people())
    _check_enough(both["scenario"].nunique())
    return both


def _join_labels(rated: "pd.DataFrame", people: "pd.DataFrame") -> "pd.DataFrame":
    """Ratings with the labels of their trial or scenario, and metric, in the column `label`."""
    own = rated.astype(dict.fromkeys(["system", "user", "corpus", "scenario", "metric"], str))
    labels = people.rename(columns={"score": "label"})
    keys = [*(key for key in TRIAL if key in labels), "metric"]
    return own.merge(labels[[*keys, "label", "cluster"]], on=keys)


def _with_score(both: "pd.DataFrame", metric: Any) -> "pd.DataFrame":
    return both.assign(score=both[metric]).dropna(subset=["score", "label"])


def _rho_tau(both: "pd.DataFrame", given: Given) -> dict[str, Any]:
    if len(both) < _FEWEST:
        return {
            "rho": float("nan"),
            "low": float("nan"),
            "high": float("nan"),
            "tau": float("nan"),
        } | {"n": len(both)}
    clusters = both["cluster"] if "cluster" in both else both["scenario"]
    draws = Draws(clusters, times=given.resamples, seed=given.seed)
    found = correlations(both["score"], both["label"], clusters, both["system"], draws=draws)
    rho = found.spearman
    return {"rho": rho.value, "low": rho.low, "high": rho.high, "tau": found.kendall.value} | {
        "n": found.n
    }


def _routed(of: "pd.DataFrame") -> "pd.DataFrame":
    """The scores of the judge that is best on the other half of the scenarios."""
    import pandas as pd

    scenarios = sorted(set(of["scenario"]))
    half = of["scenario"].isin(scenarios[::2])
    parts = []
    for here in (half, ~half):
        rho = {
            name: own["score"].corr(own["label"], method="spearman")
            for name, own in of[~here].groupby("rater", observed=True)
            if own["score"].nunique() > 1 and own["label"].nunique() > 1
        }
        if rho:
            parts.append(of[here & (of["rater"] == max(rho, key=lambda name: rho[name]))])
    return pd.concat(parts) if parts else of[:0]


def _ranked(title: str, heading: str, key: str, rows: Sequence[dict[str, Any]]) -> Findings:
    import pandas as pd

    known = [row for row in rows if not np.isnan(row["rho"])]
    best = max(known, key=lambda row: float(row["rho"]), default=None)
    return Findings(
        title=title,
        answer=f"{best[key]} agrees best with people: rho {best['rho']:.2f}."
        if best
        else "Nothing has enough scores beside labels.",
        tables={heading: pd.DataFrame(rows)},
        data={"rows": list(rows)},
    )
