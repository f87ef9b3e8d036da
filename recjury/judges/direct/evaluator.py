"""LLM-Direct and LLM-CoT+ICL (FACE, section 4): one request rates a whole turn or dialogue.

Both use the same aspects and scales as FACE. The second shows two rated examples and asks for
reasons before the score.
"""

from collections.abc import Mapping

from recjury.judges.direct.config import SingleRequestConfig
from recjury.judges.face.aspects import aspect_metrics
from recjury.judges.face.face_prompts import FacePrompts
from recjury.llm import RatedText, SupportsComplete, ask, gather, parse_rating
from recjury.prompts import code_of
from recjury.records import (
    JSON,
    REASONS,
    Aspect,
    ChatRequest,
    ConversationLog,
    ConversationRecord,
    Level,
    Rating,
    RatingForm,
    Reply,
    Stage,
    StageResult,
    Status,
)


class SingleRequestEvaluator:
    """One request for each aspect of a turn or dialogue."""

    data: Mapping[str, JSON] = {}
    open_at_once: int | None = None

    def __init__(
        self,
        gateway: SupportsComplete,
        config: SingleRequestConfig,
        *,
        models: Mapping[str, JSON] | None = None,
    ):
        """`models` has the settings of the model that can change a reply, by alias."""
        self._gateway = gateway
        self._config = config
        self._prompts = FacePrompts()
        self._models = dict(models or {})
        self.kind = config.kind
        self.name = config.label
        self.metrics = aspect_metrics(config.aspects)
        self.stages = tuple(Stage(name=aspect) for aspect in config.aspects)

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Kind, model, prompts and temperature, but not the rated aspects."""
        return {
            "evaluator": self.kind,
            "model": self._config.model,
            "prompts": self._prompts.identity,
            "temperature": self._config.temperature,
            "models": self._models,
        }

    async def evaluate(
        self,
        stage: str,
        record: ConversationRecord,
        done: Mapping[str, StageResult],  # noqa: ARG002 (no aspect needs another)
    ) -> StageResult:
        """The ratings of the aspect called `stage`: of each turn, or of the dialogue."""
        aspect, log = Aspect(stage), record.log
        turns = log.system_turn_indices if aspect.level is Level.TURN else (None,)
        ratings = await gather(self._one(log, aspect, turn) for turn in turns)
        return StageResult(tuple(ratings))

    async def _one(self, log: ConversationLog, aspect: Aspect, turn: int | None) -> Rating:
        config = self._config
        messages = self._prompts.direct(aspect, log, turn, with_reasons=config.with_reasons)
        code = code_of(messages)
        reasons = REASONS if config.with_reasons else 0
        request = ChatRequest(
            model=config.model,
            messages=messages,
            purpose=f"{self.kind}/{aspect}",
            temperature=config.temperature,
            form=RatingForm(code, aspect.low, aspect.high, reasons),
        )

        def read(reply: Reply) -> RatedText:
            return parse_rating(reply, aspect.low, aspect.high, code=code)

        answer = await ask(self._gateway, request, read)
        value = answer.value
        return Rating(
            evaluator=f"{self.kind}/{config.model}",
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
            repaired="" if value is None else value.repaired,
        )
