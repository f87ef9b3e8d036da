"""What recipes show beside `align` and the analyses: the rest of the papers' tables."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from recjury.agreement import Analysis, Labels, Study, align
from recjury.agreement.align import Level, people_agree
from recjury.agreement.labels import with_labels
from recjury.errors import UserError
from recjury.records import Rating, part_name
from recjury.results import Findings, Resampling

DRAW = re.compile(r"#\d+(?=\.)")
"""The number of a draw of examples in the name of an evaluator."""

_RATED = re.compile(
    r"(?<![\d.])([1-5])(?:\.0)?\s*(?:/|out of)\s*5\b"
    r"|\b(?:rat|scor)\w+\D{0,12}([1-5])\b(?!\.\d|\s*(?:to|-|–)\s*[1-5])",
    re.IGNORECASE,
)


def aligned(
    scores: pd.DataFrame,
    pairs: Sequence[str],
    labels: Labels,
    resampling: Resampling,
    level: Level = "place",
) -> Findings:
    """`align`; of evaluators with draws of examples, mean and deviation over draws."""
    found = align(scores, labels, pairs, level=level, resampling=resampling)
    drawn = _over_draws(pd.DataFrame(found.data["rows"]))
    if not len(drawn):
        return found
    tables = {"Mean and deviation over draws of examples": drawn, **found.tables}
    return replace(found, tables=tables, data={**found.data, "draws": drawn.to_dict("records")})


def attacks(scores: pd.DataFrame, pairs: Sequence[str], labels: Labels, _: Resampling) -> Findings:
    """In how many pairs the original reply has the higher score, by attack on it."""
    metrics = [pair.partition("=")[0] for pair in pairs]
    both = with_labels(scores[scores["metric"].isin(metrics)], labels)
    keys = ["metric", "subset", "conversation"]
    sides = both.pivot_table("score", keys, "label").reindex(columns=[0.0, 1.0]).dropna()
    if not len(sides):
        raise UserError("no pair has a score for the original and for what became of it")
    is_right = (sides[1.0] > sides[0.0]).groupby(level=keys[:2])
    table = pd.DataFrame({"accuracy": is_right.mean(), "pairs": is_right.size()}).reset_index()
    means = table.groupby("metric")["accuracy"].mean()
    return Findings(
        title=labels.name,
        answer=f"{means.idxmax()} finds the original in {means.max():.1%} of pairs, as a mean of "
        "attacks.",
        tables={"Accuracy by attack": table.rename(columns={"subset": "attack"})},
        data={"rows": table.to_dict("records"), "means": means.to_dict()},
    )


def _over_draws(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard deviation of r and rho over the draws of an evaluator's examples."""
    drawn = rows[rows["metric"].str.contains(DRAW)].rename(columns={"subset": "data"})
    keys = ["data", "metric"]
    by_metric = drawn.assign(metric=drawn["metric"].str.replace(DRAW, "", regex=True)).groupby(
        keys, sort=False
    )
    both = by_metric[["pearson", "spearman"]]
    found = both.mean().join(both.std().add_suffix(" sd"))
    return found.assign(draws=by_metric.size()).reset_index()


def ceiling(labels: Labels) -> Findings:
    """How far people agree: alpha by aspect, ordinal and interval."""
    rows: list[dict[str, Any]] = []
    for (subset, metric), _ in labels.frame.groupby(["subset", "metric"], sort=False):
        units = labels.units(str(subset), str(metric))
        if agree := people_agree(units):
            rows.append({"set": subset, "aspect": metric, **agree})
    if not rows:
        raise UserError(f"{labels.name} has one rating of each subject: no agreement is known")
    best = max(rows, key=lambda row: row["alpha"] or -1.0)
    return Findings(
        title=labels.name,
        answer=f"People agree most on {best['aspect']}: alpha {best['alpha']:.3f}.",
        tables={"Krippendorff's alpha": pd.DataFrame(rows)},
        data={"rows": rows},
    )


def shares(labels: Labels) -> Findings:
    """How often each label was given, by aspect and system."""
    means = labels.means()
    keys = ["metric", "system"]
    table = means.groupby([*keys, "score"]).size().rename("labels").reset_index()
    table["share"] = table["labels"] / table.groupby(keys)["labels"].transform("sum")
    return Findings(
        title=labels.name,
        answer=f"{len(means):,} labels of {means['metric'].nunique()} aspects.",
        tables={"Shares of labels": table},
        data={"rows": table.to_dict("records")},
    )


def reasons(study: Study) -> Findings:
    """Whether the rating that reasons speak of is the score, by evaluator (Jia et al., 5.5)."""
    rows = pd.DataFrame(_named(study), columns=["evaluator", "named", "equal"])
    if not len(rows):
        raise UserError(
            f"{study.campaign.name} has no reasons: rate it with `dialogue-quality` and `method: "
            "generation`"
        )
    by_evaluator = rows.groupby("evaluator")
    table = by_evaluator[["named", "equal"]].mean().assign(n=by_evaluator.size()).reset_index()
    told = [f"{r.equal:.0%} of {r.evaluator}'s" for r in table.dropna().itertuples()]
    return Findings(
        title="quality.reasons",
        answer=f"Reasons that name a rating name the score: {', '.join(told) or 'there are none'}.",
        tables={"Scores and their reasons": table},
        data={"rows": table.to_dict("records")},
    )


def _named(study: Study) -> Iterator[tuple[str, float, float]]:
    """Of each written rating, whether its reasons name one, and whether that is the score."""
    kinds = {
        part_name(part)
        for part in study.campaign.config.get("evaluators", ())
        if part["kind"] == "dialogue-quality" and part.get("method") == "generation"
    }
    for row in study.campaign.store.evaluations(study.campaign.name):
        for each in study.campaign.store.findings(row.id) if row.name in kinds else ():
            if isinstance(each, Rating) and each.score is not None and each.rationale:
                found = [float(one or other) for one, other in _RATED.findall(each.rationale)]
                equal = float(found[-1] == each.score) if found else math.nan
                yield row.name, float(bool(found)), equal


OF_SCORES: Mapping[str, Callable[[pd.DataFrame, Sequence[str], Labels, Resampling], Findings]] = {
    "align": aligned,
    "system": partial(aligned, level="system"),
    "attacks": attacks,
}
OF_LABELS: Mapping[str, Callable[[Labels], Findings]] = {"ceiling": ceiling, "shares": shares}
OF_CAMPAIGN: Mapping[str, Analysis] = {
    "quality.reasons": Analysis(reasons, "whether reasons name the score", "dialogue-quality")
}
