"""Dialogue quality by models beside people's ratings (Jia et al., 2024, tables 2 to 4)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from pydantic import Field

from recjury.campaign.config import EvaluationConfig
from recjury.campaign.model_work import config_of, do_with_models
from recjury.papers.published import published_table
from recjury.papers.quality.uss_table import QualityRow, QualityTable, read_quality_table
from recjury.plugins import Names
from recjury.records import Estimate, ExpectedCalls
from recjury.stats.satisfaction import ClassFigures
from recjury.tables import (
    Analysis,
    AnalysisInput,
    Cell,
    Column,
    Findings,
    Input,
    Table,
    table_of,
)

_PAPER = "Jia et al. (2024)"
_SHOWN = 5  # reasons that are named

_CLASSES = ("defect", "non_defect", "weighted", "macro")
_COLUMNS = (
    Column("evaluator"),
    Column("level"),
    Column("n"),
    Column("dialogues"),
    Column("spearman", "rho"),
    Column("pearson", "r"),
    Column("accuracy"),
    Column("defect_rate", detail=True),
    *(
        Column(f"{name}_{figure}", f"{name.replace('_', '-')} {short}")
        for name in _CLASSES
        for figure, short in (("precision", "P"), ("recall", "R"), ("f1", "F1"))
    ),
    Column("cut", detail=True),
    Column("left_out", detail=True),
)


class QualityTable3(Analysis):
    """How well models rate a tenth of USS, beside people's ratings.

    A row for each evaluator of the file: correlations, and precision, recall and F1 of defects
    (rated 3 or less) and of the others. Examples come from the other nine tenths.
    """

    source: ClassVar[str] = f"{_PAPER}, tables 2 to 4"
    needs: ClassVar[tuple[Input, ...]] = (Input.CONFIG, Input.DATA)
    calls: ClassVar[str] = "by the file's evaluators: one for each turn or dialogue, and run"

    subset: str = Field("ReDial", description="SGD, MWOZ, ReDial or CCPE")
    evaluators: Names = Field((), description="only these evaluators of the file")
    seed: int = Field(0, ge=0, description="of the split of the dialogues")
    limit: int | None = Field(None, ge=1, description="only so many of the tested dialogues")

    def plan(self, given: AnalysisInput) -> Iterable[ExpectedCalls]:
        """The calls of the file's evaluators. Raises UserError."""
        asked = self._read(given)
        _ = asked.work  # what is wrong with models and examples is said here, too
        return asked.expected

    async def run(self, given: AnalysisInput) -> Findings:
        """A row for each evaluator and level. Calls that the store has are not made again."""
        asked = self._read(given)
        rows = await do_with_models(asked.work, asked.config, given.store)
        own = table_of("table3", _COLUMNS, [_cells(row) for row in rows])
        papers = (published_table("quality", f"{_PAPER}, table {n}") for n in (2, 3, 4))
        return findings_of(rows, own, *papers)

    def _read(self, given: AnalysisInput) -> QualityTable:
        return self.read_table(given, config_of(given))

    def read_table(self, given: AnalysisInput, config: EvaluationConfig) -> QualityTable:
        """The table of the evaluators of `config`. Raises UserError."""
        assert given.data is not None  # it needs data
        return read_quality_table(
            config,
            given.data,
            self.subset,
            evaluators=self.evaluators,
            seed=self.seed,
            limit=self.limit,
            progress=given.progress,
        )


def _cells(row: QualityRow) -> dict[str, Cell]:
    found, figures = row.found, row.found.figures
    cells: dict[str, Cell] = {
        "evaluator": row.evaluator,
        "level": str(row.level),
        "dialogues": found.dialogues,
        "cut": found.cut,
        "left_out": found.left_out,
    }
    if figures is None:
        return cells
    cells |= {"n": figures.n, "accuracy": figures.accuracy, "defect_rate": figures.defect_rate}
    for name, value in (("spearman", figures.spearman), ("pearson", figures.pearson)):
        cells[name] = Estimate(value, *found.intervals[name])
    for name in _CLASSES:
        own: ClassFigures = getattr(figures, name)
        cells |= {f"{name}_{figure}": value for figure, value in own._asdict().items()}
    cells["weighted_f1"] = Estimate(figures.weighted.f1, *found.intervals["weighted_f1"])
    return cells


def findings_of(rows: Sequence[QualityRow], *tables: Table) -> Findings:
    """The tables, with what was cut or has no score, and how many calls failed by evaluator."""
    failed = {f"{row.evaluator}, {row.level}s": row.found.failed for row in rows}
    again = "calls failed: run the same command again"
    return Findings(
        tables=tables,
        notes=tuple(note for row in rows for note in _losses(row)),
        problems={f"{name}: {again}": count for name, count in failed.items() if count},
    )


def _losses(row: QualityRow) -> Iterator[str]:
    name, found = f"{row.evaluator}, {row.level}s", row.found
    if found.cut:
        yield (
            f"{name}: {found.left_out} of the oldest turns were left out in {found.cut} prompts, "
            "which were too long"
        )
    for reason, count in list(found.unscored.items())[:_SHOWN]:
        yield f"{name}: {count} without a score: {reason}"
