"""LLM-Direct and LLM-CoT+ICL (FACE, section 4): one request rates a whole turn or dialogue.

Both use the same aspects and scales as FACE. The second shows two rated examples and asks for
reasons before the score.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import ClassVar, Literal

from pydantic import Field

from recjury.judges.aspects import AspectEvaluator, aspect_subject
from recjury.judges.face.face_prompts import FacePrompts
from recjury.judges.levels import rated_turns
from recjury.llm import PlannedCall, Prompt, Question, RatingTag, ask_each
from recjury.records import JSON, Aspect, ConversationLog, ConversationRecord, StageResult


class SingleRequestEvaluator(AspectEvaluator):
    """One request for each aspect of a turn or dialogue."""

    with_reasons: ClassVar[bool] = False

    temperature: float = Field(default=0.6, ge=0, le=2)

    @property
    def sources(self) -> Mapping[str, JSON]:
        """The prompts."""
        return {"prompts": self._prompts.identity}

    def plan(self, log: ConversationLog) -> Iterator[PlannedCall]:
        """One call for each aspect of a turn or dialogue."""
        for aspect in self.aspects:
            for question in self._questions(aspect, log):
                yield question.planned(self.kind)

    async def evaluate(
        self,
        stage: str,
        record: ConversationRecord,
        done: Mapping[str, StageResult],  # noqa: ARG002 (no aspect needs another)
    ) -> StageResult:
        """The ratings of the aspect called `stage`: of each turn, or of the dialogue."""
        questions = self._questions(Aspect(stage), record.log)
        return StageResult(await ask_each(self._gateway, questions))

    def _questions(self, aspect: Aspect, log: ConversationLog) -> Iterator[Question]:
        for turn in rated_turns(aspect.level, log):
            messages = self._prompts.direct(aspect, log, turn, with_reasons=self.with_reasons)
            yield Question(
                subject=aspect_subject(
                    aspect,
                    evaluator=f"{self.kind}/{self.model}",
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
