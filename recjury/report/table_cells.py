"""The report's tables as cells of text; templates only place them."""

import math
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

from recjury.records import Metric
from recjury.report.excerpt import one_line
from recjury.results import Comparison, Gap, Measure, Tally
from recjury.results.noise import NoiseFloor
from recjury.results.summary import largest_floor

_SIGNIFICANT = 0.05
NO_NOISE: Mapping[str, NoiseFloor] = MappingProxyType({})
"""The noise floors where nothing was repeated."""
NAME_LENGTH = 60
"""Characters of a system's name that are shown."""


class Cell(NamedTuple):
    """A mean as text, with its coverage below 100 % ("86 %", or "n = 6" if the metric does
    not apply to other conversations) and what was lost ("lost 14 %: 1.00 to 3.00"); `is_best` marks
    the best of a column, which its lost ratings cannot put behind another."""

    text: str
    coverage: str | None
    is_best: bool


class Row(NamedTuple):
    """A system's row of a table; `cells` are in the order of the columns."""

    system: str
    cells: tuple[Cell, ...]


class ScoreColumn(NamedTuple):
    """A metric; `starts` says that a group begins with it."""

    name: str
    scale: str
    starts: bool


class Heading(NamedTuple):
    """The heading over the columns of a group."""

    text: str
    columns: int


class Means(NamedTuple):
    """A row per system, a column per metric; `floors` has the noise floor of each column as text,
    and is empty if none is known."""

    groups: tuple[Heading, ...]
    columns: tuple[ScoreColumn, ...]
    rows: tuple[Row, ...]
    floors: tuple[str, ...] = ()


class GapCell(NamedTuple):
    """A difference as text: "+0.31", "[−0.10, 0.72]", ".012"."""

    measure: str
    difference: str
    interval: str
    p: str
    n: int
    is_significant: bool
    floor: str = "–"


class PairTable(NamedTuple):
    """Two systems compared: A minus B."""

    a: str
    b: str
    pairs: int
    is_paired: bool
    cells: Mapping[str, GapCell]


# Endings before which a long word may be broken.
_ENDINGS = re.compile(
    r"(?<=\w{4})(ability|iveness|ateness|ingness|edness|ness|ical|ation|standing)\b"
)


def hyphenated(name: str) -> str:
    """A title with soft hyphens where it may be broken in a narrow column."""
    return _ENDINGS.sub("\xad\\1", name)


def scale_text(metric: Metric) -> str:
    """A metric's scale: "0–4", or which end is better if one end is open."""
    if metric.high is not None:
        return f"{metric.low:g}–{metric.high:g}"
    return "higher is better" if metric.higher_is_better else "lower is better"


def means_table(
    systems: Mapping[str, Tally],
    measures: Sequence[Measure],
    noise: Mapping[str, NoiseFloor] = NO_NOISE,
) -> Means:
    """A row per system; the best of a column is marked if systems differ in it."""
    groups = tuple(
        Heading(one_line(group, NAME_LENGTH), len(list(several)))
        for group, several in groupby(measure.metric.group for measure in measures)
    )
    starts = {0}
    for heading in groups:
        starts.add(max(starts) + heading.columns)
    cells = [_column(list(systems.values()), each) for each in measures]
    return Means(
        groups,
        tuple(
            ScoreColumn(hyphenated(each.metric.title), scale_text(each.metric), place in starts)
            for place, each in enumerate(measures)
        ),
        tuple(
            Row(one_line(system, NAME_LENGTH), tuple(column[place] for column in cells))
            for place, system in enumerate(systems)
        ),
        _floors(systems, measures, noise),
    )


def _floors(
    systems: Mapping[str, Tally], measures: Sequence[Measure], noise: Mapping[str, NoiseFloor]
) -> tuple[str, ...]:
    found = [largest_floor(noise.get(each.id), each.id, systems) for each in measures]
    if all(floor is None for floor in found):
        return ()
    return tuple(
        _floor_text(floor, each.metric) for floor, each in zip(found, measures, strict=True)
    )


