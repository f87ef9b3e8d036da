"""One model that judges one factor at a time: first the reason, then the rating (CoRE, 4.1)."""

from collections.abc import Mapping

from recjury.judges.core.rubric import Rubric
from recjury.judges.rating_request import RatingRequest
from recjury.llm import Gateway
from recjury.records import (
    FACTOR_SCALE,
    JSON,
    ChatRequest,
    ConversationLog,
    Factor,
    Rating,
    Status,
)


class FactorJudge:
    """Rates factors of a log with one model; `model` is the alias of a model."""

    def __init__(
        self,
        gateway: Gateway,
        model: str,
        rubric: Rubric | None = None,
        *,
        temperature: float = 0.0,
    ):
        """Judge by `rubric`, by default the package's own."""
        self._gateway = gateway
        self._rubric = rubric or Rubric()
        self._temperature = temperature
        self.model = model

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Everything that can change its ratings: the model's alias, the rubric, the
        temperature."""
        return {
            "model": self.model,
            "rubric": self._rubric.identity,
            "temperature": self._temperature,
        }

    async def rate(self, log: ConversationLog, factor: Factor) -> Rating:
        """The rating of one factor. If it cannot be rated, it has no score but a reason.

        Raises ProviderError if the endpoint fails in a way that is not specific to this log.
        """
        low, high = FACTOR_SCALE
        rating = RatingRequest(factor, self.model, self._rubric.identity, low, high)
        missing = self._rubric.lacks(factor, log)
        if missing:
            return rating.unscored(Status.NOT_APPLICABLE, missing)
        request = ChatRequest(
            model=self.model,
            messages=self._rubric.messages(factor, log),
            purpose=f"judge/{factor}",
            temperature=self._temperature,
        )
        return await rating.rate(self._gateway, request)
