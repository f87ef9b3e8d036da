"""Coefficients as columns of a table."""

from recjury.agreement.agreement import Coefficients
from recjury.tables import Cell, Column

COEFFICIENTS = (
    Column("pearson", "r", 3),
    Column("spearman", "rho", 3),
    Column("kendall", "tau", 3),
    Column("within_pearson", "r within systems", 3),
    Column("within_spearman", digits=3, detail=True),
    Column("n"),
    Column("coverage", "coverage", 0, "%"),
)


def coefficient_cells(found: Coefficients | None) -> dict[str, Cell]:
    """The cells of `COEFFICIENTS`."""
    if found is None or found.estimates is None:
        return {"n": 0, "coverage": None if found is None else found.coverage}
    return {**found.estimates._asdict(), "coverage": found.coverage}
