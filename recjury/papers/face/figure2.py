"""FACE's figure 2: how people's labels are distributed, by aspect and system."""

from collections import Counter
from typing import ClassVar

from recjury.corpora.crsarena import CrsArena, read_crsarena, system_of
from recjury.papers.face.face_scores import label_file
from recjury.records import Aspect
from recjury.tables import Analysis, AnalysisInput, Cell, Column, Figure, Findings, Input, table_of
from recjury.tables.figure import PALETTE, Axis, Box, FigurePanel, rows

_HALF = 0.4  # of a bar's height; systems are 1 apart
_COLUMNS = (Column("aspect"), Column("system"), Column("label"), Column("n"), Column("share"))


class FaceFigure2(Analysis):
    """How often people gave each label, by aspect and system.

    The figure has a bar for each system, divided by the shares of its labels. The paper's figure
    has no numbers to compare with.
    """

    source: ClassVar[str] = "FACE, figure 2"
    needs: ClassVar[tuple[Input, ...]] = (Input.LABELS,)

    async def run(self, given: AnalysisInput) -> Findings:
        """A row for each aspect, system and label, and the figure."""
        counts = label_counts(read_crsarena(label_file(given)))
        found: list[dict[str, Cell]] = [
            {
                "aspect": str(aspect),
                "system": system,
                "label": label,
                "n": n,
                "share": n / own.total(),
            }
            for aspect, systems in counts.items()
            for system, own in systems.items()
            for label, n in sorted(own.items())
        ]
        figure = Figure(
            title="People's labels by aspect and system",
            panels=tuple(_panel(aspect, systems) for aspect, systems in counts.items()),
            width=720,
            columns=3,
        )
        return Findings(tables=(table_of("labels", _COLUMNS, found),), figures={"figure2": figure})


def label_counts(people: CrsArena) -> dict[Aspect, dict[str, Counter[int]]]:
    """How often each label was given, by aspect and system in alphabetical order."""
    found: dict[Aspect, dict[str, Counter[int]]] = {}
    for aspect in Aspect:
        systems: dict[str, Counter[int]] = {}
        for place, label in people.labels[aspect].items():
            systems.setdefault(system_of(place.conversation), Counter())[label] += 1
        found[aspect] = dict(sorted(systems.items()))
    return found


def _panel(aspect: Aspect, systems: dict[str, Counter[int]]) -> FigurePanel:
    boxes = []
    for row, own in enumerate(systems.values()):
        left = 0.0
        for label in range(aspect.high + 1):
            right = left + own[label] / own.total()
            boxes.append(
                Box(
                    left=left,
                    right=right,
                    low=row - _HALF,
                    high=row + _HALF,
                    color=PALETTE[label],
                    name=str(label),
                )
            )
            left = right
    x = Axis(label="share of the labels", low=0, high=1)
    return FigurePanel(marks=tuple(boxes), x=x, y=rows(list(systems)), title=str(aspect))
