"""The keys of FACE in a campaign file."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, field_validator, model_validator

from recjury.judges.config import EvaluatorContext
from recjury.judges.face.aspects import aspect_metrics, each_once
from recjury.judges.one_model import OneModelConfig
from recjury.records import Aspect, ExpectedCalls, Metric

if TYPE_CHECKING:
    from recjury.judges.face.decomposer import Decomposer
    from recjury.judges.face.evaluator import FaceEvaluator
    from recjury.judges.face.face_prompts import FacePrompts
    from recjury.llm import CallUse

_PARTICLES = 4  # of a system turn, on average
_INSTRUCTIONS = 4  # that ship, of each aspect
_DECOMPOSING = (900, 150)  # tokens of a prompt and of a reply, on average
_SCORING = (900, 60)


class FaceConfig(OneModelConfig):
    """FACE: scores per particle and instruction, and their means per turn or dialogue.

    `instructions` is a folder of {aspect}.json files (default: the package's own). Particles come
    from the model, from the file `particles`, or from `rules`. `samples` are drawn of each score
    and `votes` of each decomposition, at `temperature`, all in one request if `together`; `method:
    logprobs` asks once, for log-probabilities.
    """

    kind: Literal["face"] = "face"
    aspects: tuple[Aspect, ...] = Field(default=tuple(Aspect), min_length=1)
    instructions: str | None = None
    particles: str | None = None
    rules: bool = False
    samples: int = Field(default=5, ge=1, le=100)
    votes: int = Field(default=3, ge=1, le=100)
    method: Literal["samples", "logprobs"] = "samples"
    temperature: float = Field(default=0.6, ge=0, le=2)
    together: bool = True

    @field_validator("aspects")
    @classmethod
    def _each_once(cls, aspects: tuple[Aspect, ...]) -> tuple[Aspect, ...]:
        return each_once(aspects)

    @model_validator(mode="after")
    def _one_source_of_particles(self) -> Self:
        if self.rules and self.particles is not None:
            raise ValueError("`rules` and `particles` both say where particles come from: keep one")
        return self

    def expected(
        self,
        conversations: int,  # noqa: ARG002 (it asks about turns)
        turns: int,
        *,
        models: bool,  # noqa: ARG002 (it always asks)
        attempts: int,
    ) -> Iterator[ExpectedCalls]:
        """The calls for a few particles per turn under the instructions of each aspect."""
        if not self.rules and self.particles is None:
            yield self._calls("face/decompose", turns, self.votes, _DECOMPOSING, attempts)
        drawn = 1 if self.method == "logprobs" else self.samples
        scored = turns * _PARTICLES * self._instructions()
        yield self._calls("face/score", scored, drawn, _SCORING, attempts)

    def _instructions(self) -> int:
        """How many instructions all aspects have together; those that ship if none can be read."""
        from recjury.judges.face.instructions import read_instruction_folder

        found = {}
        if self.instructions is not None and Path(self.instructions).is_dir():
            found = read_instruction_folder(Path(self.instructions))
        return sum(len(found[each]) if each in found else _INSTRUCTIONS for each in self.aspects)

    def _calls(
        self, kind: str, asked: int, drawn: int, tokens: tuple[int, int], attempts: int
    ) -> ExpectedCalls:
        """`drawn` samples for each of `asked`; each may have to be drawn again, in its own
        request."""
        prompt, reply = tokens
        requests = asked if self.together else asked * drawn
        replies = reply * drawn if self.together else reply
        again = (attempts - 1) * asked * drawn
        return ExpectedCalls(self.model, kind, requests, requests + again, prompt, replies)

    def call_uses(self) -> "Iterator[tuple[str, CallUse]]":
        """Several replies to one request where samples are drawn together; log-probabilities."""
        if self.method == "logprobs":
            yield self.model, "logprobs"
        if self.together and max(self.votes, self.samples) > 1:
            yield self.model, "n"

    def metrics(self, models: bool) -> tuple[Metric, ...]:  # noqa: ARG002 (always the same)
        """The chosen aspects."""
        return aspect_metrics(self.aspects, logprobs=self.method == "logprobs")

    def build(self, context: EvaluatorContext) -> "FaceEvaluator":
        """Build the evaluator. Raises UserError also for files that cannot be used."""
        from recjury.judges.face.evaluator import FaceEvaluator
        from recjury.judges.face.face_prompts import FacePrompts
        from recjury.judges.face.instructions import read_instruction_folder
        from recjury.judges.face.scorer import ParticleScorer

        gateway, prompts = context.model(self.model, self.label), FacePrompts()
        scorer = ParticleScorer(
            gateway,
            self.model,
            prompts,
            samples=self.samples,
            temperature=self.temperature,
            method=self.method,
            together=self.together,
        )
        folder = None if self.instructions is None else Path(self.instructions)
        return FaceEvaluator(
            self._decomposer(context, prompts),
            scorer,
            None if folder is None else read_instruction_folder(folder),
            self.aspects,
            name=self.label,
            models=context.reply_settings([self.model]),
            metrics=self.metrics(models=True),
        )

    def _decomposer(self, context: EvaluatorContext, prompts: "FacePrompts") -> "Decomposer":
        from recjury.judges.face.decomposer import GivenDecomposer, LlmDecomposer
        from recjury.judges.face.rule_decomposer import RuleDecomposer

        if self.rules:
            return RuleDecomposer()
        if self.particles is not None:
            from recjury.corpora.crsarena_particles import by_conversation, read_crsarena_particles

            file = Path(self.particles)
            given = by_conversation(read_crsarena_particles(file))
            content = hashlib.sha256(file.read_bytes()).hexdigest()[:12]
            return GivenDecomposer(given, name=f"file {content}")
        return LlmDecomposer(
            context.model(self.model, self.label),
            self.model,
            prompts,
            samples=self.votes,
            temperature=self.temperature,
            together=self.together,
        )
