"""G-Eval as an evaluator: FACE's seven aspects, its prompts, scores weighed by probabilities."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from recjury.errors import ParseError
from recjury.judges.aspects import AspectEvaluator, aspect_subject
from recjury.judges.face.face_prompts import NO_ANSWER, FacePrompts, answer_to
from recjury.judges.fitting import fewer_turns
from recjury.judges.levels import missing_to_rate, rated_turns
from recjury.llm import (
    AnswerForm,
    CallUse,
    ParsedReply,
    PlannedCall,
    Prompt,
    Question,
    RatingTag,
    WordOdds,
    ask,
    finished_text,
    gather,
    read_reply,
    shared_call_context,
)
from recjury.prompts import Pack, fence, load_pack, turns_block
from recjury.records import (
    JSON,
    Aspect,
    ChatRequest,
    ConversationLog,
    ConversationRecord,
    Level,
    Message,
    Rating,
    RatingSubject,
    Reply,
    StageResult,
    Status,
    TextForm,
)

PACK = "g-eval"
Method = Literal["logprobs", "samples"]

_WHAT = {
    Level.TURN: "one turn of the system, the one in <rated_turn>,",
    Level.DIALOGUE: "the system over the whole conversation",
}


class GEvalPrompts:
    """The prompts, with FACE's aspects and scales."""

    def __init__(self, pack: Pack | None = None, face: FacePrompts | None = None):
        """Read the packs, by default the package's own."""
        self._pack = pack or load_pack(PACK)
        self._face = face or FacePrompts()
        self._system = Message("system", self._pack.render("system"))

    @property
    def identity(self) -> str:
        """Name, version and content hash of both packs."""
        return f"{self._pack.identity()} {self._face.identity}"

    def title(self, aspect: Aspect) -> str:
        """What the form calls an aspect."""
        return self._face.guides[aspect].title

    def steps(self, aspect: Aspect) -> tuple[Message, ...]:
        """The prompt that asks for the steps of the evaluation."""
        asked = self._pack.render("steps", criterion=self._criterion(aspect))
        return (self._system, Message("user", asked))

    def form(
        self, aspect: Aspect, steps: str, log: ConversationLog, turn: int | None, method: Method
    ) -> Iterator[Prompt]:
        """The prompt with the form, and then with fewer and fewer of the oldest turns."""
        before = log.interaction if turn is None else log.interaction[:turn]
        turns = before if turn is None else (*log.scenario.history, *before)
        guide = self._face.guides[aspect]
        shown = {
            "criterion": self._criterion(aspect),
            "steps": fence(steps),
            "low": aspect.low,
            "high": aspect.high,
        }
        if turn is not None:
            answer = answer_to(log, turn)
            shown["turn"] = fence(log.interaction[turn].text)
            shown["answer"] = NO_ANSWER if answer is None else fence(answer)
        for most in fewer_turns(max(1, len(turns))):
            conversation = turns_block("conversation", turns[-most:])
            asked = (
                *self._pack.render(f"rate_{aspect.level}", conversation=conversation, **shown),
                "\n\n",
                *self._pack.render(f"form_{method}", guide=guide),
            )
            yield Prompt((self._system, Message("user", asked)), max(0, len(turns) - most))

    def _criterion(self, aspect: Aspect) -> str:
        rendered = self._pack.render(
            "criterion",
            what=_WHAT[aspect.level],
            guide=self._face.guides[aspect],
            low=aspect.low,
            high=aspect.high,
        )
        return "".join(rendered)


_LONGEST_STEPS = 4000  # characters
_STEPS = "1. Words of a typical length stand here for a step of the evaluation.\n" * 6


