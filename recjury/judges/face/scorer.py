"""One particle under one instruction: n samples, or an expectation (FACE, section 2.2, eq. 1)."""

import math
import re
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeVar

from recjury.errors import CallFailed, ParseError, ProviderError, UnitFailed
from recjury.judges.face.face_prompts import FacePrompts, Situation
from recjury.judges.face.instructions import Instruction
from recjury.llm import SupportsComplete, ask, gather, parse_rating, sample_replies
from recjury.prompts import code_of
from recjury.records import (
    JSON,
    Aspect,
    ChatRequest,
    InstructionScore,
    Particle,
    ParticleScore,
    RatingForm,
    Reply,
    Status,
)

T = TypeVar("T")

SAMPLES = 5
TEMPERATURE = 0.6
TOP_LOGPROBS = 20
Method = Literal["samples", "logprobs"]

_OPENS = re.compile(r"<rating\s+code\s?=\s?[\"']?(\w{1,12})[\"']?\s*>\s*\Z", re.IGNORECASE)
_LONGEST_TAG = 80


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
        """`method` "logprobs" asks once, for log-probabilities; `together` as in `llm.sample`."""
        self._gateway = gateway
        self._samples = samples
        self._temperature = temperature
        self._method = method
        self._together = together
        self.prompts = prompts or FacePrompts()
        self.model = model

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Model, prompts, and how scores are drawn."""
        return {
            "model": self.model,
            "prompts": self.prompts.identity,
            "method": self._method,
            "samples": self._samples if self._method == "samples" else 1,
            "temperature": self._temperature,
        }

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
        request = ChatRequest(
            model=self.model,
            messages=self.prompts.score(
                aspect, target.situation, target.number, target.particle, instruction
            ),
            purpose=f"face/{aspect}/{name}",
            temperature=self._temperature,
        )
        code = code_of(request.messages)
        request = replace(request, form=RatingForm(code, aspect.low, aspect.high))
        if self._method == "logprobs":
            return await self._expected(aspect, request, name)
        found = await sample_replies(
            self._gateway,
            request,
            self._samples,
            lambda reply: parse_rating(reply, aspect.low, aspect.high, code=code).score,
            together=self._together,
        )
        if found.status is Status.CALL_FAILED:
            raise CallFailed(found.reason)
        first = next(iter(found.calls), None)
        return InstructionScore(name, found.values, None, first, found.status, found.reason)

    async def _expected(self, aspect: Aspect, request: ChatRequest, name: str) -> InstructionScore:
        code = code_of(request.messages)
        sent: set[bool] = set()  # whether the new replies with a text had log-probabilities

        def read(reply: Reply) -> float:
            if reply.text.strip() and not reply.reused:
                sent.add(bool(reply.logprobs))
            return expectation(reply, aspect.low, aspect.high, code=code)

        asked = replace(request, top_logprobs=TOP_LOGPROBS)
        answer = await ask(self._gateway, asked, read)
        if answer.status is Status.CALL_FAILED:
            raise CallFailed(answer.reason)
        if answer.status is Status.UNREADABLE and sent == {False}:
            # It would send none for all other particles either.
            raise ProviderError(
                f"{self.model}: the endpoint sends no log-probabilities: ask for samples"
            )
        first = next(iter(answer.calls), None)
        return InstructionScore(name, (), answer.value, first, answer.status, answer.reason)


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


def expectation(reply: Reply, low: int, high: int, *, code: str) -> float:
    """The expected score from `low` to `high`, at the position of the rating in the reply.

    It is weighted by the probabilities of the token after the last <rating> and of its
    alternatives, if they are scores. Raises ParseError for a reply without a rating, or without its
    log-probabilities.
    """
    parse_rating(reply, low, high, code=code)
    if not reply.logprobs:
        raise ParseError("the reply has no log-probabilities")
    said = ""  # the last characters alone: as many as the tag has
    place = None
    for number, (token, _, _) in enumerate(reply.logprobs):
        opened = _OPENS.search(said)
        if opened is not None and opened[1].casefold() == code and token.strip():
            place = number
        said = (said + token)[-_LONGEST_TAG:]
    if place is None:
        raise ParseError("the reply has no log-probabilities of a token after <rating>")
    token, odd, others = reply.logprobs[place]
    odds: dict[int, float] = {}
    for text, value in {token: odd, **dict(others)}.items():
        digits = re.match(r"\s*(-?\d+)", text)
        if digits and low <= int(digits[1]) <= high:
            score = int(digits[1])
            odds[score] = odds.get(score, 0.0) + math.exp(value)
    if not odds:
        raise ParseError(f"no score from {low} to {high} is among the likely tokens")
    return sum(score * odd for score, odd in odds.items()) / sum(odds.values())
