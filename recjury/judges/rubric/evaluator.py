"""An own rubric as an evaluator: a model judges each criterion as it judges the twelve factors."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from recjury.judges.evaluator import LANGUAGE, OneModelEvaluator
from recjury.judges.guideline import JudgePrompts, lacks
from recjury.judges.rubric.criteria import Criterion, read_criteria
from recjury.llm import PlannedCall, Prompt, Question, ask, gather
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

    unidentified: ClassVar[Mapping[str, Any]] = {"file": True}

    kind: Literal["rubric"] = "rubric"
    file: str = Field(min_length=1)
    temperature: float = Field(default=0.0, ge=0, le=2)
    language: str = Field(default="", pattern=LANGUAGE)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The criteria in the order of the file. Raises ConfigError if one cannot be used."""
        return tuple(criterion.metric for criterion in self._criteria)

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
        for criterion in self._criteria:
            if not lacks(criterion, log):
                yield self._question(log, criterion).planned()

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
        if missing := lacks(criterion, log):
            return self._subject(criterion).unscored(Status.NOT_APPLICABLE, missing)
        return (await ask(self._gateway, self._question(log, criterion))).rating

    def _question(self, log: ConversationLog, criterion: Criterion) -> Question:
        messages = self._prompts.messages(criterion.name, criterion, log, criterion.scale)
        return Question(
            subject=self._subject(criterion),
            model=self.model,
            prompts=(Prompt(messages),),
            purpose=f"rubric/{criterion.name}",
            temperature=self.temperature,
        )

    def _subject(self, criterion: Criterion) -> RatingSubject:
        low, high = criterion.scale
        return RatingSubject(
            evaluator=self.model,
            factor=criterion.name,
            low=low,
            high=high,
            rubric=f"rubric/{self._content}",
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
