"""What a page shows of agreement with people: texts and figures, made by who has the labels."""

from typing import NamedTuple


class AgreementRow(NamedTuple):
    """A metric, or a predictor that reads nothing, and how far it agrees with people."""

    name: str
    is_metric: bool
    pearson: str
    spearman: str
    within_systems: str
    n: int
    coverage: str


class AspectTable(NamedTuple):
    """One aspect of one subset of the labels; `ceiling` says how far people agree, or is empty.

    `figures` are SVG elements, whose texts are escaped.
    """

    subset: str
    aspect: str
    rows: tuple[AgreementRow, ...]
    ceiling: str
    figures: tuple[str, ...]


class PeopleSection(NamedTuple):
    """All tables, the labels' source, and what could not be compared, in lines."""

    labels: str
    tables: tuple[AspectTable, ...]
    unmatched: tuple[str, ...]
