"""An own rubric as an evaluator: a model judges each criterion as it judges the twelve factors."""

from collections.abc import Mapping, Sequence

from recjury.judges.guideline import JudgePrompts, lacks
from recjury.judges.rating_request import RatingRequest
from recjury.judges.rubric.criteria import Criterion
from recjury.llm import SupportsComplete, gather
from recjury.records import (
    JSON,
    ChatRequest,
    ConversationLog,
    ConversationRecord,
    Rating,
    Stage,
    StageResult,
    Status,
    digest,
)

_DIGITS = 16


class RubricEvaluator:
    """One request for each criterion; `model` is the alias of a model."""

    kind = "rubric"
    stages = (Stage(name="rate"),)
    open_at_once: int | None = None

    def __init__(
        self,
        gateway: SupportsComplete,
        model: str,
        criteria: Sequence[Criterion],
        *,
        prompts: JudgePrompts | None = None,
        temperature: float = 0.0,
        name: str = "rubric",
        models: Mapping[str, JSON] | None = None,
    ):
        """Judge `criteria`; `models` has, by alias, the model settings that can change a reply."""
        self._gateway = gateway
        self._model = model
        self._criteria = tuple(criteria)
        self._temperature = temperature
        self._models = dict(models or {})
        self._prompts = prompts or JudgePrompts()
        self._content = digest(self._criteria)[:_DIGITS]
        self.name = name
        self.metrics = tuple(criterion.metric for criterion in criteria)

    @property
    def data(self) -> Mapping[str, JSON]:
        """What of the corpus the prompts show besides the log."""
        return self._prompts.data

    @property
    def settings(self) -> Mapping[str, JSON]:
        """The model, the content of the file, and the prompts."""
        return {
            "model": self._model,
            "rubric": self._content,
            "prompts": self._prompts.identity,
            "temperature": self._temperature,
            "models": self._models,
        }

    async def evaluate(
        self,
        stage: str,  # noqa: ARG002 (there is one)
        record: ConversationRecord,
        done: Mapping[str, StageResult],  # noqa: ARG002 (there is nothing before)
    ) -> StageResult:
        """The ratings, in the order of the file."""
        ratings = await gather(self._rate(record.log, each) for each in self._criteria)
        return StageResult(tuple(ratings))

    async def _rate(self, log: ConversationLog, criterion: Criterion) -> Rating:
        low, high = criterion.scale
        rating = RatingRequest(criterion.name, self._model, f"rubric/{self._content}", low, high)
        missing = lacks(criterion, log)
        if missing:
            return rating.unscored(Status.NOT_APPLICABLE, missing)
        request = ChatRequest(
            model=self._model,
            messages=self._prompts.messages(criterion.name, criterion, log, criterion.scale),
            purpose=f"rubric/{criterion.name}",
            temperature=self._temperature,
        )
        return await rating.rate(self._gateway, request)
