"""G-Eval as an evaluator: FACE's seven aspects, scores weighed by their probabilities."""

from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean
from typing import NamedTuple

from recjury.errors import ParseError
from recjury.judges.face.aspects import aspect_metrics
from recjury.judges.fitting import ask_what_fits, missing_to_rate
from recjury.judges.g_eval.config import GEvalConfig
from recjury.judges.g_eval.prompts import FormPrompt, GEvalPrompts
from recjury.llm import (
    ParsedReply,
    SupportsComplete,
    ask,
    choice_odds,
    finished_text,
    gather,
    parse_rating,
    sample_replies,
    shared_call_context,
)
from recjury.prompts import code_of
from recjury.records import (
    JSON,
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
    TextForm,
)

_LONGEST_STEPS = 4000  # characters
_LITTLE = 0.5  # of the probability: if the scores have less, it is said


class _Weighed(NamedTuple):
    """An expected score, and the probability that all scores have together."""

    score: float
    mass: float = 1.0


class GEvaluator:
    """Asks once for the steps of each aspect, and then for each turn or dialogue."""

    kind = "g-eval"
    data: Mapping[str, JSON] = {}
    open_at_once: int | None = None

    def __init__(
        self,
        gateway: SupportsComplete,
        config: GEvalConfig,
        *,
        models: Mapping[str, JSON] | None = None,
    ):
        """`models` has the settings of the model that can change a reply, by alias."""
        self._gateway = gateway
        self._config = config
        self._prompts = GEvalPrompts()
        self._models = dict(models or {})
        self.name = config.label
        self.metrics = aspect_metrics(config.aspects, logprobs=config.method == "logprobs")
        self.stages = tuple(Stage(name=aspect) for aspect in config.aspects)

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Model, prompts and method, but not the rated aspects."""
        config = self._config
        plain: dict[str, JSON] = {
            "model": config.model,
            "prompts": self._prompts.identity,
            "method": config.method,
            "models": self._models,
        }
        if config.method == "logprobs":
            return plain
        return {**plain, "samples": config.samples, "temperature": config.temperature}

    async def evaluate(
        self,
        stage: str,
        record: ConversationRecord,
        done: Mapping[str, StageResult],  # noqa: ARG002 (no aspect needs another)
    ) -> StageResult:
        """The ratings of the aspect called `stage`, and the steps they were given by.

        Raises ProviderError if log-probabilities are wanted and the endpoint sends none.
        """
        aspect, log = Aspect(stage), record.log
        turns = log.system_turn_indices if aspect.level is Level.TURN else (None,)
        steps = await self._steps(aspect)
        if steps.value is None:
            reason = f"the model wrote no steps: {steps.reason}"
            lost: ParsedReply[_Weighed] = ParsedReply(None, steps.status, reason, steps.calls)
            return StageResult(tuple(self._rating(aspect, turn, lost) for turn in turns))
        ratings = await gather(
            self._one(aspect, log, turn, steps.value, steps.calls) for turn in turns
        )
        return StageResult(tuple(ratings), {"steps": steps.value})

    async def _steps(self, aspect: Aspect) -> ParsedReply[str]:
        """The steps of the evaluation; the same call for all logs and judgings, so made once."""
        request = ChatRequest(
            model=self._config.model,
            messages=self._prompts.steps(aspect),
            purpose=f"{self.kind}/steps/{aspect}",
            form=TextForm(_LONGEST_STEPS, several_lines=True),
        )
        with shared_call_context():
            return await ask(self._gateway, request, _read_steps)

    async def _one(
        self,
        aspect: Aspect,
        log: ConversationLog,
        turn: int | None,
        steps: str,
        calls: tuple[str, ...],
    ) -> Rating:
        missing = missing_to_rate(log, turn)
        if missing:
            return self._rating(aspect, turn, ParsedReply(None, Status.NOT_APPLICABLE, missing))

        async def asked(prompt: FormPrompt) -> ParsedReply[_Weighed]:
            request = ChatRequest(
                model=self._config.model,
                messages=prompt.messages,
                purpose=f"{self.kind}/form/{aspect}",
            )
            if self._config.method == "logprobs":
                return await self._weighed(request, aspect)
            return await self._sampled(request, aspect)

        prompts = self._prompts.form(aspect, steps, log, turn, self._config.method)
        found, prompt = await ask_what_fits(prompts, asked)
        found = replace(found, calls=(*calls, *found.calls))
        return self._rating(aspect, turn, found, prompt.left_out)

    async def _weighed(self, request: ChatRequest, aspect: Aspect) -> ParsedReply[_Weighed]:
        scores = [str(score) for score in range(aspect.low, aspect.high + 1)]
        title = self._prompts.title(aspect)
        found = await choice_odds(self._gateway, request, scores, lead=title)
        if found.value is None:
            return ParsedReply(
                None, found.status, found.reason, found.calls, found.reply, found.failure
            )
        score = sum(int(score) * odds for score, odds in found.value.odds.items())
        return ParsedReply(
            _Weighed(score, found.value.mass), found.status, "", found.calls, found.reply
        )

    async def _sampled(self, request: ChatRequest, aspect: Aspect) -> ParsedReply[_Weighed]:
        """The mean of samples, an estimate of the expected score."""
        code = code_of(request.messages)
        found = await sample_replies(
            self._gateway,
            replace(
                request,
                temperature=self._config.temperature,
                form=RatingForm(code, aspect.low, aspect.high, reasons=0),
            ),
            self._config.samples,
            lambda reply: parse_rating(reply, aspect.low, aspect.high, code=code).score,
            together=self._config.together,
        )
        value = _Weighed(fmean(found.read)) if found.read else None
        status = found.status if value is None else Status.SCORED
        return ParsedReply(value, status, found.reason, found.calls, failure=found.failure)

    def _rating(
        self,
        aspect: Aspect,
        turn: int | None,
        found: ParsedReply[_Weighed],
        left_out: int = 0,
    ) -> Rating:
        value = found.value
        score = None if value is None else min(aspect.high, max(aspect.low, value.score))
        return Rating(
            evaluator=f"{self.kind}/{self._config.model}",
            factor=aspect,
            score=score,
            status=found.status,
            reason="" if value is not None else found.reason,
            rationale="" if value is None else _rationale(value, left_out),
            level=aspect.level,
            turn=turn,
            low=aspect.low,
            high=aspect.high,
            rubric=self._prompts.identity,
            calls=found.calls,
        )


def _read_steps(reply: Reply) -> str:
    steps = finished_text(reply).strip()
    if len(steps) > _LONGEST_STEPS:
        raise ParseError(f"the steps have {len(steps)} characters, at most {_LONGEST_STEPS}")
    return steps


def _rationale(value: _Weighed, left_out: int) -> str:
    parts = []
    if left_out:
        parts.append(f"the oldest {left_out} turns were left out: the prompt was too long")
    if value.mass < _LITTLE:
        parts.append(f"all scores together had {value.mass:.3f} of the probability")
    return "; ".join(parts)
