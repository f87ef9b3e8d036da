"""Marks are where the data say, and any text and any data can be drawn."""

import math
import re
from xml.etree import ElementTree

import pytest

from recjury.errors import ConfigError
from recjury.tables import Figure, picture, svg
from recjury.tables.figure import (
    Axis,
    Box,
    FigurePanel,
    Label,
    Point,
    Series,
    Style,
    Tick,
    interval,
    rows,
    style,
)
from recjury.tables.radar import radar


class Drawing:
    """A figure's SVG, read."""

    def __init__(
        self, *panels: FigurePanel, width: float = 432, columns: int | None = None
    ) -> None:
        self.source = svg(Figure(title="drawn", panels=panels, width=width, columns=columns))
        self.root = ElementTree.fromstring(self.source)

    def all(self, kind: str) -> list[dict[str, str]]:
        return [node.attrib for node in self.root.iter(f"{{http://www.w3.org/2000/svg}}{kind}")]

    def numbers(self, kind: str, *names: str) -> list[tuple[float, ...]]:
        return [tuple(float(node[name]) for name in names) for node in self.all(kind)]

    def places(self, kind: str) -> list[list[tuple[float, ...]]]:
        pairs = [node["points"].split() for node in self.all(kind)]
        return [[tuple(map(float, pair.split(","))) for pair in several] for several in pairs]

    def texts(self) -> dict[str, tuple[float, float]]:
        nodes = self.root.iter("{http://www.w3.org/2000/svg}text")
        return {"".join(n.itertext()): (float(n.get("x", 0)), float(n.get("y", 0))) for n in nodes}


def _series(*heights: float | None, **look: object) -> Series:
    points = tuple(Point(place, height) for place, height in enumerate(heights))
    return Series(points, style=Style(**look))  # type: ignore[arg-type]


def test_points_lie_between_their_ticks() -> None:
    axis = Axis(low=0, high=10, ticks=(Tick(0, "left"), Tick(10, "right")))
    upright = Axis(low=0, high=100, ticks=())
    points = (Point(0, 0), Point(5, 50), Point(10, 100))
    drawn = Drawing(FigurePanel(marks=(Series(points),), x=axis, y=upright))
    (x0, y0), (x1, y1), (x2, y2) = drawn.numbers("circle", "cx", "cy")
    assert x0 == drawn.texts()["left"][0]
    assert x2 == drawn.texts()["right"][0]
    assert x1 == pytest.approx((x0 + x2) / 2, abs=0.02)
    assert y1 == pytest.approx((y0 + y2) / 2, abs=0.02)
    assert y0 > y2, "larger values are higher"


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 1, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        (-3, 103, ["0", "20", "40", "60", "80", "100"]),
        (1e-7, 9e-7, [f"{tenths}e-07" for tenths in range(1, 10)]),
    ],
)
def test_ticks_are_round_numbers(low: float, high: float, ticks: list[str]) -> None:
    hidden = Axis(low=0, high=1, ticks=())
    drawn = Drawing(FigurePanel(marks=(), x=Axis(low=low, high=high), y=hidden))
    assert [text for text in drawn.texts() if text] == ticks


def test_a_line_is_broken_where_a_value_is_missing() -> None:
    drawn = Drawing(FigurePanel(marks=(_series(1, 2, None, 3, 4, math.nan, 5),)))
    lines = [line for line in drawn.all("polyline") if line["stroke"] != "currentColor"]
    assert len(lines) == 2, "the last point has no neighbour"
    assert len(drawn.all("circle")) == 5


def test_a_band_goes_from_the_lower_bounds_to_the_upper() -> None:
    points = (Point(0, 2, 1, 3), Point(1, 2), Point(2, 3, 2, 4))
    y = Axis(low=0, high=4, ticks=(Tick(0, "zero"), Tick(4, "four")))
    drawn = Drawing(FigurePanel(marks=(Series(points),), y=y))
    zero, four = (drawn.texts()[name][1] - 0.35 * 9 for name in ("zero", "four"))
    (band,) = drawn.places("polygon")
    values = [4 * (zero - height) / (zero - four) for _, height in band]
    assert values == pytest.approx([3, 4, 2, 1], abs=0.01)


def test_rows_run_down_and_bars_begin_at_zero() -> None:
    bars = [
        Box(left=0, right=value, low=row + 0.4, high=row - 0.4, color="#0072B2")
        for row, value in enumerate([0.5, 1.0, 0.0])
    ]
    x, names = Axis(low=0, high=1), rows(["first", "second", "third"])
    drawn = Drawing(FigurePanel(marks=tuple(bars), x=x, y=names))
    boxes = drawn.numbers("rect", "x", "y", "width", "height")
    assert [box[2] for box in boxes] == pytest.approx([boxes[1][2] / 2, boxes[1][2], 0], abs=0.02)
    assert len({box[0] for box in boxes}) == 1
    for box, name in zip(boxes, ("first", "second", "third"), strict=True):
        assert box[1] < drawn.texts()[name][1] < box[1] + box[3], "a bar is beside its name"


