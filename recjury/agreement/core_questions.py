"""CoRE's four research questions (Chen et al., sections 5 and 7), and what its debate earns."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from recjury.agreement.labels import agreement, beyond_chance
from recjury.agreement.study import FEWEST, Study, check_enough, cluster_of
from recjury.errors import UserError
from recjury.records import DEBATE
from recjury.results import Findings
from recjury.results.ratings import TRIAL
from recjury.stats import FEWEST_CLUSTERS, interval

_MEAN, _ROUTED = "mean of judges", "routed"
_OVERALL = ("overall", "dialogue_overall", "satisfaction")  # names of people's overall score


def coupling(study: Study) -> Findings:
    """RQ1: how far factors go together (mean |r| of their pairs), by judge, for their mean, and
    for people; 66 pairs of twelve factors.
    """
    rated = study.factors()
    raters = {str(name): _wide(of, TRIAL) for name, of in rated.groupby("rater", observed=True)}
    if len(raters) > 1:
        raters[_MEAN] = _wide(_of_all(rated, [*TRIAL, "metric"]), TRIAL)
    if study.labels is not None:
        people = study.labels.means()
        people = people[people["metric"].isin(set(rated["metric"]))]
        raters["people"] = _wide(people, ["subset", "system", "conversation"])
    check_enough(max(map(len, raters.values())))
    matrices = {name: wide.corr(min_periods=FEWEST) for name, wide in raters.items()}
    table = pd.DataFrame(
        {"rater": name, **_coupled(matrices[name]), "conversations": len(wide)}
        for name, wide in raters.items()
    )
    most, least = table.nlargest(1, "mean |r|").iloc[0], table.nsmallest(1, "mean |r|").iloc[0]
    shown = {
        f"Correlations of factors, {name}": matrix.round(2).reset_index(names="factor")
        for name, matrix in matrices.items()
    }
    return Findings(
        title="core.rq1",
        answer=f"Factors go together most for {most.rater} (mean |r| {most['mean |r|']:.2f}) and "
        f"least for {least.rater} ({least['mean |r|']:.2f}).",
        tables={"Coupling of factors (CoRE, figure 6)": table, **shown},
        data={
            "raters": table.to_dict("records"),
            "matrices": {name: matrix.to_dict() for name, matrix in matrices.items()},
        },
    )


def factors_and_people(study: Study) -> Findings:
    """RQ2: rho and tau of each judge with people, by factor; the judges' mean; and the judge that
    is best for a factor on one half of the dialogues, held against people on the other half.
    """
    rows = _by_factor_and_judge(study)
    table = pd.DataFrame(rows)
    by_judge = table.groupby("judge", sort=False)["rho"].mean()
    return Findings(
        title="core.rq2",
        answer=_answer(table, lambda _: f"{by_judge.idxmax()}, mean rho {by_judge.max():.2f}"),
        tables={"Judges and people by factor (CoRE, table 8)": table},
        data={"rows": rows, "mean_rho": by_judge.to_dict()},
    )


def verdicts_and_people(study: Study) -> Findings:
    """RQ3: verdict, mean of factors, recall and persuasiveness beside people's overall score."""
    wide = study.campaign.scores.reset_index()
    ends = (".overall", ".mean", "recall@1", "recall@5", "recall@10", "persuasiveness", "success")
    metrics = [str(each) for each in wide if str(each).endswith(ends)]
    rows = _by_score(wide, metrics, study)
    check_enough(max(row["n"] for row in rows))
    table = pd.DataFrame(rows)
    return Findings(
        title="core.rq3",
        answer=_answer(table, lambda best: f"{best['metric']}, rho {best['rho']:.2f}"),
        tables={"Overall scores and people (CoRE, table 9)": table},
        data={"rows": rows},
    )


