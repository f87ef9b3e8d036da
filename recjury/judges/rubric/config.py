"""The keys of an own rubric in a campaign file."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from recjury.judges.config import LANGUAGE, EvaluatorContext
from recjury.judges.one_model import OneModelConfig
from recjury.judges.rubric.criteria import read_criteria
from recjury.records import ExpectedCalls, Metric

if TYPE_CHECKING:
    from recjury.judges.rubric.evaluator import RubricEvaluator

_JUDGING = (2_000, 250)  # tokens of a prompt and of a reply, on average


class RubricConfig(OneModelConfig):
    """Your own criteria: `file` is YAML that defines them, `model` the alias of the judge.

    `language` ("English") is the one that the judge writes in, by default that of the conversation.
    """

    kind: Literal["rubric"] = "rubric"
    file: str = Field(min_length=1)
    temperature: float = Field(default=0.0, ge=0, le=2)
    language: str = Field(default="", pattern=LANGUAGE)

    def expected(
        self,
        conversations: int,
        turns: int,  # noqa: ARG002 (a call for a log, however long)
        *,
        models: bool,  # noqa: ARG002 (it always asks)
        attempts: int,
    ) -> Iterator[ExpectedCalls]:
        """One call for each criterion and conversation."""
        asked = len(read_criteria(Path(self.file))) * conversations
        yield ExpectedCalls(self.model, "rubric", asked, attempts * asked, *_JUDGING)

    def metrics(self, models: bool) -> tuple[Metric, ...]:  # noqa: ARG002 (always the same)
        """The criteria in the order of the file. Raises ConfigError if one cannot be used."""
        return tuple(criterion.metric for criterion in read_criteria(Path(self.file)))

    def build(self, context: EvaluatorContext) -> "RubricEvaluator":
        """Build the evaluator. Raises ConfigError also for a file that cannot be used."""
        from recjury.judges.guideline import JudgePrompts
        from recjury.judges.rubric.evaluator import RubricEvaluator

        return RubricEvaluator(
            context.model(self.model, self.label),
            self.model,
            read_criteria(Path(self.file)),
            prompts=JudgePrompts(facts=context.facts, language=self.language),
            temperature=self.temperature,
            name=self.label,
            models=context.reply_settings([self.model]),
        )