def test_an_interval_has_both_ends_or_none() -> None:
    line, point = interval(0, 2, 1, 4)
    assert [p.x for p in line.points] == [1, 4]
    assert [p.x for p in point.points] == [2]
    assert len(interval(0, 2, None, None)) == 1


def test_a_radar_goes_around_and_keeps_its_scale() -> None:
    panel = radar({"": [1, 1, 1, 1], "b": [0.5, None, 0.5, 0.5]}, list("nwse"), top=1)
    drawn = Drawing(panel)
    circles = drawn.numbers("circle", "cx", "cy")[1:]  # without the legend's
    centre = (circles[0][0] + circles[2][0]) / 2, (circles[1][1] + circles[3][1]) / 2
    reach = [math.dist(circle, centre) for circle in circles]
    assert reach[:5] == pytest.approx([reach[0]] * 5, abs=0.05)
    assert reach[5:] == pytest.approx([reach[0] / 2] * 4, abs=0.05)


@pytest.mark.parametrize(
    "marks",
    [
        (),
        (_series(),),
        (_series(3.0),),
        (_series(None),),
        (_series(math.nan, math.inf),),
        (_series(2.0, 2.0), _series(1e300)),
        (Label(x=0, y=0, text="alone"),),
    ],
)
def test_little_data_is_drawn_too(marks: tuple[Series, ...]) -> None:
    for y in (Axis(), rows([]), rows(["one"])):
        source = Drawing(FigurePanel(marks=marks, y=y)).source
        assert not re.search(r'"[^"]*\b(nan|inf)\b', source)


@pytest.mark.parametrize(
    "name",
    [
        "a <b> & \"c\" 'd'",
        "$x_1$ 100 %",
        "推薦システム",
        "نظام التوصية",
        "🎬🍿",
        "\x1b[31mred\x00",
        "\ud800",
    ],
)
def test_names_in_any_script_stay_text(name: str) -> None:
    drawn = Drawing(FigurePanel(marks=(Series((Point(0, 0),), name),), y=rows([name]), title=name))
    assert sum(1 for text in drawn.texts() if text) >= 1
    drawn.source.encode()
    if name.isprintable():
        assert name in drawn.texts()


def test_long_names_are_cut_to_their_room() -> None:
    drawn = Drawing(FigurePanel(marks=(Series((Point(0, 0),), "x" * 500),), y=rows(["系" * 300])))
    assert all(len(text) < 100 for text in drawn.texts())
    assert sum(text.endswith("…") for text in drawn.texts()) == 2
    assert float(drawn.root.attrib["width"].removesuffix("pt")) == 432


def test_the_legend_wraps_and_names_each_mark_once() -> None:
    marks = tuple(Series((Point(0, n),), f"system number {n % 12}", style(n)) for n in range(24))
    drawn = Drawing(FigurePanel(marks=marks), FigurePanel(marks=marks))
    heights = [y for text, (_, y) in drawn.texts().items() if text.startswith("system")]
    assert len(heights) == 12
    assert len(set(heights)) > 1
    assert len({(look.color, look.marker) for look in map(style, range(30))}) == 30


def test_panels_are_set_in_rows() -> None:
    panels = [FigurePanel(marks=(_series(1),), title=f"p{number}") for number in range(5)]
    titles = Drawing(*panels, columns=2).texts()
    assert titles["p0"][1] == titles["p1"][1] < titles["p2"][1] < titles["p4"][1]
    assert titles["p0"][0] == titles["p2"][0] < titles["p1"][0]


def _figure() -> Figure:
    return Figure(title="drawn", panels=(FigurePanel(marks=(_series(1, 2, 3),)),))


def test_equal_figures_are_equal_to_the_byte() -> None:
    assert picture(_figure()) == picture(_figure())
    assert ElementTree.fromstring(picture(_figure())).get("aria-label") == "drawn"
    with pytest.raises(ConfigError, match=r"\.svg, \.png, \.pdf"):
        picture(_figure(), ".gif")


@pytest.mark.parametrize(("ending", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_other_pictures_need_the_extra(
    monkeypatch: pytest.MonkeyPatch, ending: str, start: bytes
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("recjury.tables.pictures.find_spec", lambda name: None)
        with pytest.raises(ConfigError, match=r"recjury\[plots\]"):
            picture(_figure(), ending)
    pytest.importorskip("vl_convert", reason="the extra `plots` is not installed")
    assert picture(_figure(), ending).startswith(start)