def systems_by_judge(study: Study) -> Findings:
    """RQ4: mean and standard deviation of each factor by judge, system and corpus; and the roles'
    scores of the last round, from 0 to 100.

    What is drawn has the judges that agree best with people on a factor if there are labels, else
    all of them (figure 7), and the roles (figure 8).
    """
    rated = study.factors()
    table = _described(rated, ["corpus", "system", "rater", "metric"])
    tables = {"Factors by judge and system (CoRE, tables 21 to 23)": table}
    chosen = rated
    if study.labels is not None:
        best = _best_judges(_by_factor_and_judge(study))
        chosen = rated[rated["metric"].astype(str).map(best) == rated["rater"].astype(str)]
    drawn = [*_means(chosen, 4, study)]
    if len(study.campaign.statements):
        last = _last_round(study.campaign.statements)
        tables["Roles' scores of the last round, 0 to 100 (figure 8)"] = _described(
            last, ["system", "metric"]
        )
        drawn += _means(last, 100, study)
    whole = rated.groupby("system", observed=True)["score"].mean()
    return Findings(
        title="core.rq4",
        answer=f"Highest mean of factors: {whole.idxmax()} with {whole.max():.2f} of 4.",
        tables=tables,
        data={"rows": table.to_dict("records"), "means": drawn},
        numbers=pd.DataFrame(drawn),
    )


def value_of_debate(study: Study) -> Findings:
    """Does the debate earn its calls? Verdict, round 1 and mean of factors, and people if any."""
    frame, said = study.campaign.ratings, study.campaign.statements
    verdicts = frame[(frame["rater"] == DEBATE) & frame["score"].notna()]
    if not len(said) or not len(verdicts):
        raise UserError(f"{study.campaign.name} has no debate: rate it with `core`")
    keys = [*TRIAL, "evaluator"]
    columns = {
        "verdict": verdicts,
        "round 1": said[said["round"] == 1],
        "factors": study.factors().assign(score=lambda rated: 25 * rated["score"]),
    }
    means = [of.groupby(keys, observed=True)["score"].mean() for of in columns.values()]
    wide = pd.concat(means, axis=1, keys=list(columns)).dropna().reset_index()
    debates = said.groupby(["conversation", "evaluator", "judging"], observed=True)
    rounds = debates["round"].max()
    rows = []
    for name in ("round 1", "factors"):
        apart = (wide["verdict"] - wide[name]).abs()
        r = float(wide["verdict"].corr(wide[name])) if len(wide) > 1 else math.nan
        rows.append({"beside": name, "r": r, "mean difference": apart.mean(), "n": len(wide)})
    tables = {"The verdict beside what it began with": pd.DataFrame(rows)}
    if study.labels is not None:
        tables["With people's overall score"] = pd.DataFrame(_by_score(wide, [*columns], study))
    moved = rows[0]["mean difference"]
    return Findings(
        title="debate.value",
        answer=f"Debates took {rounds.mean():.1f} rounds and moved the verdict by {moved:.1f} of "
        f"100 from round 1; it correlates with the factors' mean at r = {rows[1]['r']:.2f}.",
        tables=tables,
        data={"rows": rows},
    )


