"""FACE's seven aspects of turns and dialogues (section 3.1), and two methods beside FACE.

LLM-Direct and LLM-CoT+ICL rate with one request (section 4). G-Eval (Liu et al. 2023, section 2)
writes its own steps, and weighs scores by probabilities.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import Field, model_validator

from recjury.files import nearest
from recjury.judges.criterion import CriteriaEvaluator, Criterion, criteria_of
from recjury.judges.subjects import Subject
from recjury.llm import Answer, Ask, Score
from recjury.llm.prompts import Pack, fence, pack
from recjury.records import Message, Metric, ModelName, PackName, Status


class Aspects(CriteriaEvaluator):
    """Rates the `aspects` with one model, by default all seven.

    The aspects of the pack `prompts` are those that can be rated.
    """

    model: ModelName = "main"
    prompts: PackName = "judges/face"
    aspects: tuple[str, ...] = ()
    temperature: float = Field(default=0.6, ge=0, le=2)

    @model_validator(mode="after")
    def _aspects_are_known(self) -> "Aspects":
        known = [each.metric.name for each in criteria_of(self.pack)]
        for aspect in self.aspects:
            if aspect not in known:
                near = nearest(aspect, known)
                raise ValueError(f"there is no aspect {aspect!r}{near}: {', '.join(known)}")
        return self

    @property
    def pack(self) -> Pack:
        """The prompts."""
        return pack(self.prompts)

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The aspects that are rated."""
        known = criteria_of(self.pack)
        return tuple(c for c in known if not self.aspects or c.metric.name in self.aspects)

    @property
    def metrics(self) -> Sequence[Metric]:
        """One for each aspect, of turns or of dialogues."""
        return [criterion.metric for criterion in self.criteria]

    def raters(self) -> Iterable[tuple[Criterion, str]]:
        """Each aspect with the model."""
        return ((criterion, self.model) for criterion in self.criteria)

    def lacks(self, criterion: Criterion, subject: Subject) -> str:  # noqa: ARG002
        """Why nobody can rate it, or nothing: the prompts show no lists."""
        return subject.lacks

    def rendered(
        self, template: str, criterion: Criterion, subject: Subject, **values: Any
    ) -> list[Message]:
        """The prompt for a criterion of a turn or a log."""
        low, high = criterion.scale
        asked = self.pack.render(
            template,
            manifest=self.pack.manifest,
            guide=criterion,
            level=str(criterion.level),
            low=low,
            high=high,
            **subject.blocks,
            **values,
        )
        return [Message("system", self.pack.render("system")), Message("user", asked)]


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
