"""PairEval and DirectEval as scorers of replies, on which they are evaluated themselves."""

from collections.abc import Sequence
from itertools import combinations
from math import fsum

from recjury.judges.paireval.comparison import LlmPairJudge, PairJudge, PairOdds
from recjury.judges.paireval.prompts import Contender
from recjury.records import Response

_LEAST_OF_ALL = 0.9


class PairEvalScorer:
    """Each response against the same examples; the score is the mean probability (0 to 1) that it
    is better. A response with a comparison that gave nothing has no score."""

    def __init__(self, judge: PairJudge, examples: Sequence[Response], *, name: str = ""):
        """`name` is by default "paireval" and the judge's."""
        self.judge = judge
        self.examples = tuple(examples)
        self.name = name or f"paireval {judge.name}"

    async def scores(self, responses: Sequence[Response]) -> list[float | None]:
        """A score for each response, in order."""
        return [mean_score(row) for row in await self.odds(responses)]

    async def odds(self, responses: Sequence[Response]) -> list[tuple[PairOdds | None, ...]]:
        """For each response, the odds against each example."""
        pairs = [(one, example) for one in responses for example in self.examples]
        found = await self.judge.compare(pairs)
        count = len(self.examples)
        return [tuple(found[at : at + count]) for at in range(0, len(found), count)]

    async def preferences(self, pairs: Sequence[tuple[Response, Response]]) -> list[float | None]:
        """How likely the first of each pair is better, both read in one prompt."""
        return [None if each is None else each.score for each in await self.judge.compare(pairs)]


class ExhaustiveScorer:
    """Each response against all the others (Park et al., 2024, Table 4): n (n - 1) / 2 pairs.

    Of so many, some fail: a response has a score if nine tenths of its comparisons have a result.
    """

    def __init__(self, judge: PairJudge, *, name: str = ""):
        """`name` is by default "exhaustive" and the judge's."""
        self._judge = judge
        self.name = name or f"exhaustive {judge.name}"

    async def scores(self, responses: Sequence[Response]) -> list[float | None]:
        """The mean probability to be better than another one; None for a single response, and for
        one of which too few comparisons have a result."""
        places = list(combinations(range(len(responses)), 2))
        found = await self._judge.compare([(responses[a], responses[b]) for a, b in places])
        rows: list[list[PairOdds | None]] = [[] for _ in responses]
        for (one, other), odds in zip(places, found, strict=True):
            rows[one].append(odds)
            rows[other].append(None if odds is None else odds.swapped)
        return [mean_score(row, least=_LEAST_OF_ALL) for row in rows]


class DirectEvalScorer:
    """The probability (0 to 1) that a response is good, asked without a comparison."""

    def __init__(self, judge: LlmPairJudge, *, name: str = ""):
        """`name` is by default "directeval" and the judge's."""
        self._judge = judge
        self.name = name or f"directeval {judge.name}"

    async def scores(self, responses: Sequence[Response]) -> list[float | None]:
        """A score for each response, in order."""
        return await self._judge.judge(responses)


def mean_score(row: Sequence[PairOdds | None], *, least: float = 1.0) -> float | None:
    """The mean over comparisons; None without any, or if less than the share `least` of them has a
    result."""
    scores = [each.score for each in row if each is not None]
    return fsum(scores) / len(scores) if scores and len(scores) >= least * len(row) else None


def as_responses(contenders: Sequence[Contender]) -> tuple[Response, ...]:
    """Examples of turns as responses. Raises ValueError for a dialogue."""
    found = []
    for number, each in enumerate(contenders):
        if each.text is None:
            raise ValueError("a whole dialogue is no response")
        found.append(Response(id=f"example-{number}", history=each.turns, text=each.text))
    return tuple(found)
