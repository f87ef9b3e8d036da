"""One particle under one instruction: n samples, or an expectation (FACE, section 2.2, eq. 1)."""

from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from recjury.errors import CallFailed, UnitFailed
from recjury.judges.aspects import aspect_subject
from recjury.judges.face.face_prompts import FacePrompts, Situation
from recjury.judges.face.instructions import Instruction
from recjury.llm import (
    Prompt,
    Question,
    RatingTag,
    RatingTagOdds,
    SupportsComplete,
    ask,
    gather,
)
from recjury.records import (
    Aspect,
    InstructionScore,
    Particle,
    ParticleScore,
    Status,
)

T = TypeVar("T")

SAMPLES = 5
TEMPERATURE = 0.6
Method = Literal["samples", "logprobs"]

_REPLY = 60  # tokens, on average
_FORMS: Mapping[Method, RatingTag] = {
    "samples": RatingTag(typical=_REPLY),
    "logprobs": RatingTagOdds(typical=_REPLY),
}


class Target(NamedTuple):
    """A particle in its context: its turn's situation and index, and its number in that turn."""

    situation: Situation
    turn: int
    number: int
    particle: Particle


class ParticleScorer:
    """Scores particles with one model; `model` is the alias of a model."""

    def __init__(
        self,
        gateway: SupportsComplete,
        model: str,
        prompts: FacePrompts | None = None,
        *,
        samples: int = SAMPLES,
        temperature: float = TEMPERATURE,
        method: Method = "samples",
        together: bool = True,
    ):
        """`method` "logprobs" asks once, for log-probabilities; `together` as in `llm.Question`."""
        self._gateway = gateway
        self._samples = samples
        self._temperature = temperature
        self._method = method
        self._together = together
        self.prompts = prompts or FacePrompts()
        self.model = model

    async def score(
        self, aspect: Aspect, target: Target, instructions: Sequence[Instruction]
    ) -> ParticleScore:
        """The scores of the particle under every instruction.

        A sample that cannot be parsed, even when it is asked for again, is missing. Raises
        CallFailed if a call failed: the particle can be tried again.
        """
        by = await gather_units(
            self.one(aspect, target, each.text, name=each.name) for each in instructions
        )
        return ParticleScore(target.turn, target.number, tuple(by))

    async def one(
        self, aspect: Aspect, target: Target, instruction: str, *, name: str
    ) -> InstructionScore:
        """The score of the particle under one instruction called `name`. Raises CallFailed.

        Raises ProviderError if log-probabilities are wanted and the endpoint sends none, however
        often it is asked.
        """
        answer = await ask(self._gateway, self.question(aspect, target, instruction, name=name))
        rating = answer.rating
        if rating.status is Status.CALL_FAILED:
            raise CallFailed(rating.reason)
        call = next(iter(rating.calls), None)
        if self._method == "logprobs":
            return InstructionScore(name, (), rating.score, call, rating.status, rating.reason)
        samples = tuple(None if score is None else int(score) for score in answer.scores)
        return InstructionScore(name, samples, None, call, rating.status, rating.reason)

    def question(self, aspect: Aspect, target: Target, instruction: str, *, name: str) -> Question:
        """The question for the score of a particle under one instruction called `name`."""
        messages = self.prompts.score(
            aspect, target.situation, target.number, target.particle, instruction
        )
        return Question(
            subject=aspect_subject(
                aspect,
                evaluator=f"face/{self.model}",
                rubric=self.prompts.identity,
                turn=target.turn,
            ),
            model=self.model,
            prompts=(Prompt(messages),),
            purpose=f"face/{aspect}/{name}",
            form=_FORMS[self._method],
            temperature=self._temperature,
            samples=self._samples if self._method == "samples" else None,
            together=self._together,
        )


async def gather_units(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results in the order of `work`.

    If units fail, the first failure is raised after all have ended, so that the calls of the
    others are kept. Any other exception cancels them.
    """

    async def outcome(each: Coroutine[Any, Any, T]) -> T | UnitFailed:
        try:
            return await each
        except UnitFailed as failure:
            return failure

    found: list[T] = []
    for each in await gather(map(outcome, work)):
        if isinstance(each, UnitFailed):
            raise each
        found.append(each)
    return found
