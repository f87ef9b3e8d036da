"""LLM-Direct and LLM-CoT+ICL (FACE, section 4): a turn or dialogue rated at once.

Both see the same aspects and scales as FACE. The second shows two rated examples and asks for
reasons before the score.
"""

from collections.abc import Mapping, Sequence

from recjury.judges.face.aspects import aspect_metrics
from recjury.judges.face.face_prompts import FacePrompts
from recjury.llm import RatedText, SupportsComplete, ask, gather, parse_rating
from recjury.records import (
    JSON,
    Aspect,
    ChatRequest,
    ConversationLog,
    ConversationRecord,
    Level,
    Rating,
    Stage,
    StageResult,
    Status,
)


class SingleRequestEvaluator:
    """One request per turn or dialogue and aspect; `model` is an alias of the gateway's."""

    data: Mapping[str, JSON] = {}
    open_at_once: int | None = None

    def __init__(
        self,
        gateway: SupportsComplete,
        model: str,
        prompts: FacePrompts | None = None,
        *,
        kind: str,
        with_reasons: bool,
        aspects: Sequence[Aspect] = tuple(Aspect),
        temperature: float = 0.6,
        name: str = "",
        models: Mapping[str, JSON] | None = None,
    ):
        """Rate `aspects`; `models` is what of the model can change a reply, by alias."""
        self._gateway = gateway
        self._prompts = prompts or FacePrompts()
        self._with_reasons = with_reasons
        self._temperature = temperature
        self._models = dict(models or {})
        self.kind = kind
        self.name = name or kind
        self.model = model
        self.metrics = aspect_metrics(aspects)
        self.stages = tuple(Stage(name=aspect) for aspect in aspects)

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Kind, model, prompts, temperature; not which aspects are rated."""
        return {
            "evaluator": self.kind,
            "model": self.model,
            "prompts": self._prompts.identity,
            "temperature": self._temperature,
            "models": self._models,
        }

    async def evaluate(
        self,
        stage: str,
        record: ConversationRecord,
        done: Mapping[str, StageResult],  # noqa: ARG002 (no aspect needs another)
    ) -> StageResult:
        """The ratings of the aspect that `stage` names: of each turn, or of the dialogue."""
        aspect, log = Aspect(stage), record.log
        turns = log.system_turn_indices if aspect.level is Level.TURN else (None,)
        ratings = await gather(self._one(log, aspect, turn) for turn in turns)
        return StageResult(tuple(ratings))

    async def _one(self, log: ConversationLog, aspect: Aspect, turn: int | None) -> Rating:
        request = ChatRequest(
            model=self.model,
            messages=self._prompts.direct(aspect, log, turn, with_reasons=self._with_reasons),
            purpose=f"{self.kind}/{aspect}",
            temperature=self._temperature,
        )
        answer = await ask(
            self._gateway, request, lambda reply: parse_rating(reply, aspect.low, aspect.high)
        )
        value: RatedText | None = answer.value
        return Rating(
            evaluator=f"{self.kind}/{self.model}",
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
