"""Dialogue quality: how satisfied a user is, from 1 to 5 (Jia et al. 2024, section 3)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from recjury.corpora import Context
from recjury.errors import UserError
from recjury.judges.levels import LevelEvaluator, levels, words_of
from recjury.judges.rated_dialogues import (
    Choice,
    Examples,
    RatedDialogue,
    parted,
    rated_dialogues,
)
from recjury.judges.subjects import Subject
from recjury.llm import Answer, Ask, Odds, Score, gather, mean, together
from recjury.llm.prompts import turns_block
from recjury.records import (
    FileName,
    Finding,
    Level,
    Message,
    PackName,
    Record,
    Turn,
)

_LOW, _HIGH = 1, 5
_TURNS = 6  # of an example that is about a turn


def quality(odds: Mapping[float, float], top: int) -> float:
    """The rating: r = sum of r_i * w_i, with w_i = p_i / sum of p_j, over the `top` likeliest.

    `odds` has the probability of each rating (equations 2 and 3).
    """
    likeliest = sorted(odds.items(), key=lambda each: -each[1])[:top]
    return sum(r * p for r, p in likeliest) / sum(p for _, p in likeliest)


class InContext(Record):
    """Rated dialogues that a prompt shows: `number` of a `file` in the form of USS.

    They are the most similar ones by BM25, or drawn by `seed`: then the rating is the mean of
    `draws`. A tenth of the file, drawn by the same seed, is for tests and never shown.
    """

    number: int = Field(default=0, ge=0, le=20)
    choose: Choice = "bm25"
    file: FileName = ""
    draws: int = Field(default=3, ge=1, le=100)
    seed: int = 0

    @model_validator(mode="after")
    def _from_a_file(self) -> "InContext":
        if self.number and not self.file:
            raise ValueError("`file` is missing: dialogues with ratings, such as ReDial.txt of USS")
        return self


class DialogueQuality(LevelEvaluator):
    """Rates satisfaction with turns and dialogues.

    `method: logits` weighs the `top` likeliest rating words by their probabilities. `generation`
    reads a rating that is written at `temperature`, before or after an analysis (`order`).
    """

    RENDERING: ClassVar[int] = 2

    kind: Literal["dialogue-quality"] = "dialogue-quality"
    scale: ClassVar[tuple[int, int]] = (_LOW, _HIGH)

    prompts: PackName = "judges/dialogue-quality"
    method: Literal["logits", "generation"] = "logits"
    order: Literal["analysis-first", "rating-first"] = "analysis-first"
    top: int = Field(default=5, ge=1)
    temperature: float = Field(default=0.7, ge=0, le=2)
    examples: InContext = InContext()
    _examples: Mapping[Level, Examples] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _words_can_be_told_apart(self) -> "DialogueQuality":
        words_of(self.pack, "words")
        return self

    @property
    def titles(self) -> Mapping[Level, str]:
        """From 1 to 5."""
        return {Level.TURN: "Satisfaction with the turn", Level.DIALOGUE: "Satisfaction"}

    def prepared(self, context: Context) -> Self:
        """The evaluator with its examples. Raises UserError if there are too few."""
        ready = super().prepared(context)
        if self.examples.number:
            ready._examples = {level: self._read_examples(level) for level in levels(self.level)}
        return ready

    def _read_examples(self, level: Level) -> Examples:
        chosen = self.examples
        shown, _ = parted(rated_dialogues(Path(chosen.file), level), chosen.seed)
        if len(shown) < chosen.number:
            raise UserError(
                f"examples: {chosen.number} are wanted, and {chosen.file} has {len(shown)} rated "
                f"{level}s that are not for tests: ask for fewer"
            )
        return Examples(shown, chosen.choose, chosen.seed)

    async def findings(self, subject: Subject, ask: Ask) -> list[Finding]:
        """The rating; that of random examples is a mean. Raises Stop."""
        metric = str(subject.level)
        if subject.lacks:
            return [subject.not_applicable(metric, self.model, subject.lacks)]
        is_random = self.examples.number and self.examples.choose == "random"
        draws = range(self.examples.draws if is_random else 1)
        answers = await gather(self._answer(subject, draw, ask) for draw in draws)
        return [subject.rating(metric, self.model, together(answers).mapped(mean))]

    async def _answer(self, subject: Subject, draw: int, ask: Ask) -> Answer[Score]:
        if self.method == "generation":
            return await ask.rating(
                self._prompt(self.order, subject, draw),
                (_LOW, _HIGH),
                model=self.model,
                purpose="judge",
                temperature=self.temperature,
            )
        words = words_of(self.pack, "words")
        said = await ask.odds(
            self._prompt("logits", subject, draw), words, model=self.model, purpose="choice"
        )
        return said.mapped(self._weighed)

    def _weighed(self, odds: Odds) -> Score:
        step = (_HIGH - _LOW) / (len(odds.shares) - 1)
        ratings = {_LOW + step * n: share for n, share in enumerate(odds.shares.values())}
        shown = ", ".join(f"{word} {share:.3f}" for word, share in odds.shares.items())
        return Score(quality(ratings, self.top), shown)

    def _prompt(self, template: str, subject: Subject, draw: int) -> list[Message]:
        level = subject.level
        turns = (*subject.before, *subject.rated, *subject.answer)
        shown: list[dict[str, Any]] = []
        if self.examples.number:
            whole = (*subject.log.scenario.history, *subject.log.interaction)
            found = self._examples[level].of(turns, whole, self.examples.number, draw)
            shown = [self._example(each, level, template) for each in found]
        return self.question(template, turns, level, shown)

    def question(
        self,
        template: str,
        turns: Sequence[Turn],
        level: Level,
        examples: Sequence[Mapping[str, Any]] = (),
    ) -> list[Message]:
        """The prompt about turns; the templates are `logits` and the two orders."""
        asked = self.pack.render(
            template,
            examples=examples,
            conversation=turns_block("conversation", turns),
            manifest=self.pack.manifest,
            level=str(level),
        )
        return [Message("system", self.pack.render("system")), Message("user", asked)]

    def _example(self, rated: RatedDialogue, level: Level, template: str) -> dict[str, Any]:
        """An example with the word that is nearest to its rating."""
        turns = rated.turns if level is Level.DIALOGUE else rated.turns[-_TURNS:]
        words = self.pack.manifest["words"] if template == "logits" else range(_LOW, _HIGH + 1)
        place = int((rated.rating - _LOW) / (_HIGH - _LOW) * (len(words) - 1) + 0.5)
        return {"conversation": turns_block("conversation", turns), "label": words[place]}
