"""An own rubric as an evaluator: a model judges each criterion as it judges the twelve factors."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from recjury.judges.evaluator import LANGUAGE, OneModelEvaluator
from recjury.judges.guideline import JudgePrompts, lacks
from recjury.judges.rubric.criteria import Criterion, read_criteria
from recjury.llm import PlannedCall, Prompt, Question, ask_each
from recjury.records import (
    JSON,
    ConversationLog,
    ConversationRecord,
    Metric,
    Rating,
    RatingSubject,
    StageResult,
    Status,
    digest,
)

_DIGITS = 16


class RubricEvaluator(OneModelEvaluator):
    """Your own criteria: `file` is YAML that defines them, `model` the alias of the judge.

    `language` ("English") is the one that the judge writes in, by default that of the conversation.
    """

    kind: Literal["rubric"] = "rubric"
    file: str = Field(min_length=1)
    temperature: float = Field(default=0.0, ge=0, le=2)
    language: str = Field(default="", pattern=LANGUAGE)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The criteria in the order of the file. Raises ConfigError if one cannot be used."""
        return tuple(criterion.metric for criterion in self._criteria)

    @property
    def without_effect(self) -> Mapping[str, Any]:
        """The file's name."""
        return {"file": True}

    @property
    def sources(self) -> Mapping[str, JSON]:
        """The content of the file, and the prompts."""
        return {"rubric": self._content, "prompts": self._prompts.identity}

    @property
    def data(self) -> Mapping[str, JSON]:
        """What of the corpus the prompts show besides the log."""
        return self._prompts.data

    def plan(self, log: ConversationLog) -> Iterator[PlannedCall]:
        """One call for each criterion."""
        for question in self._questions(log):
            if isinstance(question, Question):
                yield question.planned(self.kind)

    async def evaluate(
        self,
        stage: str,  # noqa: ARG002 (there is one)
        record: ConversationRecord,
        done: Mapping[str, StageResult],  # noqa: ARG002 (there is nothing before)
    ) -> StageResult:
        """The ratings, in the order of the file."""
        return StageResult(await ask_each(self._gateway, self._questions(record.log)))

    def _questions(self, log: ConversationLog) -> Iterator[Question | Rating]:
        """In the order of the file; a rating without a score if the log lacks what it needs."""
        for criterion in self._criteria:
            low, high = criterion.scale
            subject = RatingSubject(
                evaluator=self.model,
                factor=criterion.name,
                low=low,
                high=high,
                rubric=f"rubric/{self._content}",
            )
            if missing := lacks(criterion, log):
                yield subject.unscored(Status.NOT_APPLICABLE, missing)
                continue
            messages = self._prompts.messages(criterion.name, criterion, log, criterion.scale)
            yield Question(
                subject=subject,
                model=self.model,
                prompts=(Prompt(messages),),
                purpose=f"rubric/{criterion.name}",
                temperature=self.temperature,
            )

    def _prepare(self) -> None:
        """Raise ConfigError for a file that cannot be used."""
        _ = self._criteria

    @cached_property
    def _criteria(self) -> tuple[Criterion, ...]:
        return read_criteria(Path(self.file))

    @cached_property
    def _content(self) -> str:
        return digest(self._criteria)[:_DIGITS]

    @cached_property
    def _prompts(self) -> JudgePrompts:
        return JudgePrompts(facts=self._context.facts, language=self.language)
