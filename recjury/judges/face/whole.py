"""LLM-Direct and LLM-CoT+ICL (FACE, section 4): a turn or dialogue rated at once.

Both see the same aspects and scales as FACE. The second shows two rated examples and asks for
reasons before the score.
"""

from collections.abc import Mapping, Sequence

from recjury.judges.face.aspects import FacePrompts, system_turns
from recjury.llm import RatedText, ask, read_rating
from recjury.llm.ask import Completes
from recjury.llm.together import together
from recjury.records import (
    JSON,
    Aspect,
    ChatRequest,
    ConversationLog,
    Level,
    Rating,
    Status,
)


class WholeRater:
    """One request per turn or dialogue and aspect; `model` is an alias of the gateway's."""

    kind = "whole"
    with_reasons = False

    def __init__(
        self,
        gateway: Completes,
        model: str,
        prompts: FacePrompts | None = None,
        *,
        aspects: Sequence[Aspect] | None = None,
        temperature: float = 0.6,
    ):
        """Rate `aspects`, by default all seven."""
        self._gateway = gateway
        self._prompts = prompts or FacePrompts()
        self._temperature = temperature
        self.aspects = tuple(aspects or Aspect)
        self.model = model

    @property
    def name(self) -> str:
        """The kind of rater and the model's alias."""
        return f"{self.kind}/{self.model}"

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Kind, model, prompts, temperature."""
        return {
            "evaluator": self.kind,
            "model": self.model,
            "prompts": self._prompts.identity,
            "temperature": self._temperature,
        }

    async def rate(self, log: ConversationLog) -> tuple[Rating, ...]:
        """All ratings, by aspect and turn; unscored ones say why."""
        places: list[tuple[Aspect, int | None]] = []
        for aspect in self.aspects:
            every = system_turns(log) if aspect.level is Level.TURN else (None,)
            places += ((aspect, turn) for turn in every)
        return tuple(await together(self._one(log, *place) for place in places))

    async def _one(self, log: ConversationLog, aspect: Aspect, turn: int | None) -> Rating:
        request = ChatRequest(
            model=self.model,
            messages=self._prompts.direct(aspect, log, turn, with_reasons=self.with_reasons),
            purpose=f"{self.kind}/{aspect}",
            temperature=self._temperature,
        )
        answer = await ask(
            self._gateway, request, lambda reply: read_rating(reply, aspect.low, aspect.high)
        )
        value: RatedText | None = answer.value
        return Rating(
            evaluator=self.name,
            factor=aspect,
            score=None if value is None else value.score,
            status=Status.SCORED if value is not None else answer.status,
            reason="" if value is not None else answer.reason,
            rationale="" if value is None else value.rationale,
            level=aspect.level,
            turn=turn,
            low=aspect.low,
            high=aspect.high,
            rubric=self._prompts.identity,
            calls=answer.calls,
        )
