"""PairEval as an evaluator: the turns and dialogues of systems against comparison examples."""

from collections.abc import Mapping, Sequence
from math import fsum

from recjury.judges.paireval.comparison import Comparer, Judged, PairOdds
from recjury.judges.paireval.prompts import Contender
from recjury.llm import gather
from recjury.records import (
    JSON,
    ConversationLog,
    ConversationRecord,
    Level,
    Metric,
    Rating,
    Stage,
    StageResult,
    Status,
    digest,
)

_BEGINNING = 3  # turns
_NO_ANSWER = "the system gave no answer in this turn"
_NO_TURN = "the system said nothing in this conversation"
_OWN = "all comparison examples are of the same dialogue: draw more, or from another split"


class PairEvaluator:
    """Compares each turn, or the dialogue, with the examples of its level; without examples, it
    asks whether it is good (DirectEval)."""

    kind = "paireval"
    open_at_once: int | None = None

    def __init__(
        self,
        comparer: Comparer,
        examples: Mapping[Level, Sequence[Contender]],
        metrics: Sequence[Metric],
        *,
        name: str = "paireval",
        models: Mapping[str, JSON] | None = None,
    ):
        """`models` has the settings of the model that can change a reply, by alias."""
        self._comparer = comparer
        self._examples = {level: tuple(some) for level, some in examples.items()}
        self._models = dict(models or {})
        self.name = name
        self.metrics = tuple(metrics)
        self.stages = tuple(Stage(name=metric.id) for metric in metrics)

    @property
    def settings(self) -> Mapping[str, JSON]:
        """Model, prompts, orders, and how many examples; not which levels are rated."""
        numbers = {len(some) for some in self._examples.values()}
        return {
            **self._comparer.settings,
            "method": "pairwise" if self._examples else "direct",
            "examples": max(numbers, default=0),
            "models": self._models,
        }

    @property
    def data(self) -> Mapping[str, JSON]:
        """The content of the examples."""
        shown = [[str(level), *map(_content, some)] for level, some in self._examples.items()]
        return {"examples": digest(sorted(shown, key=repr))} if shown else {}

    async def evaluate(
        self,
        stage: str,
        record: ConversationRecord,
        done: Mapping[str, StageResult],  # noqa: ARG002 (no level needs another)
    ) -> StageResult:
        """The ratings of the level called `stage`, and the odds of each comparison."""
        log, level = record.log, Level(stage)
        turns = log.system_turn_indices if level is Level.TURN else (None,)
        found = await gather(self._rated(log, turn) for turn in turns)
        kept: list[JSON] = [each for _, each in found]
        return StageResult(tuple(rating for rating, _ in found), {"judged": kept})

    async def _rated(self, log: ConversationLog, turn: int | None) -> tuple[Rating, JSON]:
        level = Level.DIALOGUE if turn is None else Level.TURN
        missing = _missing(log, turn)
        if missing:
            return self._rating(level, turn, None, missing, Status.NOT_APPLICABLE), None
        contender = _contender(log, turn)
        if not self._examples:
            judged = [await self._comparer.judge(contender)]
            scores = [each.value for each in judged]
            kept: list[JSON] = [*scores]
            return self._of_all(level, turn, judged, scores), kept
        examples = [each for each in self._examples[level] if not _is_of(each, log)]
        if not examples:
            return self._rating(level, turn, None, _OWN, Status.NOT_APPLICABLE), None
        pairs = await gather(self._comparer.compare(contender, each) for each in examples)
        scores = [None if each.value is None else each.value.score for each in pairs]
        kept = [None if each.value is None else list(each.value) for each in pairs]
        return self._of_all(level, turn, pairs, scores), kept

    def _of_all(
        self,
        level: Level,
        turn: int | None,
        judged: Sequence[Judged[PairOdds]] | Sequence[Judged[float]],
        scores: Sequence[float | None],
    ) -> Rating:
        calls = tuple(call for each in judged for call in each.calls)
        lost = next((each for each in judged if each.value is None), None)
        if lost is not None:
            return self._rating(level, turn, None, lost.reason, lost.status, calls)
        given = [score for score in scores if score is not None]
        return self._rating(
            level, turn, fsum(given) / len(given), _rationale(judged, given), Status.SCORED, calls
        )

    def _rating(
        self,
        level: Level,
        turn: int | None,
        score: float | None,
        said: str,
        status: Status,
        calls: tuple[str, ...] = (),
    ) -> Rating:
        return Rating(
            evaluator=f"{self.kind}/{self._comparer.model}",
            factor=str(level),
            score=None if score is None else min(1.0, max(0.0, score)),
            status=status,
            reason="" if status is Status.SCORED else said,
            rationale=said if status is Status.SCORED else "",
            level=level,
            turn=turn,
            low=0,
            high=1,
            rubric=self._comparer.prompts.identity,
            calls=calls,
        )


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


def _missing(log: ConversationLog, turn: int | None) -> str:
    """What is missing to judge the turn or the dialogue; empty for nothing."""
    if turn is None:
        return "" if log.system_turns else _NO_TURN
    return _NO_ANSWER if log.interaction[turn].failure is not None else ""


def _content(example: Contender) -> JSON:
    return [[[str(turn.speaker), turn.text] for turn in example.turns], example.text]
