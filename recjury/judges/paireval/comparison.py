"""Which of two responses or dialogues is better, in both orders (Park et al., 2024, section 3.2).

The score of an order is the probability of the word for the better one, among the two words that
the prompt asks for. Language models prefer a place, so both orders are asked for and averaged.
"""

from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar

from recjury.errors import PromptTooLong
from recjury.judges.paireval.prompts import Contender, PairPrompts, contender_of, shortened
from recjury.llm import Prompt, Question, SupportsComplete, WordOdds, ask, gather
from recjury.records import Message, RatingSubject, Response, Status

T = TypeVar("T")

Positions = Literal["both", "first", "second"]
"""Where what is judged is shown in a comparison."""

PURPOSE = "paireval"
AT_ONCE = 256
"""The most comparisons that one list begins at once; calls have limits of their own."""


class PairOdds(NamedTuple):
    """The probability (0 to 1) that the first of a pair is better: when it is shown first, and when
    it is shown second. None for an order that was not asked for."""

    first: float | None
    second: float | None

    @property
    def score(self) -> float:
        """The mean of the orders that were asked for."""
        given = [each for each in (self.first, self.second) if each is not None]
        return fsum(given) / len(given)

    @property
    def swapped(self) -> "PairOdds":
        """The same for the other one of the pair."""
        first, second = (None if p is None else 1 - p for p in (self.second, self.first))
        return PairOdds(first, second)


class PairJudge(Protocol):
    """Says which of two responses is better."""

    @property
    def name(self) -> str:
        """Its name in tables."""

    async def compare(self, pairs: Sequence[tuple[Response, Response]]) -> list[PairOdds | None]:
        """For each pair, how likely the first one is better; None if that cannot be said."""


@dataclass(frozen=True, slots=True)
class Judged(Generic[T]):
    """What a model was asked: the `value`, or the reason why there is none.

    `left_out` is the number of oldest turns that were left out so that the prompt fitted. `mass` is
    the lowest probability of the asked words together, before it is divided among them.
    """

    value: T | None
    status: Status = Status.SCORED
    reason: str = ""
    calls: tuple[str, ...] = ()
    left_out: int = 0
    mass: float = 1.0


class Comparer:
    """Compares with one model; `model` is the alias of a model."""

    def __init__(
        self,
        gateway: SupportsComplete,
        model: str,
        prompts: PairPrompts | None = None,
        *,
        positions: Positions = "both",
    ):
        """With `positions` "first" or "second", only that order is asked for."""
        self._gateway = gateway
        self.model = model
        self.prompts = prompts or PairPrompts()
        self.positions = positions

    async def compare(self, one: Contender, other: Contender) -> Judged[PairOdds]:
        """How likely `one` is better than `other`: when it is shown first, and when second.

        Both orders show the same turns: what is left out in one is left out in the other. Raises
        ProviderError if the model gives no log-probabilities.
        """
        judged = await self._first_that_fits((one, other), self.pair_questions)
        if judged.value is None:
            return Judged(
                None, judged.status, judged.reason, judged.calls, judged.left_out, judged.mass
            )
        by_position = dict(zip(self._orders, judged.value, strict=True))
        odds = PairOdds(by_position.get("first"), by_position.get("second"))
        return Judged(odds, calls=judged.calls, left_out=judged.left_out, mass=judged.mass)

    async def judge(self, contender: Contender) -> Judged[float]:
        """The probability of the answer that the contender is good (DirectEval).

        Raises ProviderError if the model gives no log-probabilities.
        """
        judged = await self._first_that_fits((contender,), self.direct_questions)
        value = None if judged.value is None else judged.value[0]
        return Judged(
            value, judged.status, judged.reason, judged.calls, judged.left_out, judged.mass
        )

    def pair_questions(self, one: Contender, other: Contender) -> list[Question]:
        """How likely `one` is better: a question for each order that is asked for."""
        first, second = self.prompts.pair_labels
        shown = {
            "first": (self.prompts.pair(one, other), {first: 1.0, second: 0.0}),
            "second": (self.prompts.pair(other, one), {first: 0.0, second: 1.0}),
        }
        return [
            self._question(one, *shown[order], purpose=f"{PURPOSE}/{order}")
            for order in self._orders
        ]

    def direct_questions(self, contender: Contender) -> list[Question]:
        """Whether the contender is good."""
        yes, no = self.prompts.direct_labels
        messages = self.prompts.direct(contender)
        values = {yes: 1.0, no: 0.0}
        return [self._question(contender, messages, values, purpose=f"{PURPOSE}/direct")]

    @property
    def _orders(self) -> tuple[str, ...]:
        return ("first", "second") if self.positions == "both" else (self.positions,)

    def _question(
        self,
        contender: Contender,
        messages: tuple[Message, ...],
        values: Mapping[str, float],
        *,
        purpose: str,
    ) -> Question:
        return Question(
            subject=RatingSubject(
                evaluator=f"{PURPOSE}/{self.model}",
                factor=str(contender.level),
                low=0,
                high=1,
                rubric=self.prompts.identity,
            ),
            model=self.model,
            prompts=(Prompt(messages),),
            purpose=purpose,
            form=WordOdds(values),
        )

    async def _first_that_fits(
        self, contenders: tuple[Contender, ...], questions: Callable[..., list[Question]]
    ) -> Judged[list[float]]:
        """The scores by the first prompts that all fit into the model's context."""
        reason = ""
        for shown in shortened(contenders):
            answers = await gather(
                ask(self._gateway, question) for question in questions(*shown.contenders)
            )
            too_long = [each for each in answers if isinstance(each.failure, PromptTooLong)]
            if too_long:
                reason = too_long[0].rating.reason
                continue
            ratings = [answer.rating for answer in answers]
            calls = tuple(call for rating in ratings for call in rating.calls)
            lost = next((rating for rating in ratings if rating.score is None), None)
            if lost is not None:
                return Judged(None, lost.status, lost.reason, calls, shown.left_out)
            scores = [rating.score for rating in ratings if rating.score is not None]
            mass = min(answer.odds.mass for answer in answers if answer.odds is not None)
            return Judged(scores, calls=calls, left_out=shown.left_out, mass=mass)
        return Judged(None, Status.REFUSED, f"{reason}, and nothing is left that can be cut")


class LlmPairJudge:
    """A model as a judge of responses. It counts what could not be asked as it is.

    `cut` counts comparisons from which turns had to be left out, `left_out` those turns, and
    `unscored` the reasons for comparisons without a result.
    """

    def __init__(self, comparer: Comparer, *, name: str = ""):
        """`name` is by default the model's alias."""
        self.comparer = comparer
        self.name = name or comparer.model
        self.cut = 0
        self.left_out = 0
        self.unscored: Counter[str] = Counter()

    async def compare(self, pairs: Sequence[tuple[Response, Response]]) -> list[PairOdds | None]:
        """For each pair, how likely the first one is better; None if that cannot be said."""
        return await self._counted(
            self.comparer.compare(contender_of(one), contender_of(other)) for one, other in pairs
        )

    async def judge(self, responses: Sequence[Response]) -> list[float | None]:
        """The probability that each response is good (DirectEval)."""
        return await self._counted(self.comparer.judge(contender_of(each)) for each in responses)

    async def _counted(self, work: Iterable[Coroutine[Any, Any, Judged[T]]]) -> list[T | None]:
        found = await gather(work, at_once=AT_ONCE)
        for each in found:
            self.cut += each.left_out > 0
            self.left_out += each.left_out
            if each.value is None:
                self.unscored[each.reason] += 1
        return [each.value for each in found]
