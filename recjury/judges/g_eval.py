"""G-Eval: a model writes its own steps, and its score is weighed by probabilities (Liu et al. 2023,
section 2; compared with FACE in FACE, section 4).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field

from recjury.judges.aspects import Aspects
from recjury.judges.criterion import Criterion
from recjury.judges.subjects import Subject
from recjury.llm import Answer, Ask, Score
from recjury.llm.prompts import fence
from recjury.records import Message, Status


class GEval(Aspects):
    """The score is the sum of p(s) * s over the scores s of the scale.

    The probabilities are those of the endpoint; where it sends none, or without `logprobs`, they
    are the shares of `samples` replies at `temperature`.
    """

    kind: Literal["g-eval"] = "g-eval"
    logprobs: bool = True
    samples: int = Field(default=20, ge=1, le=100)
    temperature: float = Field(default=1.0, ge=0, le=2)

    async def answer(
        self, criterion: Criterion, subject: Subject, model: str, ask: Ask
    ) -> Answer[Score]:
        """The weighed score, under steps which one call writes for all logs. Raises Stop."""
        asked = self.pack.render("steps", guide=criterion, turn=criterion.level == "turn")
        written = await ask.text([Message("user", asked)], model=model, purpose="judge")
        if written.value is None:
            return Answer(None, written.status, f"no steps: {written.reason}", written.calls)
        steps = fence(written.value.strip())
        prompt = self.rendered("form", criterion, subject, steps=steps)
        said = await self._weighed(prompt, criterion.scale, ask)
        return replace(said, calls=(*written.calls, *said.calls))

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
