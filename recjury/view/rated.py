"""The ratings of a conversation as rows: a score by rater, with reasons, marks and calls."""

import json
import re
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

from recjury.records import (
    DEBATE,
    ConversationLog,
    Debate,
    Evidence,
    Finding,
    Metric,
    Rating,
    Status,
)
from recjury.results.metrics import Metrics
from recjury.view.marks import Mark, given, quoted

_LONG = 300  # characters of evidence without a place
_NOT_RATED = Rating(metric="", rater="", status=Status.NOT_APPLICABLE)


class Row(NamedTuple):
    """A metric: a score for each rater, and all ratings by their raters.

    `key` names it in addresses and marks. `marks` point into the talk, `evidence` does not.
    """

    key: str
    title: str
    metric: Metric
    scores: list[Rating]
    ratings: list[tuple[str, Rating]]
    marks: list[Mark]
    evidence: list[str]


class Rated(NamedTuple):
    """What one evaluator found. `reasons` is whether a rating has any, or calls behind it."""

    name: str
    raters: list[str]
    rows: list[Row]
    reasons: bool
    debates: list[Debate]


def rated(
    name: str,
    judgings: Sequence[Sequence[Finding]],
    metrics: Metrics,
    log: ConversationLog,
) -> Rated:
    """The findings of one evaluator, of all its judgings. `metrics` are the campaign's, by id."""
    by_metric: dict[str, list[tuple[str, Rating]]] = {}
    evidence: list[Evidence] = []
    debates: list[Debate] = []
    for number, findings in enumerate(judgings, 1):
        again = f" {number}" if len(judgings) > 1 else ""
        for each in findings:
            if isinstance(each, Rating) and each.rater != DEBATE:
                by_metric.setdefault(each.metric, []).append((f"{each.rater}{again}", each))
        evidence += [each for each in findings if isinstance(each, Evidence)]
        debates += [each for each in findings if isinstance(each, Debate)]
    raters = list(dict.fromkeys(rater for each in by_metric.values() for rater, _ in each))
    rows = [
        _row(f"{name}.{metric}", ratings, raters, metrics, _about(metric, evidence), log)
        for metric, ratings in by_metric.items()
    ]
    ratings = [rating for each in by_metric.values() for _, rating in each]
    reasons = any(rating.rationale or rating.calls for rating in ratings)
    return Rated(name, raters, rows, reasons, debates)


def anchor_of(id_: str) -> str:
    """A metric's id as a word that addresses and selectors can hold."""
    return re.sub(r"[^\w.@-]", "_", id_)


def _about(metric: str, evidence: Iterable[Evidence]) -> list[Evidence]:
    """The evidence whose name is the metric's, or begins with it and a dot."""
    return [each for each in evidence if f"{each.name}.".startswith(f"{metric}.")]


def _row(
    id_: str,
    ratings: list[tuple[str, Rating]],
    raters: Sequence[str],
    metrics: Metrics,
    evidence: Sequence[Evidence],
    log: ConversationLog,
) -> Row:
    key, turns = anchor_of(id_), log.interaction
    quotes = {mark: None for _, rating in ratings for mark in quoted(key, rating.rationale, turns)}
    places = [given(key, each, turns) for each in evidence]
    return Row(
        key=key,
        title=metrics.title(id_),
        metric=metrics[id_],
        scores=[_of_rater([each for name, each in ratings if name == rater]) for rater in raters],
        ratings=ratings,
        marks=[*(mark for mark in places if mark), *quotes],
        evidence=[_text(each) for each, mark in zip(evidence, places, strict=True) if not mark],
    )


def _of_rater(ratings: Sequence[Rating]) -> Rating:
    """The mean over the turns that have a score, as in the frame of ratings."""
    scores = [each.score for each in ratings if each.score is not None]
    if scores:
        return ratings[0].model_copy(update={"score": fmean(scores), "status": Status.OK})
    return ratings[0] if ratings else _NOT_RATED


def _text(evidence: Evidence) -> str:
    value = evidence.value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return f"{evidence.name}: {text}"[:_LONG]
