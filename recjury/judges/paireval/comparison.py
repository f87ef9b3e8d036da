"""Which of two responses or dialogues is better, in both orders (Park et al., 2024, section 3.2).

The score of an order is the probability of the word for the better one, among the two words that
the prompt asks for. Language models prefer a place, so both orders are asked for and averaged.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar

from recjury.errors import PromptTooLong
from recjury.judges.paireval.prompts import Contender, PairPrompts, contender_of, shortened
from recjury.llm import ChoiceOdds, ParsedReply, SupportsComplete, choice_odds, gather
from recjury.records import JSON, ChatRequest, Message, Response, Status

T = TypeVar("T")
_Replies = list[ParsedReply[ChoiceOdds]]

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

    @property
    def settings(self) -> dict[str, JSON]:
        """Everything but the model's own settings that can change a comparison."""
        return {
            "model": self.model,
            "prompts": self.prompts.identity,
            "positions": self.positions,
        }

    async def compare(self, one: Contender, other: Contender) -> Judged[PairOdds]:
        """How likely `one` is better than `other`: when it is shown first, and when second.

        Both orders show the same turns: what is left out in one is left out in the other. Raises
        ProviderError if the model gives no log-probabilities.
        """
        labels = self.prompts.pair_labels

        async def ask(shown: tuple[Contender, ...]) -> _Replies:
            orders = {"first": shown, "second": shown[::-1]}
            return await gather(
                self._ask(self.prompts.pair(*orders[position]), f"{PURPOSE}/{position}", labels)
                for position in self._asked
            )

        def read(odds: Sequence[ChoiceOdds]) -> PairOdds:
            word = dict(zip(("first", "second"), labels, strict=True))
            found = {
                position: each.odds[word[position]]
                for position, each in zip(self._asked, odds, strict=True)
            }
            return PairOdds(found.get("first"), found.get("second"))

        return await _fitting((one, other), ask, read)

    async def judge(self, contender: Contender) -> Judged[float]:
        """The probability of the answer that the contender is good (DirectEval).

        Raises ProviderError if the model gives no log-probabilities.
        """
        labels = self.prompts.direct_labels

        async def ask(shown: tuple[Contender, ...]) -> _Replies:
            return [await self._ask(self.prompts.direct(*shown), f"{PURPOSE}/direct", labels)]

        return await _fitting((contender,), ask, lambda odds: odds[0].odds[labels[0]])

    @property
    def _asked(self) -> tuple[str, ...]:
        return ("first", "second") if self.positions == "both" else (self.positions,)

    async def _ask(
        self, messages: tuple[Message, ...], purpose: str, words: Sequence[str]
    ) -> ParsedReply[ChoiceOdds]:
        request = ChatRequest(model=self.model, messages=messages, purpose=purpose)
        return await choice_odds(self._gateway, request, words)


async def _fitting(
    contenders: tuple[Contender, ...],
    ask: Callable[[tuple[Contender, ...]], Awaitable[_Replies]],
    read: Callable[[Sequence[ChoiceOdds]], T],
) -> Judged[T]:
    """What `read` makes of the replies to the first prompts that fit into the model's context."""
    problem = ""
    for shown in shortened(contenders):
        try:
            replies = await ask(shown.contenders)
        except PromptTooLong as failure:
            problem = str(failure)
            continue
        calls = tuple(call for reply in replies for call in reply.calls)
        missing = next((reply for reply in replies if reply.value is None), None)
        if missing is not None:
            return Judged(None, missing.status, missing.reason, calls, shown.left_out)
        odds = [reply.value for reply in replies if reply.value is not None]
        mass = min(each.mass for each in odds)
        return Judged(read(odds), calls=calls, left_out=shown.left_out, mass=mass)
    return Judged(None, Status.REFUSED, f"{problem}, and nothing is left that can be cut")


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
