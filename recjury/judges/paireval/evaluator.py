"""PairEval as an evaluator: the turns and dialogues of systems against comparison examples."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import fsum
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from recjury.errors import ConfigError
from recjury.judges.evaluator import OneModelEvaluator
from recjury.judges.levels import LevelChoice, chosen_levels, missing_to_rate, rated_turns
from recjury.judges.paireval.comparison import Comparer, Judged, PairOdds
from recjury.judges.paireval.examples import corpus_pool, draw, file_pool
from recjury.judges.paireval.prompts import (
    DIRECT_LABELS,
    PAIR_LABELS,
    Contender,
    PairPrompts,
)
from recjury.llm import CallUse, PlannedCall, check_choices, gather
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
    digest,
)

CORPUS = "corpus"
_TITLES = {
    ("pairwise", Level.TURN): "Turn against people's turns",
    ("pairwise", Level.DIALOGUE): "Dialogue against people's dialogues",
    ("direct", Level.TURN): "Good turn",
    ("direct", Level.DIALOGUE): "Good dialogue",
}
_BEGINNING = 3  # turns
_OWN = "all comparison examples are of the same dialogue: draw more, or from another split"


class ExampleSettings(Record):
    """What turns and dialogues are compared with.

    `number` examples are drawn with `seed` from what people said in `split` of the campaign's
    corpus, or from the file `source` (JSON lines with `turns`, or `history` and `response`).
    """

    number: int = Field(default=3, ge=1, le=1000, strict=True)
    source: str = Field(default=CORPUS, min_length=1)
    split: str = "valid"
    seed: int = 0


class PairEvaluator(OneModelEvaluator):
    """PairEval: how likely a turn or dialogue is better than people's, by log-probabilities.

    Each is compared with a few `examples`, in both orders (`positions`), and the score is the mean
    probability (0 to 1) that it is better. `method: direct` is DirectEval: the probability that it
    is good, without a comparison. `labels` are the two words that a prompt asks for (A and B; Yes
    and No). The model's endpoint must send log-probabilities.
    """

    kind: Literal["paireval"] = "paireval"
    level: LevelChoice = "both"
    method: Literal["pairwise", "direct"] = "pairwise"
    examples: ExampleSettings = ExampleSettings()
    positions: Literal["both", "first", "second"] = "both"
    labels: tuple[str, str] | None = None

    @field_validator("labels")
    @classmethod
    def _two_words(cls, labels: tuple[str, str] | None) -> tuple[str, str] | None:
        if labels is not None:
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
        return chosen_levels(self.level)

    @property
    def metrics(self) -> tuple[Metric, ...]:
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

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The levels."""
        return tuple(Stage(name=str(level)) for level in self.levels)

    @property
    def call_uses(self) -> list[tuple[str, CallUse]]:
        """Log-probabilities."""
        return [(self.model, "logprobs")]

    @property
    def without_effect(self) -> Mapping[str, Any]:
        """Which levels are rated, and what prompts or `data` contain."""
        return {"level": True, "labels": True, "examples": {"source", "split", "seed"}}

    @property
    def sources(self) -> Mapping[str, JSON]:
        """The prompts, with the words that they ask for."""
        return {"prompts": self._comparer.prompts.identity}

    @property
    def data(self) -> Mapping[str, JSON]:
        """The content of the examples."""
        shown = [[str(level), *map(_content, drawn)] for level, drawn in self._drawn.items()]
        return {"examples": digest(sorted(shown, key=repr))} if shown else {}

    def plan(self, log: ConversationLog) -> Iterator[PlannedCall]:
        """For each turn or dialogue, a call for each example and order; one for `direct`."""
        for level in self.levels:
            for turn in rated_turns(level, log):
                if not missing_to_rate(log, turn):
                    yield from self._plan_contender(level, _contender(log, turn))

    def _plan_contender(self, level: Level, contender: Contender) -> Iterator[PlannedCall]:
        if self.method == "direct":
            for question in self._comparer.direct_questions(contender):
                yield question.planned(f"{self.kind}/{level} alone")
        for example in self._drawn.get(level, ()):
            for question in self._comparer.pair_questions(contender, example):
                yield question.planned(f"{self.kind}/{level}")

    async def evaluate(
        self,
        stage: str,
        record: ConversationRecord,
        done: Mapping[str, StageResult],  # noqa: ARG002 (no level needs another)
    ) -> StageResult:
        """The ratings of the level called `stage`, and the odds of each comparison."""
        log, level = record.log, Level(stage)
        rated = await gather(self._rate(log, level, turn) for turn in rated_turns(level, log))
        odds: list[JSON] = [odds for _, odds in rated]
        return StageResult(tuple(rating for rating, _ in rated), {"judged": odds})

    async def _rate(
        self, log: ConversationLog, level: Level, turn: int | None
    ) -> tuple[Rating, JSON]:
        subject = self._subject(level, turn)
        if missing := missing_to_rate(log, turn):
            return subject.unscored(Status.NOT_APPLICABLE, missing), None
        contender = _contender(log, turn)
        if self.method == "direct":
            judged = await self._comparer.judge(contender)
            return _mean(subject, [judged], [judged.value]), [judged.value]
        examples = [each for each in self._drawn[level] if not _is_of(each, log)]
        if not examples:
            return subject.unscored(Status.NOT_APPLICABLE, _OWN), None
        pairs = await gather(self._comparer.compare(contender, each) for each in examples)
        scores = [None if each.value is None else each.value.score for each in pairs]
        odds: list[JSON] = [None if each.value is None else list(each.value) for each in pairs]
        return _mean(subject, pairs, scores), odds

    def _subject(self, level: Level, turn: int | None) -> RatingSubject:
        return RatingSubject(
            evaluator=f"{self.kind}/{self.model}",
            factor=str(level),
            low=0,
            high=1,
            rubric=self._comparer.prompts.identity,
            turn=turn,
        )

    def _prepare(self) -> None:
        """Draw the examples. Raises UserError if there are too few."""
        _ = self._drawn

    @cached_property
    def _comparer(self) -> Comparer:
        direct = self.method == "direct"
        prompts = PairPrompts(
            pair=PAIR_LABELS if direct or self.labels is None else self.labels,
            direct=DIRECT_LABELS if not direct or self.labels is None else self.labels,
        )
        return Comparer(self._gateway, self.model, prompts, positions=self.positions)

    @cached_property
    def _drawn(self) -> Mapping[Level, tuple[Contender, ...]]:
        """The examples of each level; none for `direct`."""
        if self.method == "direct":
            return {}
        return {level: self._draw(level) for level in self.levels}

    def _draw(self, level: Level) -> tuple[Contender, ...]:
        chosen = self.examples
        if chosen.source != CORPUS:
            pool = file_pool(Path(chosen.source), level, chosen.seed)
        elif self._context.corpus is None:
            raise ConfigError(
                f"{self.label}: there is no corpus to draw comparison examples from: name a file "
                "in `examples: {source: FILE}`"
            )
        else:
            pool = corpus_pool(self._context.corpus, chosen.split, level)
        return draw(pool, chosen.number, chosen.seed)


