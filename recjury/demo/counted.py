"""`counted`: CoRE's factors without a model, as far as they can be counted, and their debate."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from recjury.demo.counts import COUNTS, ENGLISH, Count
from recjury.demo.talk import Talk
from recjury.judges import Criterion, Evaluator, criteria_of
from recjury.judges.evaluator import computed, not_applicable, rating_of
from recjury.llm import Ask
from recjury.llm.prompts import pack
from recjury.records import (
    ConversationLog,
    Debate,
    Finding,
    Metric,
    Rating,
    Statement,
)


class Counted(Evaluator):
    """Counts what can be counted of the twelve factors, from 0 to 4, and settles on a verdict.

    The verdict is that of roles that begin with the means of their counts and move halfway to the
    mean of all in each round. It is a stand-in, and no judgement of what was said.
    """

    RENDERING: ClassVar[int] = 3

    kind: Literal["counted"] = "counted"
    max_rounds: int = Field(default=4, ge=1, le=8)

    @property
    def metrics(self) -> Sequence[Metric]:
        """The twelve factors, and `overall`."""
        factors = [criterion.metric for criterion in _factors()]
        return [*factors, Metric(name="overall", title="Overall", high=100)]

    async def rate(self, log: ConversationLog, ask: Ask) -> Sequence[Finding]:  # noqa: ARG002
        """All counts and the debate over them; nothing is asked."""
        talk = Talk(log, self.catalogue(log.scenario))
        ratings = [_rating(criterion, talk) for criterion in _factors()]
        return [*ratings, await self.debated(ratings)]

    async def debated(
        self, ratings: Sequence[Rating], opening: Sequence[Statement] = (), *, max_rounds: int = 0
    ) -> Debate:
        """The debate over counts, after `opening`; `max_rounds` in place of the evaluator's."""
        from recjury.demo.debate import counted_debate

        return await counted_debate(ratings, opening, max_rounds=max_rounds or self.max_rounds)


def _factors() -> tuple[Criterion, ...]:
    return criteria_of(pack("judges/core"))


def _rating(criterion: Criterion, talk: Talk) -> Rating:
    metric = criterion.metric.name
    score, note = _count(criterion, metric, talk)
    answer = not_applicable(note) if score is None else computed(score, note)
    return rating_of(metric, "counted", answer)


def _count(criterion: Criterion, metric: str, talk: Talk) -> Count:
    """The count, or why there is none."""
    if metric not in COUNTS:
        return Count(None, "it cannot be counted: a model judges it")
    if missing := criterion.lacks(talk.log):
        return Count(None, missing)
    if metric in ENGLISH and not talk.is_english:
        return Count(
            None,
            "it is counted by English words, and the system does not show that it speaks English",
        )
    return COUNTS[metric](talk)
