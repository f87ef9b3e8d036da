"""FACE's table 5: how far the raters of AB-ReDial agree with each other."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import ClassVar

from recjury.corpora.ab_redial import AbRedial, read_ab_redial
from recjury.papers.published import in_one_cell, published
from recjury.records import Aspect, Level
from recjury.stats.agreement import krippendorff_alpha
from recjury.stats.correlation import correlate
from recjury.tables import Analysis, AnalysisInput, Cell, Column, Findings, Input, table_of

RATERS = 3  # of a unit, the first ones: a fourth rated only some
_ID = "."  # what separates a ConvId from the number of its dialogue

Ratings = Sequence[Sequence[float]]
"""The ratings of each unit, in the order of the file."""

_COLUMNS = (
    Column("aspect"),
    Column("units"),
    *(Column(name, label, 3) for name, label in (("pearson", "r"), ("spearman", "rho"))),
    Column("alpha", "interval alpha", 3),
    Column("ordinal_alpha", "ordinal alpha", 3),
    Column("published", "published: r; rho; alpha"),
    Column("crsarena", "CRSArena-Eval, published"),
)


class FaceTable5(Analysis):
    """How far people agree with each other on AB-ReDial, beside the published figures.

    r and rho are means over the pairs of the first three ratings of a unit. As in the paper, the
    ratings of one ConvId are one dialogue's, although five of them name two. CRSArena-Eval's
    figures are the published ones: its single ratings were not released.
    """

    source: ClassVar[str] = "FACE, table 5"
    needs: ClassVar[tuple[Input, ...]] = (Input.DATA,)

    async def run(self, given: AnalysisInput) -> Findings:
        """A row for each aspect. Raises DataError without `ab-redial`."""
        assert given.data is not None  # it needs data
        people = read_ab_redial(given.data / "ab-redial")
        theirs = published("face")["table5"]
        rows = [
            {**_cells(aspect, units), **_published(theirs, aspect)}
            for aspect, units in rating_units(people)
        ]
        return Findings(tables=(table_of("table5", _COLUMNS, rows),))


def rating_units(people: AbRedial) -> Iterator[tuple[Aspect, Ratings]]:
    """By aspect, the first ratings of each rated turn, or of each ConvId."""
    for aspect in Aspect:
        rated = people.turns if aspect.level is Level.TURN else people.dialogues
        units: dict[str, list[float]] = {}
        for each in rated:
            name = each.id if aspect.level is Level.TURN else each.id.partition(_ID)[0]
            units.setdefault(name, []).extend(map(float, each.ratings[aspect]))
        yield aspect, [ratings[:RATERS] for ratings in units.values()]


def _cells(aspect: Aspect, units: Ratings) -> dict[str, Cell]:
    pairs = [_pairs(units, *places) for places in combinations(range(RATERS), 2)]
    found = [correlate(*zip(*pair, strict=True)) for pair in pairs]
    return {
        "aspect": str(aspect),
        "units": len(units),
        "pearson": fmean(each.pearson or 0.0 for each in found),
        "spearman": fmean(each.spearman or 0.0 for each in found),
        "alpha": krippendorff_alpha(units, "interval"),
        "ordinal_alpha": krippendorff_alpha(units),
    }


def _pairs(units: Ratings, one: int, two: int) -> list[tuple[float, float]]:
    return [(unit[one], unit[two]) for unit in units if len(unit) > max(one, two)]


def _published(theirs: Mapping[str, Mapping[str, list[float]]], aspect: Aspect) -> dict[str, Cell]:
    columns = {"published": "ab-redial", "crsarena": "crsarena-eval"}
    return {column: in_one_cell(theirs[name][aspect]) for column, name in columns.items()}
