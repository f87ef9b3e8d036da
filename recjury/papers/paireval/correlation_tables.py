"""PairEval's tables 1 to 6: correlations with people's ratings of replies."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar, NamedTuple

from pydantic import BaseModel, Field

from recjury.judges.paireval.comparison import LlmPairJudge
from recjury.papers.paireval.correlations import (
    TABLE_EXAMPLES,
    AnalysisRow,
    ExampleKind,
    PositionBias,
    correlations_of_draws,
    exhaustive_rows,
    position_rows,
    table_rows,
)
from recjury.papers.paireval.pair_analysis import PairCalls, PairInput, SetsAnalysis
from recjury.papers.published import published_table
from recjury.tables import AnalysisInput, Column, Findings, Table, table_of

_CORRELATIONS = (
    Column("set"),
    Column("judge", "model"),
    Column("number", "examples"),
    Column("kind", "from"),
    Column("position", "shown"),
    Column("n"),
    Column("draws"),
    Column("pearson", "r", 3),
    Column("pearson_sd", "sd of r", 3),
    Column("spearman", "rho", 3),
    Column("spearman_sd", "sd of rho", 3),
    Column("unscored"),
)
_BIASES = (
    Column("set"),
    Column("judge", "model"),
    Column("comparisons"),
    Column("first", "probability of the first place", 3),
    Column("changed", "winner changes with the order", 0, "%"),
)


class _Judged(NamedTuple):
    rows: Sequence[AnalysisRow]
    biases: Sequence[PositionBias] = ()


class _CorrelationTable(SetsAnalysis):
    """Correlations by set, model and examples."""

    async def run(self, given: AnalysisInput) -> Findings:
        """A row for each set, model and kind of example."""
        pairs = self.read(given)
        found, could_not = await self.by_model(
            given, self.identity(pairs), lambda judge: self._judge(judge, pairs)
        )
        rows = (row for judged in found.values() for row in judged.rows)
        biases = [bias for judged in found.values() for bias in judged.biases]
        tables = [_table("correlations", _CORRELATIONS, rows)]
        if biases:
            tables.append(_table("position_bias", _BIASES, biases))
        tables.append(published_table("paireval", self.source))
        return replace(could_not, tables=tuple(tables))

    @abstractmethod
    async def _judge(self, judge: LlmPairJudge, pairs: PairInput) -> _Judged:
        """The rows of one model."""


class _DrawnTable(_CorrelationTable):
    """Correlations with comparison examples that are drawn; each draw's are a part of the mean."""

    kinds: ClassVar[tuple[ExampleKind, ...]] = ("random",)

    draws: int = Field(5, ge=1, description="how often comparison examples are drawn")

    @property
    def numbers(self) -> Sequence[int]:
        """The numbers of examples."""
        return (1,)

    def asked(self, pairs: PairInput) -> PairCalls:
        """Each response against each example of each draw."""
        return PairCalls(pairs.rows * len(self.kinds) * max(self.numbers) * self.draws)

    async def _judge(self, judge: LlmPairJudge, pairs: PairInput) -> _Judged:
        rows = await correlations_of_draws(
            judge,
            pairs.sets,
            pairs.pool,
            kinds=self.kinds,
            numbers=self.numbers,
            draws=self.draws,
            seed=self.seed,
        )
        return _Judged(rows)


class PairTable1(_DrawnTable):
    """How far DirectEval, and PairEval with three examples, agree with people's ratings."""

    source: ClassVar[str] = "PairEval, table 1"

    def asked(self, pairs: PairInput) -> PairCalls:
        """Each response alone, and against three examples of each draw."""
        return PairCalls(pairs.rows * TABLE_EXAMPLES * self.draws, alone=pairs.rows)

    async def _judge(self, judge: LlmPairJudge, pairs: PairInput) -> _Judged:
        rows = await table_rows(judge, pairs.sets, pairs.pool, draws=self.draws, seed=self.seed)
        return _Judged(rows)


class PairTable2(_DrawnTable):
    """How far correlations vary with the one example that is drawn."""

    source: ClassVar[str] = "PairEval, table 2"

    draws: int = Field(15, ge=1, description="how often the example is drawn")


class PairTable3(_DrawnTable):
    """Correlations by the number of comparison examples, and by where they come from.

    Examples come from DailyDialog's validation dialogues (random), or from the set itself (test).
    """

    source: ClassVar[str] = "PairEval, table 3"
    kinds: ClassVar[tuple[ExampleKind, ...]] = ("random", "test")

    number: int = Field(3, ge=1, description="the most comparison examples")

    @property
    def numbers(self) -> Sequence[int]:
        """1 to the most."""
        return range(1, self.number + 1)


class PairTable4(_CorrelationTable):
    """Each response against all others of its set, in both orders."""

    source: ClassVar[str] = "PairEval, table 4"
    calls: ClassVar[str] = "n (n - 1) for a set of n responses"

    def asked(self, pairs: PairInput) -> PairCalls:
        """All pairs of each set."""
        return PairCalls(sum(len(each.rows) * (len(each.rows) - 1) // 2 for each in pairs.sets))

    async def _judge(self, judge: LlmPairJudge, pairs: PairInput) -> _Judged:
        return _Judged(await exhaustive_rows(judge, pairs.sets))


class PairTable5(_DrawnTable):
    """Correlations by where the rated response is shown, and whether a model prefers a place."""

    source: ClassVar[str] = "PairEval, table 5"

    async def _judge(self, judge: LlmPairJudge, pairs: PairInput) -> _Judged:
        given = (judge, pairs.sets, pairs.pool)
        return _Judged(*await position_rows(*given, draws=self.draws, seed=self.seed))


class PairTable6(_DrawnTable):
    """Models that were trained with and without adversarial negatives, named by `models`."""

    source: ClassVar[str] = "PairEval, table 6"
    kinds: ClassVar[tuple[ExampleKind, ...]] = ("random", "test")


def _table(name: str, columns: Sequence[Column], rows: Iterable[BaseModel]) -> Table:
    return table_of(name, columns, [row.model_dump(mode="json") for row in rows])
