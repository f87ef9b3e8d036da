"""The report's tables as cells of text; templates only place them."""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from recjury.records import OVERALL_SCALE, PERSUASIVENESS_SCALE
from recjury.report.comparison import Comparison
from recjury.report.excerpt import one_line
from recjury.report.scores import COMPARED, FACTORS, OVERALL
from recjury.report.summary import SystemSummary
from recjury.stats import Difference, Summary
from recjury.store import RECALL_AT

_SIGNIFICANT = 0.05
NAME_LENGTH = 60
"""Characters of a system's name that are shown."""


class Cell(NamedTuple):
    """A mean as text, with its coverage below 100 % ("86 %", or "n = 6" where other trials are
    not meant to have a score); `is_best` marks the highest of a column."""

    text: str
    coverage: str | None
    is_best: bool


class Row(NamedTuple):
    """A system's row of the main table; `cells` are in the order of `COLUMNS`."""

    system: str
    trials: int
    failed: int
    cells: tuple[Cell, ...]


class Column(NamedTuple):
    """What a column holds, and how many digits it is shown with.

    `of_some` tells that only some trials are meant to have it.
    """

    name: str
    scale: str
    digits: int
    of_some: bool = False


class GapCell(NamedTuple):
    """A difference as text: "+0.31", "[−0.10, 0.72]", ".012"."""

    measure: str
    difference: str
    interval: str
    p: str
    n: int
    is_significant: bool


class PairTable(NamedTuple):
    """Two systems compared: A minus B."""

    a: str
    b: str
    pairs: int
    is_paired: bool
    overall: GapCell
    cells: tuple[GapCell, ...]


_BREAKS = (
    "Recover|ability",
    "Pro|activeness",
    "Grammat|ical Correct|ness",
    "Natural|ness",
    "Appropri|ateness",
    "Effective|ness",
    "Explain|ability",
    "Ground|ness",
    "Persua|sive|ness",
)
_HYPHENATED = {word.replace("|", ""): word.replace("|", "\xad") for word in _BREAKS}


def hyphenated(name: str) -> str:
    """A measure's name with soft hyphens where it may be broken in a narrow column."""
    return _HYPHENATED.get(name, name)


COLUMNS = (
    Column("Overall", f"0–{OVERALL_SCALE[1]}", 1),
    *(Column(hyphenated(factor), "0–4", 2) for factor in FACTORS),
    *(Column(f"Recall @{k}", "0–1", 3) for k in RECALL_AT),
    Column(f"Recall @{RECALL_AT[-1]}, new targets", "0–1", 3, of_some=True),
    Column(hyphenated("Persuasiveness"), f"0–{PERSUASIVENESS_SCALE[1]}", 2),
)


def main_table(systems: Mapping[str, SystemSummary]) -> tuple[Row, ...]:
    """A row per system; the best of a column is marked where systems differ in it."""
    columns = [_summaries(summary) for summary in systems.values()]
    best = [_best(column) for column in zip(*columns, strict=True)]
    return tuple(
        Row(
            one_line(system, NAME_LENGTH),
            summary.trials,
            summary.failed,
            tuple(
                _cell(mean, column, top)
                for mean, column, top in zip(_summaries(summary), COLUMNS, best, strict=True)
            ),
        )
        for system, summary in systems.items()
    )


def _summaries(summary: SystemSummary) -> tuple[Summary, ...]:
    factors = (summary.factors[factor] for factor in FACTORS)
    recalls = (summary.recall[k] for k in RECALL_AT)
    new = summary.new_recall[RECALL_AT[-1]]
    return (summary.overall, *factors, *recalls, new, summary.persuasiveness)


def _best(column: Iterable[Summary]) -> float | None:
    means = [summary.mean for summary in column if summary.mean is not None]
    return max(means) if len(set(means)) > 1 else None


def _cell(mean: Summary, column: Column, best: float | None) -> Cell:
    if mean.mean is None:
        return Cell("–", None, False)
    coverage = None
    if mean.coverage < 1:
        coverage = f"n = {mean.scored}" if column.of_some else coverage_text(mean.coverage)
    return Cell(f"{mean.mean:.{column.digits}f}", coverage, mean.mean == best)


def coverage_text(coverage: float) -> str:
    """A share in whole per cent that rounds nothing missing to 100 %, and nothing there to 0 %."""
    percent = coverage * 100
    if 0 < percent < 1:
        return "<1 %"
    return f"{math.floor(percent + 1e-9) if percent > 99 else round(percent)} %"


def pair_table(a: str, b: str, comparison: Comparison) -> PairTable:
    """A comparison as text."""
    cells = tuple(_gap(name, comparison.measures[name]) for name in COMPARED)
    return PairTable(
        a=one_line(a, NAME_LENGTH),
        b=one_line(b, NAME_LENGTH),
        pairs=comparison.pairs,
        is_paired=comparison.is_paired,
        overall=cells[COMPARED.index(OVERALL)],
        cells=cells,
    )


def _gap(measure: str, gap: Difference) -> GapCell:
    digits = 1 if measure == OVERALL else 2
    known = gap.low is not None and gap.high is not None
    return GapCell(
        measure=measure,
        difference="–" if gap.difference is None else _signed(gap.difference, digits),
        interval=f"[{_signed(gap.low, digits)}, {_signed(gap.high, digits)}]" if known else "–",
        p=p_text(gap.p),
        n=gap.n,
        is_significant=gap.p is not None and gap.p < _SIGNIFICANT,
    )


def _signed(value: float | None, digits: int) -> str:
    assert value is not None
    text = f"{abs(value):.{digits}f}"
    if not text.strip("0."):
        return text
    return f"{'−' if value < 0 else '+'}{text}"


def p_text(p: float | None) -> str:
    """A p-value to three digits, never as 0 or below what resampling can tell."""
    if p is None:
        return "–"
    return "<.001" if p < 0.001 else "1" if p > 0.9995 else f"{p:.3f}".removeprefix("0")
