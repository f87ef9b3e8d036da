"""PairEval's table 7: how often a judge prefers a reply to a worse version of it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import ClassVar

from pydantic import Field

from recjury.agreement.replies.robustness import AttackAccuracy, attack_accuracies, different
from recjury.agreement.replies.scoring import margins
from recjury.campaign.model_work import config_of
from recjury.corpora.dialogues import RobustnessPair, read_robustness_pairs
from recjury.corpora.response_sets import sets_folder
from recjury.errors import DataError
from recjury.judges.paireval.comparison import LlmPairJudge
from recjury.judges.paireval.scorer import DirectEvalScorer, PairEvalScorer
from recjury.papers.paireval.pair_analysis import ModelsAnalysis, PairCalls
from recjury.papers.published import published_table
from recjury.plugins import Names
from recjury.records import JSON, ExpectedCalls, digest
from recjury.tables import AnalysisInput, Cell, Column, Findings, table_of

_COLUMNS = (
    Column("judge", "model"),
    Column("attack"),
    Column("n"),
    Column("accuracy", "original preferred", 3),
    Column("ties"),
    Column("unscored"),
)


class PairTable7(ModelsAnalysis):
    """How often a model prefers a reply to a worse version of it, by the kind of change.

    Pairs without a result count against the model.
    """

    source: ClassVar[str] = "PairEval, table 7"

    pairs: Path | None = Field(
        None, description="a folder with robustness-pairs.jsonl, as replies.worse_texts writes it"
    )
    attacks: Names = Field((), description="only these kinds of changes")
    limit: int | None = Field(None, ge=1, description="only the first pairs of each kind")
    direct: bool = Field(False, description="ask about each reply alone (DirectEval)")

    def plan(self, given: AnalysisInput) -> Iterable[ExpectedCalls]:
        """The calls of each model. Raises UserError."""
        config, pairs = config_of(given), self._pairs(given)
        asked = PairCalls(0, alone=2 * len(pairs)) if self.direct else PairCalls(len(pairs))
        return self.expected(config, asked)

    async def run(self, given: AnalysisInput) -> Findings:
        """A row for each model and kind of change, and each model's mean."""
        pairs = self._pairs(given)

        async def ask(judge: LlmPairJudge) -> Mapping[str, AttackAccuracy]:
            scorer = DirectEvalScorer(judge) if self.direct else PairEvalScorer(judge, ())
            return attack_accuracies(pairs, await margins(scorer, pairs))

        what: dict[str, JSON] = {
            "pairs": digest([each.id for each in pairs]),
            "direct": self.direct,
        }
        found, could_not = await self.by_model(given, what, ask)
        rows: list[dict[str, Cell]] = []
        for alias, accuracies in found.items():
            rows += [
                {"judge": alias, "attack": attack, **each._asdict()}
                for attack, each in accuracies.items()
            ]
            mean = fmean(each.accuracy for each in accuracies.values())
            rows.append({"judge": alias, "attack": "mean over attacks", "accuracy": mean})
        published = published_table("paireval", self.source)
        return replace(could_not, tables=(table_of("robustness", _COLUMNS, rows), published))

    def _pairs(self, given: AnalysisInput) -> tuple[RobustnessPair, ...]:
        read = read_robustness_pairs(self.pairs or sets_folder(given.data))
        counted: Counter[str] = Counter()
        chosen = []
        for each in different(tuple(read)):
            counted[each.attack] += 1
            is_wanted = not self.attacks or each.attack in self.attacks
            if is_wanted and (self.limit is None or counted[each.attack] <= self.limit):
                chosen.append(each)
        if not chosen:
            of = ", ".join(self.attacks) or "two different replies"
            raise DataError(f"there is no pair of {of}")
        return tuple(chosen)
