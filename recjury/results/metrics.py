"""The metrics of a campaign, in the order of tables, and which of them answers first."""

from collections.abc import Iterable, Iterator, Mapping

import pandas as pd
from sqlalchemy import JSON, text

from recjury.records import Metric, part_name
from recjury.results.ratings import FACTOR_KINDS
from recjury.store import Store

LEADING = ("core.overall", "core.mean", "outcome.success")
"""The metrics that answer "how good is it?". The first one that is there leads."""

_SUMS = (".overall", ".mean")  # of evaluators with names of one's own
_QUERY = """
    SELECT ce.name, e.kind, e.metrics FROM campaign_evaluator ce
    JOIN evaluator e ON e.id = ce.evaluator WHERE ce.campaign = :campaign ORDER BY ce.run
"""


class Metrics(dict[str, Metric]):
    """Metrics by id, the leading one first; an id that is not there has no scale."""

    def __missing__(self, id_: str) -> Metric:
        return Metric(name=id_)

    def title(self, id_: str) -> str:
        """A name for people; `novelty` is one, too, if there is no better."""
        return self[id_].title or id_.rpartition(".")[2].replace("_", " ").capitalize()


def metrics_of(store: Store, *campaigns: str) -> Metrics:
    """The metrics of campaigns: leading ones first, then in the order of the evaluators.

    `<evaluator>.mean`, which is computed, is among them where factors are.
    """
    found = {id_: each for name in campaigns for id_, each in _metrics(store, name)}
    return Metrics({id_: found[id_] for id_ in in_order(found)})


def _metrics(store: Store, campaign: str) -> Iterator[tuple[str, Metric]]:
    query = text(_QUERY).columns(metrics=JSON())
    with store.connection() as connection:
        newest = {row.name: row for row in connection.execute(query, {"campaign": campaign})}
    parts = store.config(campaign).get("evaluators", ())
    order = [part_name(part) for part in parts]
    for name in sorted(newest, key=lambda each: order.index(each) if each in order else len(order)):
        metrics = [Metric.model_validate(each) for each in newest[name].metrics]
        if newest[name].kind in FACTOR_KINDS:
            metrics.append(_mean_of(metrics))
        yield from ((f"{name}.{metric.name}", metric) for metric in metrics)


def in_order(ids: Iterable[str]) -> list[str]:
    """Ids of metrics, the leading ones first, else as they are."""
    return sorted(ids, key=_rank)


def with_scales(table: pd.DataFrame, known: Mapping[str, Metric]) -> pd.DataFrame:
    """A table of metrics, in their order, with the upper ends and directions of their scales."""
    order = {id_: place for place, id_ in enumerate(known)}
    found = table.sort_values("metric", key=lambda ids: ids.map(order), kind="stable")
    ends = {id_: metric.high for id_, metric in known.items()}
    is_down = found["metric"].map({id_: metric.lower_is_better for id_, metric in known.items()})
    scale = found["metric"].map(ends).astype(float)
    return found.assign(scale=scale, lower_is_better=is_down.astype(bool))


def _mean_of(metrics: list[Metric]) -> Metric:
    factors = [metric for metric in metrics if metric.name != "overall"]
    title = f"Mean of {len(factors)} factors"
    return factors[0].model_copy(update={"name": "mean", "title": title})


def _rank(id_: str) -> int:
    if id_ in LEADING:
        return LEADING.index(id_)
    ends = [f".{id_}".endswith(end) for end in _SUMS]
    return len(LEADING) + (ends.index(True) if any(ends) else len(_SUMS))
