"""The keys of PairEval in a campaign file."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, field_validator, model_validator

from recjury.errors import ConfigError
from recjury.judges.config import EvaluatorContext
from recjury.judges.one_model import OneModelConfig
from recjury.records import ExpectedCalls, Level, Metric, Need, Record

if TYPE_CHECKING:
    from recjury.judges.paireval.evaluator import PairEvaluator
    from recjury.judges.paireval.prompts import Contender
    from recjury.llm import CallUse

CORPUS = "corpus"
_TITLES = {
    ("pairwise", Level.TURN): "Turn against people's turns",
    ("pairwise", Level.DIALOGUE): "Dialogue against people's dialogues",
    ("direct", Level.TURN): "Good turn",
    ("direct", Level.DIALOGUE): "Good dialogue",
}
_REPLY = 4  # tokens of a reply, on average
_PROMPTS = {"pairwise": (500, 1_500), "direct": (300, 800)}  # tokens, of turns and of dialogues


def expected_comparisons(
    model: str, level: Level, asked: int, attempts: int, *, method: str = "pairwise"
) -> ExpectedCalls:
    """`asked` calls about turns or dialogues: each a comparison in one order, or `direct`."""
    of_turn, of_dialogue = _PROMPTS[method]
    prompt = of_turn if level is Level.TURN else of_dialogue
    kind = f"paireval/{level}" if method == "pairwise" else f"paireval/{level} alone"
    return ExpectedCalls(model, kind, asked, attempts * asked, prompt, _REPLY)


class ExamplesConfig(Record):
    """What turns and dialogues are compared with.

    `number` examples are drawn with `seed` from what people said in `split` of the campaign's
    corpus, or from the file `source` (JSON lines with `turns`, or `history` and `response`).
    """

    number: int = Field(default=3, ge=1, le=1000, strict=True)
    source: str = Field(default=CORPUS, min_length=1)
    split: str = "valid"
    seed: int = 0


class PairEvalConfig(OneModelConfig):
    """PairEval: how likely a turn or dialogue is better than people's, by log-probabilities.

    Each is compared with a few `examples`, in both orders (`positions`), and the score is the mean
    probability (0 to 1) that it is better. `method: direct` is DirectEval: the probability that it
    is good, without a comparison. `labels` are the two words that a prompt asks for (A and B; Yes
    and No). The model's endpoint must send log-probabilities.
    """

    kind: Literal["paireval"] = "paireval"
    level: Literal["turn", "dialogue", "both"] = "both"
    method: Literal["pairwise", "direct"] = "pairwise"
    examples: ExamplesConfig = ExamplesConfig()
    positions: Literal["both", "first", "second"] = "both"
    labels: tuple[str, str] | None = None

    @field_validator("labels")
    @classmethod
    def _two_words(cls, labels: tuple[str, str] | None) -> tuple[str, str] | None:
        if labels is not None:
            from recjury.llm.choice_odds import check_choices

            try:
                check_choices(labels)
            except ConfigError as problem:
                raise ValueError(str(problem)) from None
        return labels

    @model_validator(mode="after")
    def _only_what_is_used(self) -> Self:
        given = {"examples", "positions"} & self.model_fields_set
        if self.method == "direct" and given:
            raise ValueError(f"`method: direct` compares nothing: leave out `{min(given)}`")
        return self

    @property
    def levels(self) -> tuple[Level, ...]:
        """What is rated."""
        return tuple(Level) if self.level == "both" else (Level(self.level),)

    def expected(
        self,
        conversations: int,
        turns: int,
        *,
        models: bool,  # noqa: ARG002 (it always asks)
        attempts: int,
    ) -> Iterator[ExpectedCalls]:
        """For each turn or dialogue, a call for each example and order; one for `direct`."""
        orders = 2 if self.positions == "both" else 1
        each = 1 if self.method == "direct" else orders * self.examples.number
        for level in self.levels:
            judged = turns if level is Level.TURN else conversations
            asked = judged * each
            yield expected_comparisons(self.model, level, asked, attempts, method=self.method)

    def call_uses(self) -> "Iterator[tuple[str, CallUse]]":
        """Log-probabilities."""
        yield self.model, "logprobs"

    def metrics(self, models: bool) -> tuple[Metric, ...]:  # noqa: ARG002 (always the same)
        """A metric for each level, from 0 to 1."""
        return tuple(
            Metric(
                id=str(level),
                title=_TITLES[self.method, level],
                group="Turns" if level is Level.TURN else "Dialogue",
                level=level,
                high=1,
                needs=(Need.MODEL, Need.LOGPROBS),
                digits=3,
            )
            for level in self.levels
        )

    def build(self, context: EvaluatorContext) -> "PairEvaluator":
        """Build the evaluator. Raises UserError also if there are too few examples."""
        from recjury.judges.paireval.comparison import Comparer
        from recjury.judges.paireval.evaluator import PairEvaluator
        from recjury.judges.paireval.prompts import DIRECT_LABELS, PAIR_LABELS, PairPrompts

        direct = self.method == "direct"
        prompts = PairPrompts(
            pair=PAIR_LABELS if direct or self.labels is None else self.labels,
            direct=DIRECT_LABELS if not direct or self.labels is None else self.labels,
        )
        gateway = context.model(self.model, self.label)
        comparer = Comparer(gateway, self.model, prompts, positions=self.positions)
        examples = {} if direct else {each: self._drawn(context, each) for each in self.levels}
        return PairEvaluator(
            comparer,
            examples,
            self.metrics(models=True),
            name=self.label,
            models=context.reply_settings([self.model]),
        )

    def _drawn(self, context: EvaluatorContext, level: Level) -> "tuple[Contender, ...]":
        from recjury.judges.paireval.examples import corpus_pool, draw, file_pool

        chosen = self.examples
        if chosen.source != CORPUS:
            pool = file_pool(Path(chosen.source), level, chosen.seed)
        elif context.corpus is None:
            raise ConfigError(
                f"{self.label}: there is no corpus to draw comparison examples from: name a file "
                "in `examples: {source: FILE}`"
            )
        else:
            pool = corpus_pool(context.corpus, chosen.split, level)
        return draw(pool, chosen.number, chosen.seed)