def _wide(rated: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """A row for each conversation and a column for each factor."""
    by_factor = rated.groupby([*keys, "metric"], observed=True)["score"].mean()
    return by_factor.unstack("metric")


def _of_all(rated: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """The scores of what all judges have rated: judges differ in level."""
    known = rated[rated["score"].notna()]
    number = known.groupby(keys, observed=True)["rater"].transform("nunique")
    return known[number == known["rater"].nunique()]


def _coupled(matrix: pd.DataFrame) -> dict[str, Any]:
    """How strong the correlations of a matrix are."""
    pairs = np.abs(matrix.to_numpy()[np.triu_indices(len(matrix), 1)])
    known = pairs[~np.isnan(pairs)]
    return {
        "mean |r|": float(known.mean()) if len(known) else math.nan,
        "pairs": len(known),
        "at .5 and above": int((known >= 0.5).sum()),
        "below .2": int((known < 0.2).sum()),
    }


def _by_factor_and_judge(study: Study) -> list[dict[str, Any]]:
    """Rho and tau of each judge with people by factor, of their mean, and of the routed judge."""
    both = study.with_labels(study.factors())
    both = both[both["metric"].astype(str) == both["aspect"]]
    check_enough(both["conversation"].nunique())
    rows: list[dict[str, Any]] = []
    for factor, of in both.groupby("aspect"):
        by_rater = {str(name): own for name, own in of.groupby("rater", observed=True)}
        if len(by_rater) > 1:
            keys = ["conversation", "system", "cluster"]
            means = _of_all(of, keys).groupby(keys)[["score", "label"]].mean().reset_index()
            by_rater |= {_MEAN: means, _ROUTED: _routed(of)}
        rows += (
            {"factor": str(factor), "judge": name, **_rho_tau(own, study)}
            for name, own in by_rater.items()
        )
    return rows


def _best_judges(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The judge with the highest rho for each factor."""
    single = [r for r in rows if r["judge"] not in (_MEAN, _ROUTED) and not math.isnan(r["rho"])]
    return {
        row["factor"]: row["judge"] for row in sorted(single, key=lambda row: float(row["rho"]))
    }


def _by_score(wide: pd.DataFrame, columns: Sequence[str], study: Study) -> list[dict[str, Any]]:
    """Rho and tau of each column with people's overall score. Raises UserError without one."""
    long = wide.melt(TRIAL, columns, "metric", "score").dropna(subset="score")
    both = study.with_labels(long)
    overall = both[both["aspect"].isin(_OVERALL)]
    if not len(overall):
        known = ", ".join(sorted(set(both["aspect"])))
        raise UserError(f"the labels have no overall score, only {known}")
    return [
        {"metric": name, **_rho_tau(overall[overall["metric"] == name], study)} for name in columns
    ]


def _answer(table: pd.DataFrame, highest: "Callable[[pd.Series[Any]], str]") -> str:
    """How many correlations chance does not explain; of these, `highest` names the highest."""
    above, sentence = beyond_chance(table["rho"], table["low"], table["high"])
    best = table[above].nlargest(1, "rho")
    return "".join((sentence, *(f" Highest: {highest(row)}." for _, row in best.iterrows())))


def _rho_tau(both: pd.DataFrame, study: Study) -> dict[str, Any]:
    found = agreement(both, study.resampling, fewest=FEWEST)
    rho = found.spearman
    return {"rho": rho.value, "low": rho.low, "high": rho.high, "tau": found.kendall.value} | {
        "n": found.n
    }


def _routed(of: pd.DataFrame) -> pd.DataFrame:
    """The scores of the judge that is best on the other half of the dialogues."""
    half = of["cluster"].isin(sorted(set(of["cluster"]))[::2])
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


def _last_round(said: pd.DataFrame) -> pd.DataFrame:
    """The roles' last scores, and the mean of all roles, as metrics."""
    debates = said.groupby(["conversation", "evaluator", "judging"], observed=True)
    last = said[said["round"] == debates["round"].transform("max")]
    whole = last.groupby(TRIAL, observed=True)["score"].mean().reset_index()
    return pd.concat([last.rename(columns={"role": "metric"}), whole.assign(metric="all roles")])


def _described(rated: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    by_key = rated.groupby(keys, observed=True)["score"]
    return by_key.agg(["mean", "std", "size"]).reset_index()


def _means(rated: pd.DataFrame, scale: int, study: Study) -> Iterator[dict[str, Any]]:
    """The mean of each metric by system, with its interval by scenario."""
    keys = ["metric", "system"]
    by_trial = rated.groupby([*keys, "corpus", "scenario"], observed=True)["score"].mean()
    for (metric, system), of in by_trial.dropna().reset_index().groupby(keys, observed=True):
        draws = study.resampling.draws(list(cluster_of(of)))
        low, high = interval(draws.mean(of["score"]), clusters=len(of), fewest=FEWEST_CLUSTERS)
        mean = {"mean": float(of["score"].mean()), "low": low, "high": high, "n": len(of)}
        yield {"system": str(system), "metric": str(metric), **mean, "scale": scale}