def _floor_text(floor: float | None, metric: Metric) -> str:
    return "–" if floor is None else f"±{floor:.{metric.digits}f}"


def _column(tallies: Sequence[Tally], measure: Measure) -> list[Cell]:
    means = [tally.summary(measure.id).mean for tally in tallies]
    known = {mean for mean in means if mean is not None}
    is_up, cells = measure.metric.higher_is_better, list[Cell]()
    for mean, tally in zip(means, tallies, strict=True):
        if mean is None:
            cells.append(Cell("–", None, False))
            continue
        others = known - {mean}
        is_best = bool(others) and mean == (max if is_up else min)(known)
        is_best &= not any(
            tally.may_be_behind(measure.id, each, higher_is_better=is_up) for each in others
        )
        text = f"{mean:.{measure.metric.digits}f}"
        cells.append(Cell(text, partly(tally, measure), is_best))
    return cells


def partly(tally: Tally, measure: Measure) -> str | None:
    """A coverage below 100 %, or how many have a score if not all can, and what was lost."""
    mean, worst = tally.summary(measure.id), tally.worst_case(measure.id)
    parts: list[str] = []
    if mean.coverage is not None and mean.coverage != 1:
        parts.append(f"n = {mean.n}" if measure.metric.of_some else coverage_text(mean.coverage))
    if worst is not None:
        parts.append(worst.text(measure.metric.digits))
    return ", ".join(parts) or None


def coverage_text(coverage: float) -> str:
    """A share in whole per cent; only all gives 100 %, and only none gives 0 %."""
    percent = coverage * 100
    if 0 < percent < 1:
        return "<1 %"
    return f"{math.floor(percent + 1e-9) if percent > 99 else round(percent)} %"


class SystemPair(NamedTuple):
    """The names of two systems, and their scores."""

    a: str
    b: str
    tallies: Mapping[str, Tally]


def pair_table(
    pair: SystemPair, comparison: Comparison, noise: Mapping[str, NoiseFloor] = NO_NOISE
) -> PairTable:
    """A comparison as text, without details."""
    both = {name: pair.tallies[name] for name in (pair.a, pair.b)}
    return PairTable(
        a=one_line(pair.a, NAME_LENGTH),
        b=one_line(pair.b, NAME_LENGTH),
        pairs=comparison.pairs,
        is_paired=comparison.is_paired,
        cells={
            measure: _gap(measure, gap, largest_floor(noise.get(measure), measure, both))
            for measure, gap in comparison.gaps.items()
            if not gap.metric.detail
        },
    )


def _gap(measure: str, gap: Gap, floor: float | None) -> GapCell:
    found, digits = gap.difference, gap.metric.digits
    known = found.low is not None and found.high is not None
    return GapCell(
        measure=f"{one_line(measure.rpartition('.')[0], NAME_LENGTH)}: {gap.metric.title}",
        difference="–" if found.difference is None else _signed(found.difference, digits),
        interval=f"[{_signed(found.low, digits)}, {_signed(found.high, digits)}]" if known else "–",
        p="tie" if found.is_tie and not gap.metric.detail else p_text(found.p),
        n=found.n,
        is_significant=found.p is not None and found.p < _SIGNIFICANT,
        floor=_floor_text(floor, gap.metric),
    )


def _signed(value: float | None, digits: int) -> str:
    assert value is not None
    text = f"{abs(value):.{digits}f}"
    if not text.strip("0."):
        return text
    return f"{'−' if value < 0 else '+'}{text}"


def p_text(p: float | None) -> str:
    """A p-value to three digits, never as 0 or below what resampling can resolve."""
    if p is None:
        return "–"
    return "<.001" if p < 0.001 else "1" if p > 0.9995 else f"{p:.3f}".removeprefix("0")
