"""Dialogue quality as an evaluator: each turn, or the dialogue, rated from 1 to 5."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from recjury.corpora.uss import SCALE, read_uss
from recjury.errors import ConfigError
from recjury.judges.dialogue_quality.prompts import QualityPrompts
from recjury.judges.dialogue_quality.subjects import LabelledSubject, Subject, subject_of_log
from recjury.judges.evaluator import EvaluatorContext, OneModelEvaluator
from recjury.judges.levels import LevelChoice, chosen_levels, missing_to_rate, rated_turns
from recjury.llm import (
    Answer,
    AnswerForm,
    CallUse,
    PlannedCall,
    Question,
    RatingTag,
    WordOdds,
    ask,
    gather,
    left_out_turns,
)
from recjury.records import (
    JSON,
    ConversationLog,
    ConversationRecord,
    Level,
    Metric,
    Need,
    Rating,
    RatingSubject,
    Record,
    Stage,
    StageResult,
    Status,
)

if TYPE_CHECKING:
    from recjury.corpora.uss import UssSession
    from recjury.judges.dialogue_quality.examples import ExamplePools

METRICS = {Level.TURN: "turn_satisfaction", Level.DIALOGUE: "satisfaction"}
_LEVELS = {metric: level for level, metric in METRICS.items()}
_TITLES = {Level.TURN: "Satisfaction with the turn", Level.DIALOGUE: "Satisfaction"}
_LOW, _HIGH = SCALE
_RUNS = 3  # of random examples (Jia et al. 2024, section 4)


class InContextExamples(Record):
    """The rated dialogues that a prompt shows before what is rated.

    `k` of them are chosen from the `subset` of USS in `folder`: at `random` (the mean of `runs`
    draws), or the most similar ones by `bm25` or by sentence `embedding`.
    """

    k: int = Field(default=0, ge=0, le=20, strict=True)
    select: Literal["random", "bm25", "embedding"] = "bm25"
    folder: str = ""
    subset: Literal["SGD", "MWOZ", "ReDial", "CCPE"] = "ReDial"
    runs: int = Field(default=_RUNS, ge=1, le=100, strict=True)
    seed: int = 0

    @property
    def draws(self) -> int:
        """How often each subject is rated with other examples."""
        return self.runs if self.k and self.select == "random" else 1


class QualityEvaluator(OneModelEvaluator):
    """Satisfaction with turns and dialogues, 1 to 5, by a model (Jia et al. 2024).

    `method: logits` weighs the `top_k` likeliest ratings by their probabilities (section 3; the
    paper does not say how many); the model's endpoint must send log-probabilities. `method:
    generation` reads `samples` replies, written at `temperature`, which analyse first or rate first
    (`order`). `examples` are shown before. `labels: binary` asks whether the user is satisfied, for
    models that were tuned on that.
    """

    kind: Literal["dialogue-quality"] = "dialogue-quality"
    level: LevelChoice = "both"
    method: Literal["logits", "generation"] = "logits"
    order: Literal["analysis-first", "rating-first"] = "analysis-first"
    labels: Literal["likert", "binary"] = "likert"
    top_k: int = Field(default=5, ge=1, le=5, strict=True)
    temperature: float = Field(default=0.7, ge=0, le=2)
    samples: int = Field(default=1, ge=1, le=100, strict=True)
    examples: InContextExamples = InContextExamples()

    _pools: "ExamplePools | None" = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _only_what_is_used(self) -> Self:
        of_generation = {"order", "temperature", "samples"} & self.model_fields_set
        if self.method == "logits" and of_generation:
            raise ValueError(
                f"`method: logits` generates nothing: leave out `{min(of_generation)}`"
            )
        if self.method == "generation" and "top_k" in self.model_fields_set:
            raise ValueError("`top_k` is for `method: logits`: leave it out")
        if self.method == "generation" and self.labels == "binary":
            raise ValueError("`labels: binary` is for `method: logits`")
        return self

    @property
    def levels(self) -> tuple[Level, ...]:
        """What is rated."""
        return chosen_levels(self.level)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Satisfaction with turns, with dialogues, or both."""
        needs = (Need.MODEL, Need.LOGPROBS) if self.method == "logits" else (Need.MODEL,)
        return tuple(
            Metric(
                id=METRICS[level],
                title=_TITLES[level],
                group="Turns" if level is Level.TURN else "Dialogue",
                level=level,
                low=_LOW,
                high=_HIGH,
                needs=needs,
            )
            for level in self.levels
        )

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The metrics."""
        return tuple(Stage(name=metric.id) for metric in self.metrics)

    @property
    def call_uses(self) -> list[tuple[str, CallUse]]:
        """Log-probabilities."""
        return [(self.model, "logprobs")] if self.method == "logits" else []

    @property
    def without_effect(self) -> Mapping[str, Any]:
        """Which levels are rated, and what of the examples is in `data` or not used."""
        unused = {"folder", "subset", "seed"}
        if self.examples.select != "random":
            unused.add("runs")
        return {"level": True, "examples": unused if self.examples.k else True}

    @property
    def sources(self) -> Mapping[str, JSON]:
        """The prompts."""
        return {"prompts": self._prompts.identity}

    @property
    def data(self) -> Mapping[str, JSON]:
        """The content of the examples."""
        return {} if self._pools is None else {"examples": self._pools.identity}

    def prepared(self, context: EvaluatorContext, pools: "ExamplePools | None" = None) -> Self:
        """As for every evaluator; with `pools`, examples are chosen from them.

        Raises UserError also for examples that cannot be used.
        """
        ready = super().prepared(context)
        ready._pools = pools or ready._read_examples()
        return ready

    def plan(self, log: ConversationLog) -> Iterator[PlannedCall]:
        """A call for each turn or dialogue, draw of examples and sample."""
        for level in self.levels:
            for turn in rated_turns(level, log):
                if not missing_to_rate(log, turn):
                    yield from self.plan_subject(subject_of_log(log, turn))

    def plan_subject(self, subject: Subject) -> Iterator[PlannedCall]:
        """The calls for one subject; other examples may be shown than those that are planned."""
        pools = {} if self._pools is None else self._pools.pools
        examples = pools[subject.level].typical(self.examples.k) if pools else ()
        for run in range(self.examples.draws):
            yield self._question(subject, examples, run).planned(f"{self.kind}/{subject.level}")

    async def evaluate(
        self,
        stage: str,
        record: ConversationRecord,
        done: Mapping[str, StageResult],  # noqa: ARG002 (no level needs another)
    ) -> StageResult:
        """The ratings of the metric called `stage`, and the score of each run."""
        log = record.log
        rated = await gather(self._rate(log, turn) for turn in rated_turns(_LEVELS[stage], log))
        runs: list[JSON] = [[answer.rating.score for answer in answers] for _, answers in rated]
        return StageResult(tuple(rating for rating, _ in rated), {"runs": runs})

    async def answers(self, subject: Subject) -> tuple[Answer, ...]:
        """The answer of each run.

        Raises ConfigError if there are too few examples, and ProviderError if log-probabilities are
        wanted and the endpoint sends none.
        """
        return tuple(await gather(self._answer(subject, run) for run in range(self.examples.draws)))

    def examples_from(self, sessions: "Sequence[UssSession]") -> "ExamplePools":
        """The examples that these sessions give. Raises ConfigError if they are fewer than `k`."""
        from recjury.judges.dialogue_quality.examples import examples_of

        chosen = self.examples
        pools = examples_of(sessions, self.levels, chosen.select, seed=chosen.seed)
        for level, pool in pools.pools.items():
            if len(pool) < chosen.k:
                raise ConfigError(
                    f"{self.label}: {chosen.k} examples are wanted, and {chosen.subset} has "
                    f"{len(pool)} rated {level}s: lower `k`"
                )
        return pools

    async def _rate(
        self, log: ConversationLog, turn: int | None
    ) -> tuple[Rating, tuple[Answer, ...]]:
        subject = subject_of_log(log, turn)
        if missing := missing_to_rate(log, turn):
            rating = self._rating_subject(subject, turn).unscored(Status.NOT_APPLICABLE, missing)
            return rating, (Answer(rating),)
        answers = await self.answers(subject)
        return _mean(self._rating_subject(subject, turn), answers), answers

    async def _answer(self, subject: Subject, run: int) -> Answer:
        # In a thread: dialogues may have to be embedded.
        examples = await asyncio.to_thread(self._choose, subject, run)
        return await ask(self._gateway, self._question(subject, examples, run))

    def _choose(self, subject: Subject, run: int) -> tuple[LabelledSubject, ...]:
        if self._pools is None:
            return ()
        return self._pools.pools[subject.level].choose(subject, self.examples.k, run)

    def _question(
        self, subject: Subject, examples: Sequence[LabelledSubject], run: int
    ) -> Question:
        generates = self.method == "generation"
        return Question(
            subject=self._rating_subject(subject),
            model=self.model,
            prompts=self._prompts.shorter(subject, examples),
            purpose=f"{self.kind}/{subject.level}",
            form=self._form(),
            temperature=self.temperature if generates else 0.0,
            samples=self.samples if generates and self.samples > 1 else None,
            first_sample=run * self.samples if generates else 0,
            together=False,
        )

    def _form(self) -> AnswerForm:
        if self.method == "generation":
            return RatingTag(rating_first=self.order == "rating-first", typical=200)
        words = self._prompts.choices
        ratings = (_HIGH, _LOW) if self.labels == "binary" else map(int, words)
        return WordOdds(
            {word: float(rating) for word, rating in zip(words, ratings, strict=True)},
            top=self.top_k,
        )

    def _rating_subject(self, subject: Subject, turn: int | None = None) -> RatingSubject:
        if turn is None and subject.level is Level.TURN:
            turn = len(subject.turns) - 1
        return RatingSubject(
            evaluator=f"{self.kind}/{self.model}",
            factor=METRICS[subject.level],
            low=_LOW,
            high=_HIGH,
            rubric=self._prompts.identity,
            turn=turn,
        )

    def _read_examples(self) -> "ExamplePools | None":
        chosen = self.examples
        if not chosen.k:
            return None
        if not chosen.folder:
            raise ConfigError(
                f"{self.label}: where are the examples? Give `folder`, the folder with "
                f"{chosen.subset}.txt of USS"
            )
        return self.examples_from(read_uss(Path(chosen.folder), chosen.subset))

    @cached_property
    def _prompts(self) -> QualityPrompts:
        form = "logits" if self.method == "logits" else self.order
        return QualityPrompts(form, self.labels)


def _mean(subject: RatingSubject, answers: Sequence[Answer]) -> Rating:
    """The mean of all runs; without a score if one of them has none."""
    ratings = [answer.rating for answer in answers]
    calls = tuple(call for rating in ratings for call in rating.calls)
    lost = next((rating for rating in ratings if rating.score is None), None)
    if lost is not None:
        return subject.unscored(lost.status, lost.reason, calls=calls)
    scores = [rating.score for rating in ratings if rating.score is not None]
    rationale = _rationale(answers[0])
    if len(scores) > 1:
        shown = ", ".join(f"{score:.2f}" for score in scores)
        parts = (
            f"the mean of {len(scores)} draws of examples: {shown}",
            left_out_turns(max(answer.left_out for answer in answers)),
        )
        rationale = "; ".join(filter(None, parts))
    return subject.scored(fmean(scores), rationale, calls=calls, repaired=ratings[0].repaired)


def _rationale(answer: Answer) -> str:
    """The probabilities that were weighed, or what the model wrote."""
    if answer.odds is None:
        return answer.rating.rationale
    shown = ", ".join(f"{word} {share:.3f}" for word, share in answer.odds.odds.items())
    return "; ".join(filter(None, (f"probabilities: {shown}", answer.rating.rationale)))
