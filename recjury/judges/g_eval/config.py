"""The keys of G-Eval in a campaign file."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, field_validator, model_validator

from recjury.judges.config import EvaluatorContext
from recjury.judges.face.aspects import aspect_metrics, each_once
from recjury.judges.one_model import OneModelConfig
from recjury.records import Aspect, ExpectedCalls, Level, Metric

if TYPE_CHECKING:
    from recjury.judges.g_eval.evaluator import GEvaluator
    from recjury.llm import CallUse

_STEPS = (250, 150)  # tokens of a prompt and of a reply, on average
_PROMPT = 900
_REPLY = {"logprobs": 1, "samples": 10}


class GEvalConfig(OneModelConfig):
    """G-Eval: the model writes its evaluation steps once, and fills in a form (Liu et al. 2023).

    A score is weighed by the probabilities of all scores: `method: logprobs` reads them, and needs
    an endpoint that sends log-probabilities; `samples` estimates them from so many replies drawn at
    `temperature`, all in one request if `together`.
    """

    kind: Literal["g-eval"] = "g-eval"
    aspects: tuple[Aspect, ...] = Field(default=tuple(Aspect), min_length=1)
    method: Literal["logprobs", "samples"] = "logprobs"
    samples: int = Field(default=20, ge=1, le=100, strict=True)
    temperature: float = Field(default=1.0, ge=0, le=2)
    together: bool = True

    @field_validator("aspects")
    @classmethod
    def _each_once(cls, aspects: tuple[Aspect, ...]) -> tuple[Aspect, ...]:
        return each_once(aspects)

    @model_validator(mode="after")
    def _only_what_is_used(self) -> Self:
        drawn = {"samples", "temperature", "together"} & self.model_fields_set
        if self.method == "logprobs" and drawn:
            raise ValueError(f"`method: logprobs` draws no samples: leave out `{min(drawn)}`")
        return self

    def expected(
        self,
        conversations: int,
        turns: int,
        *,
        models: bool,  # noqa: ARG002 (it always asks)
        attempts: int,
    ) -> Iterator[ExpectedCalls]:
        """A call for the steps of each aspect, and one form for each turn or dialogue."""
        written = len(self.aspects)
        yield ExpectedCalls(self.model, "g-eval/steps", written, attempts * written, *_STEPS)
        of_turns = sum(aspect.level is Level.TURN for aspect in self.aspects)
        forms = turns * of_turns + conversations * (written - of_turns)
        drawn = self.samples if self.method == "samples" else 1
        requests = forms if self.together else forms * drawn
        reply = _REPLY[self.method] * (drawn if self.together else 1)
        most = requests + (attempts - 1) * forms * drawn
        yield ExpectedCalls(self.model, "g-eval/form", requests, most, _PROMPT, reply)

    def call_uses(self) -> "Iterator[tuple[str, CallUse]]":
        """Log-probabilities, or several replies to one request."""
        if self.method == "logprobs":
            yield self.model, "logprobs"
        elif self.together and self.samples > 1:
            yield self.model, "n"

    def metrics(self, models: bool) -> tuple[Metric, ...]:  # noqa: ARG002 (always the same)
        """The chosen aspects."""
        return aspect_metrics(self.aspects, logprobs=self.method == "logprobs")

    def build(self, context: EvaluatorContext) -> "GEvaluator":
        """Build the evaluator."""
        from recjury.judges.g_eval.evaluator import GEvaluator

        return GEvaluator(
            context.model(self.model, self.label),
            self,
            models=context.reply_settings([self.model]),
        )