class GEvaluator(AspectEvaluator):
    """G-Eval: the model writes its evaluation steps once, and fills in a form (Liu et al. 2023).

    A score is weighed by the probabilities of all scores: `method: logprobs` reads them, and needs
    an endpoint that sends log-probabilities; `samples` estimates them from so many replies drawn at
    `temperature`, all in one request if `together`.
    """

    kind: Literal["g-eval"] = "g-eval"
    method: Literal["logprobs", "samples"] = "logprobs"
    samples: int = Field(default=20, ge=1, le=100, strict=True)
    temperature: float = Field(default=1.0, ge=0, le=2)
    together: bool = True

    @model_validator(mode="after")
    def _only_what_is_used(self) -> Self:
        drawn = {"samples", "temperature", "together"} & self.model_fields_set
        if self.method == "logprobs" and drawn:
            raise ValueError(f"`method: logprobs` draws no samples: leave out `{min(drawn)}`")
        return self

    @property
    def call_uses(self) -> list[tuple[str, CallUse]]:
        """Log-probabilities, or several replies to one request."""
        if self.method == "logprobs":
            return [(self.model, "logprobs")]
        return [(self.model, "n")] if self.together and self.samples > 1 else []

    @property
    def without_effect(self) -> Mapping[str, Any]:
        """Which aspects are rated, and how many replies a request asks for."""
        return {"aspects": True, "together": True}

    @property
    def sources(self) -> Mapping[str, JSON]:
        """The prompts."""
        return {"prompts": self._prompts.identity}

    def plan(self, log: ConversationLog) -> Iterator[PlannedCall]:
        """A call for the steps of each aspect, and one form for each turn or dialogue."""
        for aspect in self.aspects:
            yield PlannedCall(self._steps_request(aspect), f"{self.kind}/steps", shared=True)
            for turn in rated_turns(aspect.level, log):
                if not missing_to_rate(log, turn):
                    question = self._question(aspect, log, turn, _STEPS)
                    yield question.planned(f"{self.kind}/form")

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
        steps = await self._steps(aspect)
        ratings = await gather(
            self._rate(aspect, log, turn, steps) for turn in rated_turns(aspect.level, log)
        )
        return StageResult(tuple(ratings), None if steps.value is None else {"steps": steps.value})

    async def _steps(self, aspect: Aspect) -> ParsedReply[str]:
        """The steps of the evaluation; the same call for all logs and judgings, so made once."""
        with shared_call_context():
            return await read_reply(self._gateway, self._steps_request(aspect), _read_steps)

    def _steps_request(self, aspect: Aspect) -> ChatRequest:
        return ChatRequest(
            model=self.model,
            messages=self._prompts.steps(aspect),
            purpose=f"{self.kind}/steps/{aspect}",
            form=TextForm(_LONGEST_STEPS, several_lines=True, typical=150),
        )

    async def _rate(
        self, aspect: Aspect, log: ConversationLog, turn: int | None, steps: ParsedReply[str]
    ) -> Rating:
        subject = self._subject(aspect, turn)
        if steps.value is None:
            reason = f"the model wrote no steps: {steps.reason}"
            return subject.unscored(steps.status, reason, calls=steps.calls)
        if missing := missing_to_rate(log, turn):
            return subject.unscored(Status.NOT_APPLICABLE, missing)
        question = self._question(aspect, log, turn, steps.value, steps.calls)
        return (await ask(self._gateway, question)).rating

    def _question(
        self,
        aspect: Aspect,
        log: ConversationLog,
        turn: int | None,
        steps: str,
        earlier_calls: tuple[str, ...] = (),
    ) -> Question:
        draws = self.method == "samples"
        return Question(
            subject=self._subject(aspect, turn),
            model=self.model,
            prompts=self._prompts.form(aspect, steps, log, turn, self.method),
            purpose=f"{self.kind}/form/{aspect}",
            form=self._form(aspect),
            temperature=self.temperature if draws else 0.0,
            samples=self.samples if draws else None,
            together=self.together,
            earlier_calls=earlier_calls,
        )

    def _form(self, aspect: Aspect) -> AnswerForm:
        if self.method == "samples":
            return RatingTag(reasons=0, typical=10)
        scores = {str(score): float(score) for score in range(aspect.low, aspect.high + 1)}
        return WordOdds(scores, lead=self._prompts.title(aspect))

    def _subject(self, aspect: Aspect, turn: int | None) -> RatingSubject:
        evaluator, rubric = f"{self.kind}/{self.model}", self._prompts.identity
        return aspect_subject(aspect, evaluator=evaluator, rubric=rubric, turn=turn)

    @cached_property
    def _prompts(self) -> GEvalPrompts:
        return GEvalPrompts()


def _read_steps(reply: Reply) -> str:
    steps = finished_text(reply).strip()
    if len(steps) > _LONGEST_STEPS:
        raise ParseError(f"the steps have {len(steps)} characters, at most {_LONGEST_STEPS}")
    return steps
