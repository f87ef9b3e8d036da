"""G-Eval: a model writes its own steps, and its score is weighed by probabilities (Liu et al. 2023,
section 2; compared with FACE in FACE, section 4).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import Field

from recjury.judges.aspects import Aspects
from recjury.judges.criterion import Criterion
from recjury.judges.subjects import Subject, subjects
from recjury.llm import Answer, Ask, Score, gather
from recjury.llm.prompts import fence
from recjury.records import ConversationLog, Finding, Message, Rating, Status


class GEval(Aspects):
    """The score is the sum of p(s) * s over the scores s of the scale.

    The probabilities are those of the endpoint; where it sends none, or without `logprobs`, they
    are the shares of `samples` replies at `temperature`.
    """

    RENDERING: ClassVar[int] = 1

    kind: Literal["g-eval"] = "g-eval"
    logprobs: bool = True
    samples: int = Field(default=20, ge=1, le=100)
    temperature: float = Field(default=1.0, ge=0, le=2)

    async def rate(self, log: ConversationLog, ask: Ask) -> Sequence[Finding]:
        """A rating of each aspect, of the log or of each turn. Raises Stop."""
        ratings = await gather(self._ratings(criterion, log, ask) for criterion in self.criteria)
        return [rating for of_aspect in ratings for rating in of_aspect]

    async def _ratings(
        self, criterion: Criterion, log: ConversationLog, ask: Ask
    ) -> Sequence[Rating]:
        """The steps do not depend on the log: one call writes them for all logs."""
        asked = self.pack.render("steps", guide=criterion, turn=criterion.level == "turn")
        written = await ask.text([Message("user", asked)], model=self.model, purpose="judge")
        return await gather(
            self._rating(criterion, subject, written, ask)
            for subject in subjects(log, criterion.level)
        )

    async def _rating(
        self, criterion: Criterion, subject: Subject, written: Answer[str], ask: Ask
    ) -> Rating:
        metric = criterion.metric.name
        if subject.lacks:
            return subject.not_applicable(metric, self.model, subject.lacks)
        if written.value is None:
            without: Answer[Score] = Answer(
                None, written.status, f"no steps: {written.reason}", written.calls
            )
            return subject.rating(metric, self.model, without)
        prompt = self.prompt("form", criterion, subject, steps=fence(written.value.strip()))
        said = await self._weighed(prompt, criterion.scale, ask)
        said = replace(said, calls=(*written.calls, *said.calls))
        return subject.rating(metric, self.model, said)

    async def _weighed(
        self, prompt: Sequence[Message], scale: tuple[int, int], ask: Ask
    ) -> Answer[Score]:
        if self.logprobs:
            said = await ask.rating(prompt, scale, model=self.model, purpose="choice", odds=True)
            if said.status is not Status.NOT_APPLICABLE:
                return said
        return await ask.rating(
            prompt,
            scale,
            model=self.model,
            purpose="choice",
            samples=self.samples,
            temperature=self.temperature,
        )
