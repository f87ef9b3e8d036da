"""PairEval: how likely turns and dialogues are better than people's, drawn by seed.

Park et al. 2024, section 3.2.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple, Self

from pydantic import ConfigDict, Field, PrivateAttr, model_validator

from recjury.corpora import Context, read_recordings
from recjury.corpora.drawing import lot
from recjury.errors import UserError
from recjury.judges.levels import LevelEvaluator, levels, words_of
from recjury.judges.subjects import Subject
from recjury.llm import Answer, Ask, Score, gather, together
from recjury.llm.prompts import turns_block
from recjury.records import (
    ConversationLog,
    Evidence,
    FileName,
    Finding,
    Level,
    Message,
    PackName,
    Record,
    Turn,
    text_hash,
)

_SPLITS = {"corpus": "valid", "test": "test"}
_BEGINNING = 2  # turns by which two dialogues are taken for one
_ANY = "*"  # in place of a corpus: the examples of a file are for all logs


def paireval(odds: Sequence[Sequence[float]]) -> float:
    """The score: the mean, over all comparisons and orders, of the probability to be better."""
    return fmean(fmean(orders) for orders in odds)


class Contender(NamedTuple):
    """A response after the `turns` before it; without a `response`, the dialogue of the turns."""

    turns: tuple[Turn, ...]
    response: tuple[Turn, ...] = ()

    @property
    def block(self) -> str:
        """It as a prompt shows it."""
        conversation = turns_block("conversation", self.turns)
        if not self.response:
            return conversation
        return f"{conversation}\n{turns_block('response', self.response)}"

    def is_of(self, log: ConversationLog) -> bool:
        """Whether its dialogue begins as the log does: then people said it in the log's place."""
        begun = (log.scenario.history or log.interaction)[:_BEGINNING]
        own = (*self.turns, *self.response)[: len(begun)]
        return [each.text for each in own] == [each.text for each in begun]


def contender_of(subject: Subject) -> Contender:
    """A turn or a dialogue that is rated; a dialogue is compared with its history."""
    if subject.turn is None:
        return Contender((*subject.before, *subject.rated))
    return Contender(subject.before, subject.rated)


def contenders(
    dialogues: Iterable[Sequence[Turn]], level: Level, seed: int
) -> tuple[Contender, ...]:
    """One of each dialogue, in an order drawn by the seed, so that draws are nested.

    Of what begins alike, the longest counts. A response is a system turn that is drawn, too.
    """
    longest: dict[tuple[str, ...], Sequence[Turn]] = {}
    for turns in dialogues:
        begins = tuple(turn.text for turn in turns[:_BEGINNING])
        longest[begins] = max(longest.get(begins, ()), turns, key=len)
    drawn = sorted(longest.items(), key=lambda each: lot(seed, *each[0]))
    if level is Level.DIALOGUE:
        return tuple(Contender(tuple(turns)) for _, turns in drawn if _places(turns))
    return tuple(_response(turns, seed) for _, turns in drawn if _places(turns))


def recorded_dialogues(path: Path) -> list[tuple[Turn, ...]]:
    """The dialogues in a file of recordings. Raises UserError."""
    logs = (recording.log() for recording in read_recordings([path]).recordings)
    return [(*log.scenario.history, *log.interaction) for log in logs]


def by_history(dialogues: Iterable[Sequence[Turn]]) -> dict[str, list[Contender]]:
    """Responses to one history, by `history_key`: the last turns of dialogues."""
    found: dict[str, list[Contender]] = {}
    for turns in dialogues:
        own = Contender(tuple(turns[:-1]), tuple(turns[-1:]))
        found.setdefault(history_key(own.turns), []).append(own)
    return found


def history_key(turns: Sequence[Turn]) -> str:
    """The same for histories in which the same is said."""
    return text_hash("\0".join(turn.text for turn in turns))


def _response(turns: Sequence[Turn], seed: int) -> Contender:
    place = min(_places(turns), key=lambda place: lot(seed, turns[place].text, place))
    return Contender(tuple(turns[:place]), (turns[place],))


def _places(turns: Sequence[Turn]) -> list[int]:
    """Where the system responds to something."""
    said = list(enumerate(turns))[1:]
    return [place for place, turn in said if turn.speaker == "system" and turn.text.strip()]


class Comparisons(Record):
    """What is compared with: `number` examples, drawn by `seed`.

    They are from the corpus that scenarios are from: people's dialogues that nobody rates
    (`corpus`, its split "valid"), or those of the split "test"; or from a `file` of recordings.
    With `pair`, they are the other responses of the file to the history of what is rated.
    """

    model_config = ConfigDict(populate_by_name=True)

    number: int = Field(default=3, ge=1, le=1000)
    source: Literal["corpus", "test", "pair"] = Field(default="corpus", alias="from")
    file: FileName = ""
    seed: int = 0

    @model_validator(mode="after")
    def _pairs_are_in_a_file(self) -> "Comparisons":
        if self.source == "pair" and not self.file:
            raise ValueError("`file` is missing: recordings with the responses to compare")
        return self


