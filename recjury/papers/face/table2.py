"""FACE's table 2: whether the systems' mean scores are in the order of people's labels."""

from pathlib import Path
from statistics import fmean
from typing import ClassVar

from pydantic import Field

from recjury.corpora.crsarena import SUBSETS, subset_of, system_of
from recjury.papers.face.face_scores import FaceScores, face_scores
from recjury.records import Aspect, Level
from recjury.stats.score_table import ScoreRow, ScoreTable, SystemEstimates, correlate_systems
from recjury.tables import (
    Analysis,
    AnalysisInput,
    Cell,
    Column,
    Estimate,
    Findings,
    Input,
    table_of,
)

_ALL = "all"


class FaceTable2(Analysis):
    """Systems ranked by FACE and by people: correlations of their mean scores and labels.

    By subset, and over the systems of both; intervals are over conversations, which are drawn
    within each system.
    """

    source: ClassVar[str] = "FACE, table 2"
    needs: ClassVar[tuple[Input, ...]] = (Input.LABELS,)
    takes: ClassVar[tuple[Input, ...]] = (Input.CAMPAIGN,)

    runs: Path | None = Field(
        None, description="scores in place of a campaign: a folder of {aspect}.jsonl, or a run file"
    )
    resamples: int = Field(1_000, ge=2, description="behind the intervals")
    seed: int = Field(0, ge=0, description="of the resampling")

    async def run(self, given: AnalysisInput) -> Findings:
        """A row for each aspect, and for the means over turn, dialogue and all aspects."""
        found = face_scores(given, self.runs)
        rows: list[dict[str, Cell]] = []
        for subset in (_ALL, *SUBSETS):
            aspects = {
                aspect: estimates
                for aspect in Aspect
                if (estimates := self._estimates(found, aspect, subset)) is not None
            }
            rows += ({"subset": subset, **_cells(str(a), own)} for a, own in aspects.items())
            rows += ({"subset": subset, **row} for row in _means(aspects))
        columns = (
            Column("subset"),
            Column("aspect"),
            Column("pearson", "r", 3),
            Column("spearman", "rho", 3),
            Column("systems"),
        )
        return Findings(tables=(table_of("table2", columns, rows),))

    def _estimates(self, found: FaceScores, aspect: Aspect, subset: str) -> SystemEstimates | None:
        scores = found.scores.get(aspect, {})
        rows = [
            ScoreRow(name, str(aspect), scores[place], label, system_of(name), name)
            for place, label in found.people.labels.get(aspect, {}).items()
            for name in (place.conversation,)
            if place in scores and subset in (_ALL, subset_of(name))
        ]
        table = ScoreTable.of_rows(rows)
        return correlate_systems(table, resamples=self.resamples, seed=self.seed)


def _cells(name: str, found: SystemEstimates) -> dict[str, Cell]:
    return {
        "aspect": name,
        "pearson": Estimate(*found.pearson[:3]),
        "spearman": Estimate(*found.spearman[:3]),
        "systems": found.systems,
    }


def _means(aspects: dict[Aspect, SystemEstimates]) -> list[dict[str, Cell]]:
    levels = {
        "mean of turn aspects": [a for a in aspects if a.level is Level.TURN],
        "mean of dialogue aspects": [a for a in aspects if a.level is Level.DIALOGUE],
        "mean of all aspects": list(aspects),
    }
    return [
        {
            "aspect": name,
            "pearson": fmean(aspects[each].pearson.value or 0.0 for each in some),
            "spearman": fmean(aspects[each].spearman.value or 0.0 for each in some),
        }
        for name, some in levels.items()
        if some
    ]