def _mean(
    subject: RatingSubject,
    judged: Sequence[Judged[PairOdds]] | Sequence[Judged[float]],
    scores: Sequence[float | None],
) -> Rating:
    """The mean over all comparisons; without a score if one of them has none."""
    calls = tuple(call for each in judged for call in each.calls)
    lost = next((each for each in judged if each.value is None), None)
    if lost is not None:
        return subject.unscored(lost.status, lost.reason, calls=calls)
    given = [score for score in scores if score is not None]
    score = min(1.0, max(0.0, fsum(given) / len(given)))
    return subject.scored(score, _rationale(judged, given), calls=calls)


def _rationale(
    judged: Sequence[Judged[PairOdds]] | Sequence[Judged[float]], scores: Sequence[float]
) -> str:
    """What was found in each comparison, what was left out, and how far the model answered."""
    said = "" if len(scores) == 1 else ", ".join(f"{score:.3f}" for score in scores)
    left_out = sum(each.left_out for each in judged)
    if left_out:
        cut = sum(each.left_out > 0 for each in judged)
        note = f"{left_out} of the oldest turns were left out in {cut} of {len(judged)} prompts"
        said = f"{said}; {note}" if said else note
    mass = min(each.mass for each in judged)
    if mass < 0.5:
        note = f"the words asked for had {mass:.3f} of the probability"
        said = f"{said}; {note}" if said else note
    return said


def _contender(log: ConversationLog, turn: int | None) -> Contender:
    if turn is None:
        return Contender((*log.scenario.history, *log.interaction))
    before = (*log.scenario.history, *log.interaction[:turn])
    return Contender(before, log.interaction[turn].text)


def _is_of(example: Contender, log: ConversationLog) -> bool:
    """Whether the example begins as the log does: then it is what people said there."""
    begun = (*log.scenario.history, *log.interaction)[:_BEGINNING]
    own = example.turns[:_BEGINNING]
    return bool(own) and [each.text for each in own] == [each.text for each in begun[: len(own)]]


def _content(example: Contender) -> JSON:
    return [[[str(turn.speaker), turn.text] for turn in example.turns], example.text]
