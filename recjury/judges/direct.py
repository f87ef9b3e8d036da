"""LLM-Direct and LLM-CoT+ICL (FACE, section 4): one request rates a whole turn or dialogue.

Both use the same aspects and scales as FACE. The second shows two rated examples and asks for
reasons before the score.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from recjury.judges.aspects import aspect_metrics, each_once
from recjury.judges.evaluator import OneModelEvaluator
from recjury.judges.face.face_prompts import FacePrompts
from recjury.llm import PlannedCall, Prompt, Question, RatingTag, ask, gather
from recjury.records import (
    JSON,
    Aspect,
    ConversationLog,
    ConversationRecord,
    Level,
    Metric,
    RatingSubject,
    Stage,
    StageResult,
)


class SingleRequestEvaluator(OneModelEvaluator):
    """One request for each aspect of a turn or dialogue."""

    unidentified: ClassVar[Mapping[str, Any]] = {"aspects": True}
    with_reasons: ClassVar[bool] = False

    aspects: tuple[Aspect, ...] = Field(default=tuple(Aspect), min_length=1)
    temperature: float = Field(default=0.6, ge=0, le=2)

    @field_validator("aspects")
    @classmethod
    def _each_once(cls, aspects: tuple[Aspect, ...]) -> tuple[Aspect, ...]:
        return each_once(aspects)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The chosen aspects."""
        return aspect_metrics(self.aspects)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The aspects."""
        return tuple(Stage(name=aspect) for aspect in self.aspects)

    @property
    def sources(self) -> Mapping[str, JSON]:
        """The prompts."""
        return {"prompts": self._prompts.identity}

    def plan(self, log: ConversationLog) -> Iterator[PlannedCall]:
        """One call for each aspect of a turn or dialogue."""
        for aspect in self.aspects:
            for question in self._questions(aspect, log):
                yield question.planned()

    async def evaluate(
        self,
        stage: str,
        record: ConversationRecord,
        done: Mapping[str, StageResult],  # noqa: ARG002 (no aspect needs another)
    ) -> StageResult:
        """The ratings of the aspect called `stage`: of each turn, or of the dialogue."""
        questions = self._questions(Aspect(stage), record.log)
        answers = await gather(ask(self._gateway, question) for question in questions)
        return StageResult(tuple(answer.rating for answer in answers))

    def _questions(self, aspect: Aspect, log: ConversationLog) -> Iterator[Question]:
        turns = log.system_turn_indices if aspect.level is Level.TURN else (None,)
        for turn in turns:
            messages = self._prompts.direct(aspect, log, turn, with_reasons=self.with_reasons)
            yield Question(
                subject=RatingSubject(
                    evaluator=f"{self.kind}/{self.model}",
                    factor=aspect,
                    low=aspect.low,
                    high=aspect.high,
                    rubric=self._prompts.identity,
                    turn=turn,
                ),
                model=self.model,
                prompts=(Prompt(messages),),
                purpose=f"{self.kind}/{aspect}",
                form=RatingTag() if self.with_reasons else RatingTag(reasons=0, typical=10),
                temperature=self.temperature,
            )

    @cached_property
    def _prompts(self) -> FacePrompts:
        return FacePrompts()


class DirectEvaluator(SingleRequestEvaluator):
    """LLM-Direct: the score at once, without reasons."""

    kind: Literal["llm-direct"] = "llm-direct"


class CotIclEvaluator(SingleRequestEvaluator):
    """LLM-CoT+ICL: reasons first, after two rated examples."""

    with_reasons: ClassVar[bool] = True

    kind: Literal["llm-cot-icl"] = "llm-cot-icl"
