"""Lost scores as the worst ones: a look at how much they could matter."""

from collections.abc import Mapping
from typing import Literal

import pandas as pd

from recjury.records import Metric
from recjury.results.ratings import LOST, WORST

Missing = Literal["left out", "worst"]
"""What a score counts that a failure cost."""


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
