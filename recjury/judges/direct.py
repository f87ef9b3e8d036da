"""LLM-Direct and LLM-CoT+ICL: one request rates a turn or a dialogue (FACE, section 4)."""

from typing import Literal

from pydantic import Field

from recjury.judges.aspects import Aspects
from recjury.judges.criterion import Criterion
from recjury.judges.subjects import Subject
from recjury.records import Message


class Direct(Aspects):
    """Asks for the score at once. With two `examples` and `reasons`, it is LLM-CoT+ICL.

    The examples are rated ones that the prompt shows, `reasons` are given before the score.
    """

    kind: Literal["direct"] = "direct"
    examples: int = Field(default=0, ge=0, le=2)
    reasons: bool = False

    def prompt(self, criterion: Criterion, subject: Subject) -> list[Message]:
        """The aspect, the examples, and what is rated."""
        return self.rendered(
            "direct", criterion, subject, number=self.examples, reasons=self.reasons
        )

    @property
    def purpose(self) -> str:
        """Without reasons, a reply needs a few tokens only."""
        return "judge" if self.reasons else "choice"
