"""The ratings of an own evaluator, compared with the metrics that it declares."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import inf

from recjury.errors import UnitFailed
from recjury.plugins import exception_message
from recjury.records import ConversationLog, Evidence, Level, Metric, Rating, metric_id


class RatingCheck:
    """Checks the ratings of one log.

    A rating cannot be used if its metric is not declared, if it is outside the metric's scale, or
    if it is missing.
    """

    def __init__(self, name: str, metrics: Sequence[Metric], log: ConversationLog):
        """`name` is the evaluator's, for messages; `metrics` are those that it declares."""
        self._name, self._metrics, self._log = name, metrics, log

    def checked(self, given: Sequence[object], wanted: Sequence[Metric]) -> list[Rating]:
        """The ratings of `wanted` metrics. Raises UnitFailed if one cannot be used."""
        declared = {metric.id: metric for metric in self._metrics}
        ids = {metric.id for metric in wanted}
        usable = [self._usable(each, declared, self._log) for each in given]
        ratings = [rating for rating in usable if metric_id(rating.factor) in ids]
        self._complete(ratings, wanted, self._log)
        return ratings

    def checked_evidence(self, given: Sequence[Evidence]) -> tuple[Evidence, ...]:
        """The evidence. Raises UnitFailed if it is not for a declared metric, or not in the log."""
        declared = {metric.id for metric in self._metrics}
        turns = self._log.interaction
        for each in given:
            if metric_id(each.factor) not in declared:
                raise UnitFailed(
                    f"{self._name}: evidence for {each.factor!r:.80}, which it did not declare"
                )
            if each.turn is not None and not 0 <= each.turn < len(turns):
                raise UnitFailed(f"{self._name}: evidence in turn {each.turn}, which is not there")
            if each.turn is not None and (each.span_end or 0) > len(turns[each.turn].text):
                raise UnitFailed(f"{self._name}: evidence that ends after turn {each.turn} ends")
        return tuple(given)

    def _usable(
        self, given: object, declared: Mapping[str, Metric], log: ConversationLog
    ) -> Rating:
        """A rating of a declared metric, on its scale and level."""
        if not isinstance(given, Rating):
            raise UnitFailed(f"{self._name}: expected a Rating, got {type(given).__name__}")
        try:  # pydantic can make a model without validation
            rating = Rating.model_validate(given.model_dump(warnings=False))
            rating.model_dump_json().encode()
        except ValueError as error:
            problem = exception_message(error)
            raise UnitFailed(f"{self._name}: a rating cannot be used: {problem}") from None
        metric = declared.get(metric_id(rating.factor))
        if metric is None:
            known = ", ".join(declared)
            raise UnitFailed(
                f"{self._name} rated {rating.factor!r:.80}, which it did not declare "
                f"(it has: {known})"
            )
        high = inf if metric.high is None else metric.high
        if rating.score is not None and not metric.low <= rating.score <= high:
            raise UnitFailed(
                f"{self._name}: {metric.id} is {rating.score:g}, outside its scale "
                f"{metric.low:g} to {high:g}"
            )
        self._placed(rating, metric, log)
        return rating.model_copy(update={"low": metric.low, "high": metric.high, "calls": ()})

    def _placed(self, rating: Rating, metric: Metric, log: ConversationLog) -> None:
        """Raise UnitFailed if a rating has another level than its metric, or no valid turn."""
        if rating.level is not metric.level:
            raise UnitFailed(
                f"{self._name}: {metric.id} is declared for a {metric.level}, and a rating of it "
                f"is for a {rating.level}"
            )
        is_turn = metric.level is Level.TURN
        if is_turn != (rating.turn is not None):
            much = "names no turn" if is_turn else "names a turn"
            raise UnitFailed(f"{self._name}: a rating of {metric.id} {much}")
        if rating.turn is not None and rating.turn not in log.system_turn_indices:
            raise UnitFailed(
                f"{self._name}: {metric.id} is rated for turn {rating.turn}, which is not a "
                "system turn"
            )

    def _complete(
        self, ratings: Sequence[Rating], wanted: Sequence[Metric], log: ConversationLog
    ) -> None:
        """Raise UnitFailed if a place was rated twice, or if a metric has no rating."""
        places = Counter((rating.evaluator, rating.factor, rating.turn) for rating in ratings)
        for (_, factor, _), times in places.items():
            if times > 1:
                raise UnitFailed(f"{self._name} rated {factor!r} twice")
        rated = {metric_id(rating.factor) for rating in ratings}
        for metric in wanted:
            is_due = metric.level is Level.DIALOGUE or log.system_turn_indices
            if is_due and metric.id not in rated:
                raise UnitFailed(f"{self._name} gave no rating of {metric.id}")
