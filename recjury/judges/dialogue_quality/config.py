"""The keys of dialogue quality in a campaign file."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, model_validator

from recjury.errors import ConfigError
from recjury.judges.config import EvaluatorContext
from recjury.judges.one_model import OneModelConfig
from recjury.records import ExpectedCalls, Level, Metric, Need, Record

if TYPE_CHECKING:
    from recjury.corpora.uss import UssSession
    from recjury.judges.dialogue_quality.evaluator import QualityEvaluator
    from recjury.judges.dialogue_quality.examples import ExamplePools
    from recjury.judges.dialogue_quality.rater import AskingForm
    from recjury.llm import CallUse

METRICS = {Level.TURN: "turn_satisfaction", Level.DIALOGUE: "satisfaction"}
_TITLES = {Level.TURN: "Satisfaction with the turn", Level.DIALOGUE: "Satisfaction"}
_RUNS = 3  # of random examples (Jia et al. 2024, section 4)
_PROMPT = {Level.TURN: 400, Level.DIALOGUE: 600}  # tokens, on average
_EXAMPLE = {Level.TURN: 150, Level.DIALOGUE: 450}
_REPLY = {"logits": 1, "generation": 200}


class ExampleSettings(Record):
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


class QualityConfig(OneModelConfig):
    """Satisfaction with turns and dialogues, 1 to 5, by a model (Jia et al. 2024).

    `method: logits` weighs the `top_k` likeliest ratings by their probabilities; the model's
    endpoint must send log-probabilities. `method: generation` reads `samples` replies, written at
    `temperature`, which analyse first or rate first (`order`). `examples` are shown before.
    `labels: binary` asks whether the user is satisfied, for models that were tuned on that.
    """

    kind: Literal["dialogue-quality"] = "dialogue-quality"
    level: Literal["turn", "dialogue", "both"] = "both"
    method: Literal["logits", "generation"] = "logits"
    order: Literal["analysis-first", "rating-first"] = "analysis-first"
    labels: Literal["likert", "binary"] = "likert"
    top_k: int = Field(default=5, ge=1, le=5, strict=True)
    temperature: float = Field(default=0.7, ge=0, le=2)
    samples: int = Field(default=1, ge=1, le=100, strict=True)
    examples: ExampleSettings = ExampleSettings()

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
        return tuple(Level) if self.level == "both" else (Level(self.level),)

    @property
    def form(self) -> "AskingForm":
        """How the model is asked."""
        from recjury.judges.dialogue_quality.rater import AskingForm

        return AskingForm(
            method=self.method,
            order=self.order,
            labels=self.labels,
            top_k=self.top_k,
            temperature=self.temperature,
            samples=self.samples,
            k=self.examples.k,
            runs=self.examples.draws,
        )

    def expected(
        self,
        conversations: int,
        turns: int,
        *,
        models: bool,  # noqa: ARG002 (it always asks)
        attempts: int,
    ) -> Iterator[ExpectedCalls]:
        """A call for each turn or dialogue, draw of examples and sample."""
        for level in self.levels:
            rated = turns if level is Level.TURN else conversations
            yield self.expected_of(level, rated, attempts)

    def expected_of(self, level: Level, rated: int, attempts: int) -> ExpectedCalls:
        """The calls for so many turns or dialogues."""
        asked = rated * self.examples.draws * self.samples
        prompt = _PROMPT[level] + self.examples.k * _EXAMPLE[level]
        reply = _REPLY[self.method]
        return ExpectedCalls(
            self.model, f"{self.kind}/{level}", asked, attempts * asked, prompt, reply
        )

    def call_uses(self) -> "Iterator[tuple[str, CallUse]]":
        """Log-probabilities."""
        if self.method == "logits":
            yield self.model, "logprobs"

    def metrics(self, models: bool) -> tuple[Metric, ...]:  # noqa: ARG002 (always the same)
        """Satisfaction with turns, with dialogues, or both."""
        needs = (Need.MODEL, Need.LOGPROBS) if self.method == "logits" else (Need.MODEL,)
        return tuple(
            Metric(
                id=METRICS[level],
                title=_TITLES[level],
                group="Turns" if level is Level.TURN else "Dialogue",
                level=level,
                low=1,
                high=5,
                needs=needs,
            )
            for level in self.levels
        )

    def build(self, context: EvaluatorContext) -> "QualityEvaluator":
        """Build the evaluator. Raises UserError also for examples that cannot be used."""
        from recjury.judges.dialogue_quality.evaluator import QualityEvaluator
        from recjury.judges.dialogue_quality.rater import QualityRater

        rater = QualityRater(
            context.model(self.model, self.label), self.model, self.form, self._examples()
        )
        return QualityEvaluator(
            rater,
            self.metrics(models=True),
            name=self.label,
            models=context.reply_settings([self.model]),
        )

    def _examples(self) -> "ExamplePools | None":
        from recjury.corpora.uss import read_uss

        chosen = self.examples
        if not chosen.k:
            return None
        if not chosen.folder:
            raise ConfigError(
                f"{self.label}: where are the examples? Give `folder`, the folder with "
                f"{chosen.subset}.txt of USS"
            )
        return self.examples_from(read_uss(Path(chosen.folder), chosen.subset))

    def examples_from(self, sessions: "Sequence[UssSession]") -> "ExamplePools":
        """The examples that these sessions give. Raises ConfigError if they are fewer than `k`."""
        from recjury.judges.dialogue_quality.examples import examples_of

        chosen = self.examples
        found = examples_of(sessions, self.levels, chosen.select, seed=chosen.seed)
        for level, pool in found.pools.items():
            if len(pool) < chosen.k:
                raise ConfigError(
                    f"{self.label}: {chosen.k} examples are wanted, and {chosen.subset} has "
                    f"{len(pool)} rated {level}s: lower `k`"
                )
        return found
