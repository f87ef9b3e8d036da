"""The plots of a report. Colour-blind readers can distinguish the colours, on light and dark."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from statistics import fmean
from textwrap import fill

from recjury.records import Role
from recjury.report.example_picks import share
from recjury.report.excerpt import one_line
from recjury.report.rounds import RoundMeans
from recjury.report.table_cells import hyphenated, partly
from recjury.results import Measure, Tally
from recjury.tables import Figure, svg
from recjury.tables.figure import (
    PALETTE,
    Axis,
    Box,
    FigurePanel,
    Label,
    Mark,
    Point,
    Series,
    Style,
    Tick,
    interval,
    rows,
)

_BLUE, _ORANGE, _GREEN, _PURPLE, _SKY, _VERMILION = PALETTE
_ROLES = {
    Role.COMMON_USER: Style(color=_BLUE),
    Role.DOMAIN_EXPERT: Style(color=_VERMILION, marker="square", dash="6 3"),
    Role.LINGUIST: Style(color=_GREEN, marker="triangle", dash="6 2 1 2"),
    Role.HCI_EXPERT: Style(color=_PURPLE, marker="diamond", dash="1.5 2"),
}
_BARS = (_BLUE, _SKY, _ORANGE, _GREEN, _PURPLE, _VERMILION)
_GAP = 0.22  # between groups of columns
_NAME = 26  # characters of a system's name
_PANELS = 3  # panels of debates in one row
_WIDTH, _COLUMN, _ROW = 432, 48, 34  # in points
_CIVIDIS = ("00224e", "123570", "3b496c", "575d6d", "707173",
            "8a8678", "a59c74", "c3b369", "e1cc55", "fee838")  # fmt: skip


def score_map(systems: Mapping[str, Tally], measures: Sequence[Measure]) -> str:
    """Systems by bounded measures as SVG: means as colours and numbers, with their coverage if it
    is below 100 %. Groups are divided by a gap."""
    groups = [measure.metric.group for measure in measures]
    places = [
        place + _GAP * sum(one != other for one, other in pairwise(groups[: place + 1]))
        for place in range(len(measures))
    ]
    marks = tuple(
        mark
        for row, tally in enumerate(systems.values())
        for place, measure in zip(places, measures, strict=True)
        for mark in _cell(place, row, measure, tally)
    )
    columns = Axis(
        low=-0.6,
        high=places[-1] + 0.6,
        ticks=tuple(map(Tick, places, map(_heading, measures))),
        groups=tuple(_groups(places, groups)),
        has_line=False,
        is_on_top=True,
    )
    return svg(
        Figure(
            title="Mean scores by system",
            panels=(FigurePanel(marks=marks, x=columns, y=_rows(systems)),),
            width=max(144 + _COLUMN * (places[-1] + 1), 288),
            height=_ROW * len(systems),
        )
    )


def _heading(measure: Measure) -> str:
    return hyphenated(measure.metric.title).replace(" ", "\n").replace("\xad", "-\n")


def _groups(places: Sequence[float], groups: Sequence[str]) -> Iterator[Tick]:
    for group, columns in groupby(zip(places, groups, strict=True), key=lambda pair: pair[1]):
        own = [place for place, _ in columns]
        yield Tick(fmean(own), fill(one_line(group, 60), 10 * len(own)))


def _cell(place: float, row: int, measure: Measure, tally: Tally) -> Iterator[Mark]:
    mean = tally.summary(measure.id)
    good = None if mean.mean is None else share(measure, mean.mean)
    color = None if good is None else _heat_color(good)
    yield Box(left=place - 0.48, right=place + 0.48, low=row + 0.46, high=row - 0.46, color=color)
    if mean.mean is None or good is None:
        yield Label(x=place, y=row, text="–", size=9)
        return
    ink = "#ffffff" if good < 0.5 else "#111111"
    number, coverage = f"{mean.mean:.{measure.metric.digits}f}", partly(tally, measure)
    yield Label(x=place, y=row, text=number, size=9.5, color=ink, dy=-4 if coverage else 0)
    if coverage:
        short = coverage.partition(":")[0]
        yield Label(x=place, y=row, text=short, size=7, color=ink, dy=8)


def _heat_color(share: float) -> str:
    """The colour of a share from 0 (dark blue) to 1 (light yellow), on the scale "cividis"."""
    place = share * (len(_CIVIDIS) - 1)
    low = min(int(place), len(_CIVIDIS) - 2)
    pairs = zip(bytes.fromhex(_CIVIDIS[low]), bytes.fromhex(_CIVIDIS[low + 1]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * (place - low)):02x}" for a, b in pairs)


def _rows(systems: Mapping[str, object]) -> Axis:
    return rows([one_line(name, _NAME) for name in systems])


def interval_plot(systems: Mapping[str, Tally], measure: Measure) -> str:
    """A bounded measure's means with their 95 % intervals as SVG; a system without any has an
    empty row."""
    metric, title = measure.metric, one_line(measure.metric.title, 60)
    assert metric.high is not None
    low, high = metric.low, metric.high
    marks = tuple(
        mark
        for row, tally in enumerate(systems.values())
        for mark in _interval_row(row, tally, measure)
    )
    margin, label = (high - low) / 100, f"{title}, {low:g} to {high:g}"
    scale = Axis(low=low - margin, high=high + margin, label=label, has_grid=True)
    return svg(
        Figure(
            title=f"{title} with 95 % intervals",
            panels=(FigurePanel(marks=marks, x=scale, y=_rows(systems)),),
            width=_WIDTH,
            height=30 * len(systems),
        )
    )


def _interval_row(row: int, tally: Tally, measure: Measure) -> Iterator[Mark]:
    mean, bounds = tally.summary(measure.id).mean, tally.interval(measure.id)
    if mean is None:
        yield Label(x=measure.metric.low, y=row, text="none could be scored", anchor="start")
        return
    yield from interval(row, mean, *(bounds or (None, None)))
    yield Label(x=mean, y=row, text=f"{mean:.{measure.metric.digits}f}", dy=-10)


def bars_plot(systems: Mapping[str, Tally], measures: Sequence[Measure]) -> str:
    """Measures from 0 to 1 as SVG: a group of bars per system."""
    shown = measures[: len(_BARS)]
    middle, step = (len(shown) - 1) / 2, 0.81 / len(shown)
    marks = tuple(
        mark
        for row, tally in enumerate(systems.values())
        for place, measure in enumerate(shown)
        for mark in _bar(row + step * (place - middle), step, _BARS[place], measure, tally)
    )
    ticks = tuple(Tick(tenths / 10, f"{tenths / 10:.1f}") for tenths in range(0, 11, 2))
    scale = Axis(low=0, high=1.2, ticks=ticks, label="mean, 0 to 1", has_grid=True)
    return svg(
        Figure(
            title="Means from 0 to 1 by system",
            panels=(FigurePanel(marks=marks, x=scale, y=_rows(systems)),),
            width=_WIDTH,
            height=14.4 * len(shown) * len(systems),
        )
    )


def _bar(y: float, step: float, color: str, measure: Measure, tally: Tally) -> Iterator[Mark]:
    mean = tally.summary(measure.id)
    value, half = mean.mean or 0.0, 0.45 * step
    name = one_line(measure.metric.title, _NAME)
    yield Box(left=0, right=value, low=y + half, high=y - half, color=color, name=name)
    text = "–" if mean.mean is None else f"{mean.mean:.2f}"
    coverage = partly(tally, measure)
    if mean.mean is not None and coverage:
        text += f" ({coverage})"
    yield Label(x=value, y=y, text=text, anchor="start", size=7.5, dx=4)


def debate_plot(systems: Mapping[str, RoundMeans]) -> str:
    """Each role's mean score after every round as SVG, a panel per system.

    A debate that has ended counts in later rounds with its last scores, so a line moves only
    because a role changed its score.
    """
    columns = min(_PANELS, max(1, len(systems)))
    panels = tuple(_debate_panel(name, means) for name, means in systems.items())
    return svg(
        Figure(
            title="Debate scores by round",
            panels=panels,
            width=max(245 * columns + 20, 400),
            height=120,
            columns=columns,
        )
    )


def _debate_panel(name: str, means: RoundMeans) -> FigurePanel:
    rounds = range(1, len(means.debating) + 1)
    return FigurePanel(
        title=one_line(name, _NAME),
        marks=tuple(
            Series(tuple(map(Point, rounds, means.scores[role])), role, look)
            for role, look in _ROLES.items()
        ),
        x=Axis(
            label="round, and debates that held it",
            low=0.7,
            high=len(means.debating) + 0.3,
            ticks=tuple(
                Tick(number, f"{number}\nn = {held}")
                for number, held in zip(rounds, means.debating, strict=True)
            ),
        ),
        y=Axis(label="mean score, 0 to 100", low=-3, high=103, has_grid=True),
    )
