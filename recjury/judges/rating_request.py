"""Ask a model for a rating: it has a score from the reply, or the reason why there is none."""

from dataclasses import dataclass, replace

from recjury.llm import RatedText, SupportsComplete, ask, parse_rating
from recjury.prompts import code_of
from recjury.records import ChatRequest, Rating, RatingForm, Reply, Status


@dataclass(frozen=True, slots=True)
class RatingRequest:
    """What is rated, by which model (its alias), under which rubric, on which scale."""

    factor: str
    model: str
    rubric: str
    low: int
    high: int

    async def rate(self, gateway: SupportsComplete, request: ChatRequest) -> Rating:
        """The rating in the reply to `request`. Raises ProviderError."""

        code = code_of(request.messages)

        def read(reply: Reply) -> RatedText:
            return parse_rating(reply, self.low, self.high, code=code)

        form = RatingForm(code, self.low, self.high)
        answer = await ask(gateway, replace(request, form=form), read)
        value = answer.value
        if value is None:
            return self.unscored(answer.status, answer.reason, answer.calls)
        return Rating(
            evaluator=self.model,
            factor=self.factor,
            score=value.score,
            rationale=value.rationale,
            low=self.low,
            high=self.high,
            rubric=self.rubric,
            calls=answer.calls,
            repaired=value.repaired,
        )

    def unscored(self, status: Status, reason: str, calls: tuple[str, ...] = ()) -> Rating:
        """A rating without a score."""
        return Rating(
            evaluator=self.model,
            factor=self.factor,
            score=None,
            status=status,
            reason=reason,
            low=self.low,
            high=self.high,
            rubric=self.rubric,
            calls=calls,
        )
