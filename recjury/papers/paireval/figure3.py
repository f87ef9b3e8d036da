"""PairEval's figure 3: scores beside people's ratings, a plot for each set and model."""

from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from recjury.agreement.replies.rows import RatedRow
from recjury.agreement.replies.scatter import scatter_plots
from recjury.judges.paireval.comparison import LlmPairJudge
from recjury.judges.paireval.examples import draw
from recjury.judges.paireval.scorer import DirectEvalScorer, PairEvalScorer
from recjury.papers.paireval.pair_analysis import PairCalls, PairInput, SetsAnalysis
from recjury.tables import AnalysisInput, Findings


class PairFigure3(SetsAnalysis):
    """Scores beside people's ratings: a plot for each set and model.

    Ratings get a little noise (standard deviation .03), and the line is a linear regression.
    """

    source: ClassVar[str] = "PairEval, figure 3"

    number: int = Field(3, ge=1, description="comparison examples")
    direct: bool = Field(False, description="ask about each reply alone (DirectEval)")

    def asked(self, pairs: PairInput) -> PairCalls:
        """Each response against each example, or alone."""
        return (
            PairCalls(0, alone=pairs.rows) if self.direct else PairCalls(self.number * pairs.rows)
        )

    async def run(self, given: AnalysisInput) -> Findings:
        """The plots."""
        pairs = self.read(given)

        async def ask(judge: LlmPairJudge) -> list[float | None]:
            examples = draw(pairs.pool, self.number, self.seed)
            scorer = DirectEvalScorer(judge) if self.direct else PairEvalScorer(judge, examples)
            return [score for each in pairs.sets for score in await scorer.scores(each.responses)]

        scores, could_not = await self.by_model(given, self.identity(pairs), ask)
        rows = [
            RatedRow(
                row.response.id,
                each.name,
                (row.response,),
                row.target,
                row.response.system or "",
                row.human,
                row.group,
            )
            for each in pairs.sets
            for row in each.rows
        ]
        return replace(could_not, figures=scatter_plots(rows, scores, seed=self.seed))
