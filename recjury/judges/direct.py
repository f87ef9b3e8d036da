"""LLM-Direct and LLM-CoT+ICL: one request rates a turn or a dialogue (FACE, section 4)."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from recjury.judges.aspects import Aspects
from recjury.judges.criterion import Criterion
from recjury.judges.subjects import Subject, subjects
from recjury.llm import Ask, gather
from recjury.records import ConversationLog, Finding, Rating


class Direct(Aspects):
    """Asks for the score at once. With two `examples` and `reasons`, it is LLM-CoT+ICL.

    The examples are rated ones that the prompt shows, `reasons` are given before the score.
    """

    RENDERING: ClassVar[int] = 1

    kind: Literal["direct"] = "direct"
    examples: int = Field(default=0, ge=0, le=2)
    reasons: bool = False

    async def rate(self, log: ConversationLog, ask: Ask) -> Sequence[Finding]:
        """A rating of each aspect, of the log or of each turn. Raises Stop."""
        return await gather(
            self._rating(criterion, subject, ask)
            for criterion in self.criteria
            for subject in subjects(log, criterion.level)
        )

    async def _rating(self, criterion: Criterion, subject: Subject, ask: Ask) -> Rating:
        metric = criterion.metric.name
        if subject.lacks:
            return subject.not_applicable(metric, self.model, subject.lacks)
        said = await ask.rating(
            self.prompt("direct", criterion, subject, number=self.examples, reasons=self.reasons),
            criterion.scale,
            model=self.model,
            purpose="judge" if self.reasons else "choice",
            temperature=self.temperature,
        )
        return subject.rating(metric, self.model, said)
