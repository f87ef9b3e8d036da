"""Dialogue quality without examples, by model (Jia et al., 2024, table 1, on USS)."""

from collections.abc import Iterable
from typing import ClassVar

from pydantic import Field

from recjury.campaign.model_work import check_aliases, config_of, do_with_models
from recjury.judges.dialogue_quality.evaluator import QualityEvaluator
from recjury.papers.published import published
from recjury.papers.quality.table3 import QualityTable3, findings_of
from recjury.papers.quality.uss_table import QualityTable
from recjury.plugins import Names
from recjury.records import Estimate, ExpectedCalls
from recjury.tables import AnalysisInput, Cell, Column, Findings, table_of

_COLUMNS = (
    Column("data"),
    Column("model"),
    Column("n"),
    Column("spearman", "rho"),
    Column("pearson", "r"),
)
_TEXT = "the paper's own, which are not public"


class QualityTable1(QualityTable3):
    """How well models of different sizes rate dialogues without examples, on a tenth of USS.

    Each model of the file, or of `models`, is asked for log-probabilities of the ratings. The
    paper's rows are of dialogues that are not public: they are no target for these.
    """

    source: ClassVar[str] = "Jia et al. (2024), table 1"
    calls: ClassVar[str] = "one for each model and dialogue"

    models: Names = Field((), description="only these models of the file, by alias")

    def plan(self, given: AnalysisInput) -> Iterable[ExpectedCalls]:
        """The calls of the models. Raises UserError."""
        return self._read(given).expected

    async def run(self, given: AnalysisInput) -> Findings:
        """A row for each model, and the published ones."""
        asked = self._read(given)
        rows = await do_with_models(asked.work, asked.config, given.store)
        found: list[dict[str, Cell]] = []
        for row in rows:
            own = row.found.figures
            cells: dict[str, Cell] = {"data": f"USS, {self.subset}", "model": row.evaluator}
            if own is not None:
                cells["n"] = own.n
                for name, value in (("spearman", own.spearman), ("pearson", own.pearson)):
                    cells[name] = Estimate(value, *row.found.intervals[name])
            found.append(cells)
        for model, (rho, r) in published("quality")["table1"].items():
            found.append({"data": _TEXT, "model": model, "spearman": rho, "pearson": r})
        return findings_of(rows, table_of("table1", _COLUMNS, found))

    def _read(self, given: AnalysisInput) -> QualityTable:
        config = config_of(given)
        aliases = self.models or tuple(config.all_models)
        check_aliases(config, aliases)
        entries = tuple(
            QualityEvaluator(name=alias, model=alias, level="dialogue") for alias in aliases
        )
        return self.read_table(given, config.model_copy(update={"evaluators": entries}))
