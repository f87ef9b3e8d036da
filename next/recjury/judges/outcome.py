"""What became of a conversation: whether a target was recommended, and in which round."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

from recjury.judges.evaluator import Evaluator
from recjury.llm import Ask
from recjury.records import ConversationLog, Finding, Metric, Rating, Status


class Outcome(Evaluator):
    """`success` and `recall@k` are 1 or 0; `rounds_to_success` counts from 1.

    Recall is over the session's list (CoRE, 6.3 and 6.5), `last_recall@10` over the last turn's.
    """

    RENDERING: ClassVar[int] = 1

    kind: Literal["outcome"] = "outcome"

    @property
    def metrics(self) -> Sequence[Metric]:
        """Success first."""
        return [
            Metric(name="success", title="Found a target", high=1),
            Metric(
                name="rounds_to_success", title="Rounds to success", low=1, lower_is_better=True
            ),
            *(Metric(name=f"recall@{k}", title=f"Recall@{k}", high=1) for k in (1, 5, 10)),
            Metric(name="last_recall@10", title="Recall@10 of the last turn", high=1),
        ]

    async def rate(self, log: ConversationLog, ask: Ask) -> Sequence[Finding]:  # noqa: ARG002
        """Computed from lists and targets; without them, not applicable."""
        if not log.scenario.targets or not log.session_list:
            lacking = "target" if not log.scenario.targets else "list"
            return [self._lacks(metric, f"there is no {lacking}") for metric in self.metrics]
        return [*self._scores(log)]

    def _scores(self, log: ConversationLog) -> Iterator[Rating]:
        wanted = {target.id for target in log.scenario.targets}
        turns = [turn for turn in log.interaction if turn.speaker == "system"]
        hits = [
            number for number, turn in enumerate(turns, 1) if wanted & {i.id for i in turn.items}
        ]
        session = [item.id in wanted for item in log.session_list]
        last = [item.id in wanted for item in turns[-1].items]
        success, rounds, *recalls, last_recall = self.metrics
        yield self._scored(success, bool(hits))
        yield self._scored(rounds, hits[0]) if hits else self._lacks(rounds, "there is no success")
        for metric in recalls:
            yield self._scored(metric, any(session[: int(metric.name.partition("@")[2])]))
        yield self._scored(last_recall, any(last[:10]))

    def _scored(self, metric: Metric, score: float) -> Rating:
        return Rating(metric=metric.name, rater=self.kind, score=float(score))

    def _lacks(self, metric: Metric, reason: str) -> Rating:
        status = Status.NOT_APPLICABLE
        return Rating(metric=metric.name, rater=self.kind, status=status, reason=reason)
