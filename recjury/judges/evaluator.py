"""`Evaluator`: the interface of all that rates logs, how answers become ratings, and checks.

What one's own may get wrong is one line, before anything of it is stored.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import Field

from recjury.corpora import Part
from recjury.errors import UserError
from recjury.llm import Answer, Ask, Score
from recjury.records import (
    ConversationLog,
    Debate,
    Evidence,
    Finding,
    Metric,
    Rating,
    Status,
    ratings_of,
    statements_of,
)


class Evaluator(Part):
    """Rates logs. A subclass has its settings as fields, `metrics`, and `rate`.

    `name` stands before each metric in tables. With `judgings`, every log is rated so many times.
    """

    judgings: int = Field(default=1, ge=1)

    @property
    def metrics(self) -> Sequence[Metric]:
        """What `rate` returns ratings of."""
        raise NotImplementedError

    @property
    def drawn(self) -> object:
        """What `prepared` drew from the context and can change ratings: part of the identity."""
        return None

    async def rate(self, log: ConversationLog, ask: Ask) -> Sequence[Finding]:
        """What is found in a log. What has no score says why; only bugs and `Stop` are raised."""
        raise NotImplementedError


def rating_of(metric: str, rater: str, answer: Answer[Score], *, turn: int | None = None) -> Rating:
    """The rating that an answer gives, or the reason why there is none."""
    return Rating(
        metric=metric,
        rater=rater,
        score=answer.value.score if answer.value else None,
        status=answer.status,
        turn=turn,
        reason=answer.reason,
        rationale=answer.value.rationale if answer.value else "",
        calls=answer.calls,
    )


def computed(score: float, rationale: str = "") -> Answer[Score]:
    """A score for which nobody was asked."""
    return Answer(Score(float(score), rationale), Status.OK)


def not_applicable(reason: str) -> Answer[Any]:
    """No value, since nobody can be asked."""
    return Answer(None, Status.NOT_APPLICABLE, reason)


def check_metrics(evaluator: Evaluator) -> None:
    """Raise UserError if `metrics` is no sequence of metrics with names and scales of their own."""
    metrics: Any = evaluator.metrics
    if callable(metrics):
        raise UserError("`metrics` is a method: write @property above it")
    if not isinstance(metrics, Sequence) or not all(isinstance(each, Metric) for each in metrics):
        raise UserError(f"`metrics` must be a list of Metric, got {metrics!r}")
    if twice := _first_twice(metric.name for metric in metrics):
        raise UserError(f"two metrics are called {twice!r}")
    for metric in metrics:
        if metric.high is not None and metric.high <= metric.low:
            raise UserError(f"metric {metric.name!r} goes from {metric.low:g} to {metric.high:g}")


def checked(evaluator: Evaluator, log: ConversationLog, findings: object) -> Sequence[Finding]:
    """The findings, if each table can show them as they are meant.

    Raises UserError for what is no finding, a metric or a turn that is not there, a score beyond
    its scale, evidence that is no plain data, a metric of two levels, two ratings of one metric by
    one rater, and two statements of one role in one round.
    """
    kinds = (Rating, Evidence, Debate)
    if not isinstance(findings, list | tuple) or not all(isinstance(f, kinds) for f in findings):
        raise UserError(f"`rate` must return a list of Rating and Evidence, got {findings!r:.80}")
    metrics = {metric.name: metric for metric in evaluator.metrics}
    for rating in ratings_of(findings):
        _check_rating(rating, metrics.get(rating.metric), len(log.interaction))
    for finding in findings:
        if isinstance(finding, Evidence):
            _check_evidence(finding)
    _check_once(findings)
    return findings


def _check_rating(rating: Rating, metric: Metric | None, turns: int) -> None:
    name, score = rating.metric, rating.score
    if metric is None:
        raise UserError(f"`rate` returned a rating of {name!r}, which `metrics` does not list")
    if rating.turn is not None and not 0 <= rating.turn < turns:
        raise UserError(
            f"a rating of {name!r} is of turn {rating.turn}: there are 0 to {turns - 1}"
        )
    high = float("inf") if metric.high is None else metric.high
    if score is not None and not metric.low <= score <= high:
        raise UserError(
            f"{name!r} is {score:g}, and its scale goes from {metric.low:g} to {high:g}"
        )


def _check_evidence(evidence: Evidence) -> None:
    try:
        json.dumps(evidence.value)
    except (TypeError, ValueError) as error:
        raise UserError(f"the value of evidence {evidence.name!r} is no JSON: {error}") from None


def _check_once(findings: Sequence[Finding]) -> None:
    ratings, statements = ratings_of(findings), statements_of(findings)
    levels = {(rating.metric, rating.turn is None) for rating in ratings}
    if twice := _first_twice(metric for metric, _ in levels):
        raise UserError(f"metric {twice!r} rates turns and the dialogue: use two names")
    if twice := _first_twice((rating.metric, rating.rater, rating.turn) for rating in ratings):
        metric, rater, turn = twice
        at = "" if turn is None else f" at turn {turn}"
        raise UserError(f"metric {metric!r} has two ratings by {rater!r}{at}: return one of them")
    if twice := _first_twice((said.round, said.role) for said in statements):
        raise UserError(f"{twice[1]!r} has two statements in round {twice[0]}: return one debate")


def _first_twice(keys: Iterable[Any]) -> Any:
    return next((key for key, count in Counter(keys).items() if count > 1), None)