class PairEval(LevelEvaluator):
    """Compares each turn or dialogue with the `examples`, in both orders, by log-probabilities.

    `method: direct` is DirectEval: the probability that it is good, without a comparison. With
    `position`, what is rated stands in one place only.
    """

    kind: Literal["paireval"] = "paireval"
    prompts: PackName = "judges/paireval"
    method: Literal["pair", "direct"] = "pair"
    position: Literal["both", "first", "second"] = "both"
    examples: Comparisons = Comparisons()
    _drawn: Mapping[tuple[str, Level], Sequence[Contender]] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _words_can_be_told_apart(self) -> "PairEval":
        words_of(self.pack, self.method)
        return self

    @property
    def titles(self) -> Mapping[Level, str]:
        """By the method."""
        if self.method == "direct":
            return {Level.TURN: "Good turn", Level.DIALOGUE: "Good dialogue"}
        return {Level.TURN: "Turn against people's", Level.DIALOGUE: "Dialogue against people's"}

    def prepared(self, context: Context) -> Self:
        """The evaluator with its examples. Raises UserError if there are too few."""
        ready = super().prepared(context)
        if self.method == "direct":
            return ready
        if self.examples.source == "pair":
            pairs = by_history(recorded_dialogues(Path(self.examples.file)))
            ready._drawn = {(key, Level.TURN): said for key, said in pairs.items()}
            return ready
        corpora = [_ANY] if self.examples.file else list(context.catalogues)
        if not corpora:
            raise UserError(
                "examples: there is no corpus that has any: name a `file` of recordings"
            )
        ready._drawn = {
            (corpus, level): self._draw(context, corpus, level)
            for corpus in corpora
            for level in levels(self.level)
        }
        return ready

    @property
    def drawn(self) -> object:
        """All that examples are taken from, in their order."""
        return [[*place, contenders_] for place, contenders_ in sorted(self._drawn.items())]

    def _draw(self, context: Context, corpus: str, level: Level) -> Sequence[Contender]:
        chosen, split = self.examples, _SPLITS[self.examples.source]
        if chosen.file:
            said = recorded_dialogues(Path(chosen.file))
        else:
            said = list(context.dialogues(corpus, split))
        drawn = contenders(said, level, chosen.seed)
        if len(drawn) < chosen.number:
            where = chosen.file or f"the split {split!r} of {corpus}"
            raise UserError(
                f"examples: {chosen.number} are wanted, and {where} has {len(drawn)}: ask for "
                "fewer, or name a `file` of recordings"
            )
        return drawn

    async def findings(self, subject: Subject, ask: Ask) -> list[Finding]:
        """The rating, and the odds of each comparison as evidence. Raises Stop."""
        metric = str(subject.level)
        others = self._examples(subject)
        missing = subject.lacks
        if not missing and self.method == "pair" and len(others) < self.examples.number:
            missing = "its corpus has too few other dialogues: name a `file` of them in `examples`"
        if missing:
            return [subject.not_applicable(metric, self.model, missing)]
        own = contender_of(subject)
        if self.method == "direct":
            said = await self._odds(ask, 0, subject, rated=own.block)
            return [subject.rating(metric, self.model, said.mapped(Score))]
        odds = together(await gather(self._compared(own, each, subject, ask) for each in others))
        rating = subject.rating(metric, self.model, odds.mapped(_score))
        if odds.value is None:
            return [rating]
        return [rating, Evidence(name=subject.name, value=odds.value)]

    def _examples(self, subject: Subject) -> Sequence[Contender]:
        """The first ones that are of another dialogue than what is rated."""
        corpus = _ANY if self.examples.file else subject.log.scenario.corpus
        if self.examples.source == "pair":
            said = self._drawn.get((history_key(subject.before), subject.level), ())
            own = subject.rated[0].text
            return [each for each in said if each.response[0].text != own][: self.examples.number]
        drawn = self._drawn.get((corpus, subject.level), ())
        return [each for each in drawn if not each.is_of(subject.log)][: self.examples.number]

    async def _compared(
        self, own: Contender, other: Contender, subject: Subject, ask: Ask
    ) -> Answer[list[float]]:
        """The probabilities that it is better, where it stands first and where it stands second."""
        orders = {"first": (own.block, other.block), "second": (other.block, own.block)}
        answers = await gather(
            self._odds(ask, place, subject, first=first, second=second)
            for place, (position, (first, second)) in enumerate(orders.items())
            if self.position in ("both", position)
        )
        return together(answers)

    def question(self, level: Level, **blocks: str) -> list[Message]:
        """The prompt: `first` and `second` are blocks of what is compared; DirectEval's `rated`."""
        words = words_of(self.pack, self.method)
        asked = self.pack.render(self.method, level=str(level), words=words, **blocks)
        return [Message("user", asked)]

    async def _odds(self, ask: Ask, place: int, subject: Subject, **blocks: Any) -> Answer[float]:
        """The probability of the word at a `place` among the two."""
        asked = self.question(subject.level, **blocks)
        words = words_of(self.pack, self.method)
        said = await ask.odds(asked, words, model=self.model, purpose="choice")
        return said.mapped(lambda odds: odds.shares[words[place]])


def _score(odds: Sequence[Sequence[float]]) -> Score:
    each = ", ".join(f"{fmean(orders):.3f}" for orders in odds)
    return Score(paireval(odds), f"better than each example with: {each}")
