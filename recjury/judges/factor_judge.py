"""One model as the judge of one factor at a time: reason first, then the rating (CoRE 4.1)."""

from collections.abc import Mapping

from recjury.judges.rubric import Rubric
from recjury.llm import Answer, Gateway, RatedText, ask, read_rating
from recjury.prompts import Pack
from recjury.records import (
    FACTOR_SCALE,
    JSON,
    ChatRequest,
    ConversationLog,
    Factor,
    Rating,
    Reply,
    Status,
)


class FactorJudge:
    """Rates factors of a log with one model; `model` is an alias of the gateway's."""

    def __init__(
        self, gateway: Gateway, model: str, pack: Pack | None = None, *, temperature: float = 0.0
    ):
        """Judge with `pack`'s guidelines, by default those that ship."""
        self._gateway = gateway
        self._rubric = Rubric(pack)
        self._temperature = temperature
        self.model = model

    @property
    def settings(self) -> Mapping[str, JSON]:
        """What can change its ratings: the model's alias, the rubric, the temperature."""
        return {
            "model": self.model,
            "rubric": self._rubric.identity,
            "temperature": self._temperature,
        }

    async def rate(self, log: ConversationLog, factor: Factor) -> Rating:
        """The rating of one factor; unscored, saying why, where there is none to be had.

        Raises EndpointRefused, which is about the endpoint and not about this log.
        """
        missing = self._rubric.lacks(factor, log)
        if missing:
            return self._unscored(factor, Status.NOT_APPLICABLE, missing)
        request = ChatRequest(
            model=self.model,
            messages=self._rubric.messages(factor, log),
            purpose=f"judge/{factor}",
            temperature=self._temperature,
        )
        return self._rating(factor, await ask(self._gateway, request, read_factor))

    def _rating(self, factor: Factor, answer: Answer[RatedText]) -> Rating:
        if answer.value is None:
            return self._unscored(factor, answer.status, answer.reason, answer.calls)
        return Rating(
            evaluator=self.model,
            factor=factor,
            score=answer.value.score,
            rationale=answer.value.rationale,
            rubric=self._rubric.identity,
            calls=answer.calls,
        )

    def _unscored(
        self, factor: Factor, status: Status, reason: str, calls: tuple[str, ...] = ()
    ) -> Rating:
        return Rating(
            evaluator=self.model,
            factor=factor,
            score=None,
            status=status,
            reason=reason,
            rubric=self._rubric.identity,
            calls=calls,
        )


def read_factor(reply: Reply) -> RatedText:
    """Score and reasons from a judge's reply; raises Unreadable for anything else."""
    return read_rating(reply, *FACTOR_SCALE)
