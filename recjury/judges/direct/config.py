"""The keys of LLM-Direct and LLM-CoT+ICL in a campaign file."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, field_validator

from recjury.judges.config import EvaluatorContext
from recjury.judges.face.aspects import aspect_metrics, each_once
from recjury.judges.one_model import OneModelConfig
from recjury.records import Aspect, ExpectedCalls, Level, Metric

if TYPE_CHECKING:
    from recjury.judges.direct.evaluator import SingleRequestEvaluator


class SingleRequestConfig(OneModelConfig):
    """One request for a turn or dialogue and aspect."""

    aspects: tuple[Aspect, ...] = Field(default=tuple(Aspect), min_length=1)
    temperature: float = Field(default=0.6, ge=0, le=2)

    with_reasons: ClassVar[bool] = False
    tokens: ClassVar[tuple[int, int]] = (800, 10)  # of a prompt and of a reply, on average

    @field_validator("aspects")
    @classmethod
    def _each_once(cls, aspects: tuple[Aspect, ...]) -> tuple[Aspect, ...]:
        return each_once(aspects)

    def expected(
        self,
        conversations: int,
        turns: int,
        *,
        models: bool,  # noqa: ARG002 (it always asks)
        attempts: int,
    ) -> Iterator[ExpectedCalls]:
        """One call for each aspect of a turn or dialogue."""
        of_turns = sum(aspect.level is Level.TURN for aspect in self.aspects)
        asked = turns * of_turns + conversations * (len(self.aspects) - of_turns)
        yield ExpectedCalls(self.model, self.kind, asked, attempts * asked, *self.tokens)

    def metrics(self, models: bool) -> tuple[Metric, ...]:  # noqa: ARG002 (always the same)
        """The chosen aspects."""
        return aspect_metrics(self.aspects)

    def build(self, context: EvaluatorContext) -> "SingleRequestEvaluator":
        """Build the evaluator."""
        from recjury.judges.direct.evaluator import SingleRequestEvaluator

        return SingleRequestEvaluator(
            context.model(self.model, self.label),
            self,
            models=context.reply_settings([self.model]),
        )


class DirectConfig(SingleRequestConfig):
    """LLM-Direct: the score at once, without reasons."""

    kind: Literal["llm-direct"] = "llm-direct"


class CotIclConfig(SingleRequestConfig):
    """LLM-CoT+ICL: reasons first, after two rated examples."""

    kind: Literal["llm-cot-icl"] = "llm-cot-icl"

    with_reasons: ClassVar[bool] = True
    tokens: ClassVar[tuple[int, int]] = (1_100, 250)
